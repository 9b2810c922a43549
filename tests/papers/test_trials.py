"""Every trial returns named numbers, which are the same for the same stream."""

import inspect
import pkgutil
from importlib import import_module

import pytest

from adversarium.constructions import explicit
from adversarium.data import Gauss, MarginMixture, PatchData, TwoFeaturePatches
from adversarium.networks import LeakyReLU, QuadraticReLU, ReLU, SmoothedReLU, Softplus
from adversarium.plans.papers import papers
from adversarium.rng import stream, uniform
from adversarium.sockets import Along, Numbers

PATCHES, FEATURES = PatchData(d=6, P=2, alpha=2.0, sigma=0.3), TwoFeaturePatches(d=4, P=3)
MARGINS = MarginMixture(d=20, alpha=5.0, mu=0.3)
TOY = {
    "activation_slope": {},
    "certified_step": dict(activation=Softplus(), m=4, rho=0.5, tries=1, climbs=2),
    "curvature_pairs": dict(activation=Softplus(), m=4, d=2, tries=2),
    "gradient_formula": dict(activation=Softplus(), m=4, d=2),
    "gradient_lipschitz": dict(activation=Softplus(), m=4, d=2, tries=2),
    "gradient_sizes": dict(activation=QuadraticReLU(), m=2048, share=0.001, r=1.0),
    "loss_flags": dict(loss="square"),
    "open_arc": dict(activation=Softplus(), m=4, points=16),
    "built_networks": dict(activation=SmoothedReLU(b=2.0), eps=0.5, room=0.1),
    "feature_errors": dict(activation=SmoothedReLU(b=2.0), kind="near", M=4),
    "ridge_features": dict(d=2, eps=0.5),
    "scaled_target": dict(d=2, size=2.0),
    "uniform_errors": dict(M=4, d=2, places=20),
    "latent_radius": dict(activation=SmoothedReLU(b=2.0), k=2, d=4, n=2),
    "radii_needed": dict(activation=SmoothedReLU(b=2.0), d=3, n=2, eps=0.3),
    "widening": dict(
        activation=SmoothedReLU(b=2.0), teacher="linear", n=3, widths=(2, 4), steps=2, fresh=5
    ),
    "section_identities": dict(activation=SmoothedReLU(b=2.0), d=2),
    "descent_gap": dict(activation=Softplus(), rule="exact", m=8, alpha=0.8, radii=(0.5,)),
    "coarse_fit": dict(eps=0.5),
    "contraction": dict(tau=0.1),
    "least_integral": dict(d=3, steep=0.5),
    "loss_floor_in_ball": dict(d=60, eps=2.0),
    "one_letter": dict(b=1.0, M=4),
    "printed_sign": dict(m=16, R=0.5, eps=0.5),
    "printed_tail": dict(size=2.0, draws=20),
    "two_representers": dict(t=1.0),
    "wide_cap": dict(d=4, eps=1.0),
    "deep_paths": dict(m=8, H=2, steps=3),
    "held_deep_descent": dict(m=8, H=2, rule="exact", R=0.5, steps=3),
    "held_descent": dict(activation=Softplus(), rule="exact", m=8, alpha=0.8, R=0.5),
    "slacks_of_descent": dict(activation=Softplus(), rule="exact", m=8, alpha=0.8, R=0.5),
    "trained_parities": dict(activation=Softplus(), m=8, alpha=0.1, lifted=0.1, steps=3),
    "interpolant_norms": dict(activation=SmoothedReLU(b=2.0), e=0.3),
    "network_errors": dict(activation=SmoothedReLU(b=2.0), m=8, e=0.3),
    "depth_times": dict(m=16, H=2, R=1e-5),
    "free_and_projected": dict(activation=Softplus(), rule="exact", m=8, alpha=0.8, shares=(0.5,)),
    "hidden_converging": dict(rule="exact", m=64, R=0.5, eps=0.3, data="one arc"),
    "descent_until_exit": dict(activation=Softplus(), rule="exact", m=8, alpha=0.8, R=0.1),
    "orthogonal_times": dict(activation=Softplus(), rule="exact", K=2, m=8, alpha=0.5, eps=0.3),
    "proof_steps": dict(m=8, H=2, R=0.1),
    "radii_compared": dict(activation=Softplus(), m=8, radii=(0.5, 1.0)),
    "descent_to_eps": dict(activation=Softplus(), rule="exact", eps=0.5, R=0.5),
    "transfer_losses": dict(
        activation=Softplus(), rule="exact", m=8, alpha=0.5, steps=3, radius=0.2
    ),
    "level_kept": dict(m=4, alpha=1.0),
    "regret_of_descent": dict(activation=Softplus(), rule="random", m=4, alpha=0.4),
    "reversed_step": dict(activation=Softplus(), m=4, d=2, step=0.1),
    "spectral_not_frobenius": dict(m=4),
    "surrogate_jump": dict(activation=Softplus(), rule="fgsm", m=4, segments=1),
    "touching_caps": dict(d=2, radius=0.3),
    "vanishing_start": dict(activation=Softplus(), m=4, d=2),
    "within_sets": dict(activation=Softplus(), rule="random", m=4),
    "ball_counts": dict(n=2, D=3),
    "wide_window": dict(data=MARGINS, N=20, delta=1.0),
    "best_threshold": dict(data=MARGINS, N=20, delta=1.0, shares=(0.0, 0.5), steps=5),
    "boundary": dict(grid=31),
    "cauchy": dict(d=4, alpha=5.0, n=5),
    "certified_draws": dict(data=MARGINS, N=20, delta=1.0, b=10.0, draws=2),
    "classifiers": dict(D=3, memorised=1, looked=1),
    "closeness": dict(D=3, n=2),
    "complexity_order": dict(sizes=(4,)),
    "constant_gaps": dict(counts=(9, 27)),
    "cubic_form": dict(d=4, draws=2000),
    "cubic_identities": dict(data=PATCHES, n=3, m=2, gamma=0.5),
    "density_powers": dict(D=1, draws=40, repeats=1),
    "distances": {},
    "explicit_networks": dict(data=FEATURES, n=5, eps=1.2),
    "feature_assumptions": dict(data=FEATURES, eps=1.2),
    "feature_axes": dict(k=2, d=4),
    "first_order": dict(points=10),
    "flatness_factors": {},
    "flatness_gaps": dict(D=1, sets=2, fresh=10, sizes=(8, 16)),
    "gate_sizes": dict(s=2),
    "gaussian_maxima": dict(numbers=20_000),
    "gaussian_tails": dict(draws=10),
    "generic_training": dict(N=20, d=4, fresh=10),
    "growth_and_decay": dict(draws=1),
    "impossibility": dict(data=FEATURES, eps=1.2, n=5, nets=2),
    "law_of_a_sample": dict(D=3, n=20),
    "masking": dict(data=FEATURES, n=3, eps=1.2),
    "max_margin_directions": dict(d=4, alpha=5.0, counts=(2, 20)),
    "memorising": dict(D=3, n=8, looked=2),
    "memorising_counts": dict(norm="l2", gate="product", n=2, D=3),
    "modified_training": dict(data=MARGINS, N=20, delta=1.0, b=10.0, steps=5, fresh=3),
    "not_exact_share": dict(d=4, draws=3),
    "one_step": dict(m=4, b=2.0, draws=1),
    "product_gate": dict(s=2),
    "ray": dict(D=3, memorised=2),
    "regions": dict(nets=1),
    "sauer": dict(largest=10),
    "separated_networks": dict(eps=1.2, n=3),
    "separated_training": dict(N=5, d=4, draws=2, fresh=20),
    "shattered": dict(n=2, D=3, labellings=2),
    "shattered_cells": dict(D=3, labellings=1),
    "square_gate": dict(s=2),
    "separation": dict(data=FEATURES, eps=1.2, n=5),
    "shattering": {},
    "signal_alone": dict(d=1e6, m=4, eta=1.0, steps=20, draws=5),
    "taylor": dict(nets=1, points=5),
    "tensor_power": dict(eta=1e-2),
    "tilted_errors": dict(draws=100),
    "vc_orders": {},
    "flip_tails": dict(beta=0.1, counts=(20,)),
    "gradient_quotients": dict(activation=LeakyReLU(0.5), tries=1),
    "gram_of_gradients": dict(activation=LeakyReLU(0.5), gamma=0.5, tries=1),
    "halfspace_errors": dict(marginal=Gauss(), mu=2.0, ratio=0.1, beta=0.1, spread=2, draws=100),
    "init_events": dict(m=4, d=20, draws=2),
    "large_variances": dict(d=10, kappa=0.2, draws=3),
    "least_errors": dict(marginal=Gauss(), mu=2.0, beta=0.1, ratios=(0.1,), cells=10),
    "least_upper_mass": dict(c=2.0, points=201),
    "lipschitz_quotients": dict(activation=LeakyReLU(0.5), tries=1),
    "margin_tails": dict(marginal=Gauss(), activation=LeakyReLU(0.5), draws=100),
    "noise_tails": dict(d=4),
    "one_step_identities": dict(activation=LeakyReLU(0.5), gamma=1.0, tries=1),
    "oracle_error": dict(mu=2.0, ratio=0.1, beta=0.1, d=3, points=50),
    "shared_mass": dict(marginal=Gauss(), mu=2.0, ratio=0.1, spread=2, draws=100),
    "signal_tails": dict(n=20),
    "slope_ratio": {},
    "step_quotients": dict(gamma=0.5, H=1.0, tries=1),
    "taylor_quotients": dict(gamma=0.5, H=1.0, tries=1),
    "back_products": dict(m=8, H=2, draws=2),
    "product_tail": dict(m=8, H=2, draws=4),
    "deep_gradients": dict(m=8, H=2),
    "feature_drift": dict(m=8, H=2, tau=1e-6),
    "first_norm": dict(m=8),
    "harmonics": dict(activation=ReLU(), d=2, most=5),
    "kernel_forms": dict(activation=ReLU(), m=4, draws=5),
    "lifted_gram": dict(activation=ReLU(), n=4, d=2),
    "parities": dict(activation=ReLU()),
    "parity_floor": dict(m=4, d=2, tries=1),
    "trained_on_one_label": dict(m=4, steps=3),
    "unreachable": dict(activation=ReLU(), points=6),
    "kink_suprema": dict(m=64, R=0.1, delta=1.0),
    "kinks_over_circle": dict(m=64, R=0.1, angles=3),
    "moved_input": dict(m=8, d=2, H=2, share=0.25),
    "norm_events": dict(m=8, H=2, draws=10),
    "norm_profile": dict(m=8, H=2),
    "placed_by_search": dict(d=3, k=1, starts=1),
    "polynomial_class": dict(n=4, d=3, tries=2),
    "polynomial_fits": dict(n=4, sizes=(2,), labelings=2, pool=3),
    "shattered_by_classes": dict(n=2, d=2),
    "shattered_clusters": dict(d=3),
    "smallest_widths": dict(n=4, d=2, tries=2, steps=200),
    "spectral_norms": dict(m=8, H=2, share=0.5),
    "spread_curves": dict(most=4),
    "spread_limits": dict(most=4),
    "touching_edges": dict(most=4),
    "training_events": dict(n=5, d=100, m=4, mu=5.0, alpha=0.5, beta=0.1, C=2.0, draws=2),
}


