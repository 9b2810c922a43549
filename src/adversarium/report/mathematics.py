"""Symbols in TeX as plain text, for tables and terminals."""

import re

_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "eta": "η", "lambda": "λ", "mu": "μ", "xi": "ξ", "pi": "π", "rho": "ϱ", "varrho": "ϱ",
    "sigma": "σ", "phi": "φ", "psi": "ψ", "omega": "ω", "Sigma": "Σ", "sum": "Σ", "nabla": "∇",
    "langle": "⟨", "rangle": "⟩", "max": "max", "min": "min", "perp": "⊥", "ell": "l", "cdot": "·",
    "infty": "∞", "leq": "≤", "geq": "≥", "le": "≤", "ge": "≥", "ne": "≠", "neq": "≠", "in": "∈",
    "|": "‖", "log": "log", "mathrm": "", "mathcal": "", "tilde": "~", "hat": "^", "star": "*",
    "ast": "*", "times": "×", "to": "→", "exp": "exp", "sqrt": "√", "cos": "cos", "quad": " ",
}  # fmt: skip
_UP = str.maketrans("0123456789+-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ")
_DOWN = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")


def plain(text: str) -> str:
    """A text with its TeX mathematics between dollars as plain text.

    >>> plain(r"$\\alpha^3 U$ (signal)")
    'α³ U (signal)'
    """
    return re.sub(r"\$([^$]*)\$", lambda math: _plain(math[1]), text)


def _plain(tex: str) -> str:
    tex = re.sub(r"\\frac\{([^{}]*)\}\{([^{}]*)\}", r"\1/\2", tex)
    tex = re.sub(r"\\([A-Za-z]+|\|)", lambda m: _LETTERS.get(m[1], m[1]), tex).replace("⟨ ", "⟨")
    tex = re.sub(r"\^(?:\{([0-9+\-n]+)\}|([0-9n]))", lambda m: (m[1] or m[2]).translate(_UP), tex)
    tex = re.sub(r"_(?:\{([0-9+\-]+)\}|([0-9]))", lambda m: (m[1] or m[2]).translate(_DOWN), tex)
    tex = re.sub(r"\^\{([^{}()]{2,})\}", r"^(\1)", tex)
    return re.sub(r"(?<!\\)[{}]", "", tex).replace("\\,", " ").replace("\\", "").strip()
