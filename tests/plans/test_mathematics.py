"""Symbols in TeX as plain text."""

import pytest

from adversarium.plans.mathematics import plain_text


@pytest.mark.parametrize(
    ("tex", "text"),
    (
        (r"$\alpha^3 U$ (signal)", "α³ U (signal)"),
        (r"$\langle w_r, v\rangle$", "⟨w_r, v⟩"),
        (r"$\|W\|_2 \leq 10^{-3}$", "‖W‖₂ ≤ 10⁻³"),
        (r"$V_{12}$ and $T_0$", "V₁₂ and T₀"),
        (r"$\mathrm{err}\,(f)$", "err (f)"),
        (r"$\frac{1}{2} P[Z]$", "1/2 P[Z]"),
        (r"$(\log t)^{1/3}$", "(log t)^(1/3)"),
        (r"$w_{i,r}^{(0)}$", "w_{i,r}^(0)"),
        (r"$\mathrm{span}\{u, v\}$", "span{u, v}"),
        ("risk of $5", "risk of $5"),
        (r"no mathematics \alpha", r"no mathematics \alpha"),
        ("", ""),
    ),
)
def test_mathematics_between_dollars_becomes_plain_text(tex, text):
    assert plain_text(tex) == text


def test_every_symbol_of_a_probe_has_a_plain_text():
    from adversarium.plans.names import paper_probes, public_names

    probes = {**public_names("measure"), **paper_probes()}
    symbols = [name.symbol for name in probes.values() if name.symbol]
    assert len(symbols) > 10
    for symbol in symbols:
        text = plain_text(symbol)
        assert text and not set("\\$") & set(text), (symbol, text)
