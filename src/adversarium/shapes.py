"""Types of tensors with their shapes: those of jaxtyping if it is installed, else placeholders.

Only the tests check shapes; the package runs without jaxtyping.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jaxtyping import Bool, Float, Int, Real
else:
    try:
        from jaxtyping import Bool, Float, Int, Real
    except ImportError:

        class _Unchecked:
            def __class_getitem__(cls, item: tuple[object, str]) -> object:
                return item[0]

        Bool = Float = Int = Real = _Unchecked

__all__ = ["Bool", "Float", "Int", "Real"]