HOMES = ("constructions", "measure", *(f"papers.{tag}.theory" for tag in papers()))


def _trials():
    """Return all public functions that return the numbers of a trial, by name."""
    found = {}
    for home in HOMES:
        package = import_module(f"adversarium.{home}")
        for module in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for name, thing in vars(import_module(module.name)).items():
                here = inspect.isfunction(thing) and thing.__module__ == module.name
                if here and name[0] != "_" and _returns_numbers(thing):
                    found[name] = thing
    return found


def _returns_numbers(function):
    signature = inspect.signature(function)
    first = next(iter(signature.parameters), "")
    return signature.return_annotation == Numbers and first == "rng"


TRIALS = _trials()


def test_every_trial_has_a_toy_size_or_an_example_that_runs():
    assert set(TOY) <= set(TRIALS)
    for name in set(TRIALS) - set(TOY):
        assert f"{name}(" in (TRIALS[name].__doc__ or "").partition(">>>")[2], name


def _at_a_random_point(f, x, y, delta, rng, directions=None):
    return y * f(x + delta * (2 * uniform(x.shape, rng) - 1)) <= 0


@pytest.fixture
def short_attacks(monkeypatch):
    """Shorten gradient ascent, which is slow; test_cells.py tests it."""
    for name in ("misclassified_in_linf", "misclassified_in_l2"):
        monkeypatch.setattr(explicit, name, _at_a_random_point)


@pytest.mark.usefixtures("short_attacks")
@pytest.mark.parametrize("name", TOY)
def test_a_trial_repeats_itself_for_the_same_stream(name):
    trial = TRIALS[name]
    one, two = (trial(stream(0, "trial"), **TOY[name]) for _ in range(2))
    assert repr(one) == repr(two)  # nan equals nan there
    assert one and all(isinstance(value, (int, float, Along)) for value in one.values())
