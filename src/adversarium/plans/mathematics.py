"""Convert LaTeX between dollar signs to plain text, for terminals, JSON and tables."""

import re
import unicodedata

_LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε",
    "zeta": "ζ", "eta": "η", "theta": "θ", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν",
    "xi": "ξ", "pi": "π", "rho": "ρ", "varrho": "ϱ", "sigma": "σ", "tau": "τ", "phi": "φ",
    "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ",
    "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π", "Phi": "Φ", "Psi": "Ψ", "Sigma": "Σ", "Omega": "Ω",
    "nabla": "∇", "partial": "∂", "ell": "ℓ", "sum": "Σ", "prod": "Π", "int": "∫", "langle": "⟨",
    "lceil": "⌈", "lfloor": "⌊", "forall": "∀",
}  # fmt: skip
_SIGNS = {
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "sim": "∼",
    "propto": "∝", "ll": "≪", "gg": "≫", "lesssim": "≲", "gtrsim": "≳", "in": "∈", "notin": "∉",
    "subset": "⊂", "cap": "∩", "cup": "∪", "to": "→", "leftarrow": "←", "mapsto": "↦", "pm": "±",
    "cdot": "·", "times": "×", "circ": "∘", "exists": "∃", "ldots": "…", "cdots": "⋯",
    "perp": "⊥", "setminus": "∖", "infty": "∞", "quad": " ", "star": "*", "ast": "*", "top": "ᵀ",
}  # fmt: skip
_CLOSING = {"rangle": "⟩", "rceil": "⌉", "rfloor": "⌋"}
_ACCENTS = {"tilde": "\u0303", "hat": "\u0302", "bar": "\u0304", "dot": "\u0307"}
_FRACTIONS = {"12": "½", "14": "¼", "34": "¾", "23": "⅔"}
_UP = str.maketrans("0123456789+-n", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ")
_DOWN = str.maketrans("0123456789+-", "₀₁₂₃₄₅₆₇₈₉₊₋")
_GROUP = r"\{((?:[^{}]|\{[^{}]*\})*)\}"  # braces, and braces inside them


def plain_text(text: str) -> str:
    """Return a text with its LaTeX mathematics between dollars as plain text.

    >>> plain_text(r"at least $\\tfrac12\\hat{f}_{\\mathrm{adv}}(x)^{-2} \\le \\sqrt{d/n}$")
    'at least ½f̂_adv(x)⁻² ≤ √(d/n)'
    """
    return re.sub(r"\$([^$]*)\$", lambda math: _plain(math[1]), text)


def _plain(tex: str) -> str:
    tex = re.sub(r"\\tfrac(12|14|34|23)", lambda m: _FRACTIONS[m[1]], tex)
    tex = re.sub(rf"\\({'|'.join(_LETTERS)})(?![A-Za-z])(?: (?=[A-Za-z]))?", _letter, tex)
    tex = re.sub(rf"( |^)?\\({'|'.join(_SIGNS)})(?![A-Za-z])( ?)", _sign, tex)
    tex = re.sub(rf"\\frac{_GROUP}{_GROUP}", r"\1/\2", tex)
    tex = re.sub(rf"\\(?:mathrm|mathcal|mathbb|text){_GROUP}", r"\1", tex)
    tex = re.sub(rf"\\sqrt{_GROUP}", lambda m: f"√{_bracketed(_plain(m[1]))}", tex)
    tex = re.sub(rf"\\({'|'.join(_ACCENTS)})(?:{_GROUP}| ?(\w))", _accented, tex)
    tex = re.sub(r"\\([A-Za-z]+)", lambda m: _CLOSING.get(m[1], m[1]), tex)
    tex = tex.replace(r"\|", "‖").replace(r"\,", " ")
    tex = re.sub(r"\\([{}%#])", r"\1", _scripts(tex).replace("-", "−"))
    return unicodedata.normalize("NFC", tex)


def _letter(found: re.Match[str]) -> str:
    return _LETTERS[found[1]]


def _sign(found: re.Match[str]) -> str:
    """Return a sign; the space after it remains if it begins the formula or follows a space."""
    before, name, after = found.groups()
    return f"{before or ''}{_SIGNS[name]}{after if before is not None else ''}"


def _accented(found: re.Match[str]) -> str:
    return _plain(found[2] or found[3]) + _ACCENTS[found[1]]


def _scripts(tex: str) -> str:
    """Return a text with its superscripts and subscripts, also nested ones, as plain text."""
    tex = re.sub(rf"\^(?:{_GROUP}|([0-9n*]))", lambda m: _raised(_scripts(m[1] or m[2])), tex)
    return re.sub(rf"_(?:{_GROUP}|([0-9]))", lambda m: _lowered(_scripts(m[1] or m[2])), tex)


def _raised(power: str) -> str:
    if re.fullmatch("[0-9+n-]+", power):
        return power.translate(_UP)
    return power if power in ("*", "ᵀ") else f"^{_bracketed(power)}"


def _lowered(index: str) -> str:
    if re.fullmatch("[0-9+-]+", index):
        return index.translate(_DOWN)
    return f"_{index}" if re.fullmatch(r"[^\W_]+|[*∞⊥]", index) else f"_{{{index}}}"


def _bracketed(text: str) -> str:
    """Return a text of several characters in brackets, unless it is already in brackets."""
    alone = len(text) == 1 or re.fullmatch(r"\((?:[^()]|\([^()]*\))*\)", text)
    return text if alone else f"({text})"
