"""The page of calibrated estimators is what the estimators return."""

import numpy as np
import pytest

from tests.calibration import laws, sizes
from tests.calibration.cases import fits_of
from tests.calibration.page import AMPLE, PAGE, grouped, laws_of, line, lines_of

CHEAP = (
    laws.signal_plateau, laws.signal_level, laws.gaussian_tail, laws.density_fluctuation,
    laws.counted, laws.rounded, laws.spectral_norms, laws.failure_exponent, laws.recorded_times,
    laws.log_levels, laws.loss_ratios, laws.loss_powers, laws.error_rates,
    pytest.param(laws.level_sets, marks=pytest.mark.slow),
)  # fmt: skip
ROWS = lines_of(PAGE.read_text(encoding="utf-8"))


@pytest.mark.parametrize("law", CHEAP, ids=lambda law: getattr(law, "__name__", None))
def test_the_page_states_the_bias_of_a_law(law):
    with np.errstate(all="ignore"):
        made = [line(row) for row in grouped(laws_of(law)) if row.ratio < AMPLE]
    assert not set(made) - set(ROWS)


@pytest.mark.parametrize("claim", ["cgro.lemC.9", "conv.eq10", "boat.lem4.1.span_distance"])
def test_a_power_along_sizes_has_no_bias_without_noise(claim):
    assert all(abs(sizes.exact(claim, fit)) < 1e-9 for fit in fits_of(claim))


def test_an_exponent_off_by_a_half_is_seen():
    from tests.calibration.cases import fitted, sizes_of

    (fit,) = fits_of("cgrm.complexity-order.memory")
    tasks = sizes_of("cgrm.complexity-order.memory", fit)
    slopes = fitted(fit, tasks, [np.full(5, x**1.5) for x in tasks])
    assert np.allclose(slopes - fit.claimed, 0.5)


def test_the_page_names_every_claim_with_a_power_along_sizes():
    text = "\n".join(ROWS)
    lost = [claim for claim in sizes.fitted_claims() if f"`{claim}`" not in text]
    assert not lost
