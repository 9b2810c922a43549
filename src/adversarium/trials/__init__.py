"""Trials: functions of a random stream and parameters that return named numbers."""

from adversarium.trials.cells import Classifier, broken, broken_in_l2
from adversarium.trials.cluster_events import (
    flip_tails,
    init_events,
    large_variances,
    least_upper_mass,
    noise_tails,
    signal_tails,
    training_events,
)
from adversarium.trials.counting import SHATTERING, law_of_a_sample, sauer, shattering, vc_orders
from adversarium.trials.cubic import cubic_form, cubic_identities, signal_alone
from adversarium.trials.densities import density_powers
from adversarium.trials.explicit import (
    classifiers,
    closeness,
    memorising,
    ray,
    shattered_cells,
)
from adversarium.trials.feature_networks import explicit_networks, masking, separated_networks
from adversarium.trials.flatness import (
    constant_gaps,
    first_order,
    flatness_factors,
    flatness_gaps,
    taylor,
)
from adversarium.trials.gaussians import gaussian_maxima, gaussian_tails
from adversarium.trials.kernels import (
    harmonics,
    kernel_forms,
    lifted_gram,
    parities,
    parity_floor,
    trained_on_one_label,
    unreachable,
)
from adversarium.trials.kinks import kink_suprema, kinks_over_circle
from adversarium.trials.margins import cauchy, max_margin_directions, not_exact_share, tilted_errors
from adversarium.trials.modified import (
    best_threshold,
    certified_draws,
    generic_training,
    modified_training,
)
from adversarium.trials.overlaps import (
    RATIOS,
    halfspace_errors,
    least_errors,
    matched,
    oracle_error,
    shared_mass,
)
from adversarium.trials.parts import distances, gate_sizes, product_gate, square_gate
from adversarium.trials.planes import boundary, regions
from adversarium.trials.powers import power
from adversarium.trials.regret import one_step
from adversarium.trials.relu_norms import (
    back_products,
    deep_gradients,
    feature_drift,
    first_norm,
    moved_input,
    norm_events,
    norm_profile,
    spectral_norms,
)
from adversarium.trials.robust_balls import (
    placed_by_search,
    polynomial_class,
    shattered_by_classes,
    shattered_clusters,
    spread_curves,
    spread_limits,
    touching_edges,
)
from adversarium.trials.separated import separated_training
from adversarium.trials.sequences import growth_and_decay, tensor_power
from adversarium.trials.sizes import ball_counts, complexity_order, memorising_counts, shattered
from adversarium.trials.smooth import GRID, Features, ball, label_of, random_features, worst
from adversarium.trials.two_features import (
    activation_slope,
    feature_assumptions,
    feature_axes,
    impossibility,
    separation,
)
from adversarium.trials.two_layer import (
    gradient_quotients,
    gram_of_gradients,
    lipschitz_quotients,
    margin_tails,
    one_step_identities,
    slope_ratio,
    step_quotients,
    taylor_quotients,
)

__all__ = [
    "harmonics",
    "kernel_forms",
    "lifted_gram",
    "parities",
    "parity_floor",
    "trained_on_one_label",
    "unreachable",
    "kink_suprema",
    "kinks_over_circle",
    "back_products",
    "deep_gradients",
    "feature_drift",
    "first_norm",
    "moved_input",
    "norm_events",
    "norm_profile",
    "spectral_norms",
    "placed_by_search",
    "polynomial_class",
    "shattered_by_classes",
    "shattered_clusters",
    "spread_curves",
    "spread_limits",
    "touching_edges",
    "taylor_quotients",
    "step_quotients",
    "slope_ratio",
    "one_step_identities",
    "margin_tails",
    "lipschitz_quotients",
    "gram_of_gradients",
    "gradient_quotients",
    "training_events",
    "signal_tails",
    "noise_tails",
    "least_upper_mass",
    "large_variances",
    "init_events",
    "flip_tails",
    "GRID",
    "RATIOS",
    "SHATTERING",
    "Classifier",
    "Features",
    "activation_slope",
    "ball",
    "ball_counts",
    "best_threshold",
    "boundary",
    "broken",
    "broken_in_l2",
    "cauchy",
    "certified_draws",
    "classifiers",
    "closeness",
    "complexity_order",
    "constant_gaps",
    "cubic_form",
    "cubic_identities",
    "density_powers",
    "distances",
    "explicit_networks",
    "feature_assumptions",
    "feature_axes",
    "first_order",
    "flatness_factors",
    "flatness_gaps",
    "gate_sizes",
    "gaussian_maxima",
    "gaussian_tails",
    "generic_training",
    "growth_and_decay",
    "impossibility",
    "halfspace_errors",
    "label_of",
    "least_errors",
    "masking",
    "matched",
    "max_margin_directions",
    "law_of_a_sample",
    "memorising",
    "memorising_counts",
    "modified_training",
    "not_exact_share",
    "one_step",
    "oracle_error",
    "shared_mass",
    "power",
    "product_gate",
    "random_features",
    "ray",
    "regions",
    "sauer",
    "separated_networks",
    "separated_training",
    "shattered",
    "shattered_cells",
    "square_gate",
    "separation",
    "shattering",
    "signal_alone",
    "taylor",
    "tensor_power",
    "tilted_errors",
    "vc_orders",
    "worst",
]
