"""Figures of Figure 3 of RNRF."""

from adversarium.plans import Curves, Moment, Profile, Table

from .readings import ADV, STD, overtaking, stall

_features = {
    "robust_features": r"$\max_r \langle w_{i,r}, u_i\rangle$, robust",
    "nonrobust_features": r"$\max_r \langle w_{i,r}, v_i\rangle$, non-robust",
}
_errors = {
    "test_error": "clean",
    "replaced_error": "model-free attack (Thm 4.3)",
    "raw_error": "raw gradient, step 1e3",
    "strong_error": "strong attacks",
}
_radius = {
    "strong_by_radius": "strong attacks on the logit difference",
    "lowering_by_radius": r"sign-PGD on $-F_y$",
    "saturated_by_radius": "sign-PGD on cross-entropy (float32)",
    "raw_by_radius": r"raw gradient of $-F_y$, step 1e3",
    "unproven_by_radius": "proven (interval bound)",
}
_parts = {
    "length_A": r"$\|A\|$, robust",
    "length_B": r"$\|B\|$, non-robust",
    "length_C": r"$\|C\|$, foreign robust",
    "length_D": r"$\|D\|$, foreign non-robust",
    "length_off": r"$\|P_\perp W\|$, off the features",
}
_table = {
    "test_error": "clean test error",
    "robust_only_error": "robust features alone",
    "nonrobust_only_error": "non-robust features alone",
    "replaced_error": "model-free attack",
    "own_attack_error": "training attack",
    "suite_error": "full suite of strong attacks",
    "noise_correlation": "max |⟨w, ξ⟩|, entire noise",
    "noise_correlation_off": "max |⟨w, ξ⟩|, off the features",
}

figures = (
    Curves(
        name="features",
        title="Figure 3: what the filters learn",
        y=tuple(_features),
        runs=(STD, ADV),
        names=_features,
        x_label="iteration t",
        y_label="correlation",
        lines={"paper: near 150": 150},
        moments={
            "B stalls": Moment(ADV, stall.on(ADV)),
            "A overtakes B": Moment(ADV, overtaking.on(ADV)),
        },
        caption="Mean and range (band) over seeds. Standard training learns the "
        "non-robust features alone; under adversarial training their growth stops and the robust "
        "ones overtake them.",
    ),
    Curves(
        name="errors",
        title="Figure 3: test error by attack",
        y=tuple(_errors),
        runs=(STD, ADV),
        names=_errors,
        x_label="iteration t",
        y_label="error",
        caption="Mean and range (band) over seeds. Robustness rises only under the "
        "weak attacks; the strong ones fool the network on every point at every time.",
    ),
    Profile(
        name="radius",
        title="Accuracy at the end against the radius, by attack",
        y=tuple(_radius),
        runs=(STD, ADV),
        names=_radius,
        x_label="l∞ radius ε",
        y_label="accuracy",
        complement=True,
        between=("unproven_by_radius", "strong_by_radius"),
        steps={"no classifier above (α ≤ 2ε)": ((0.1, 1.0), (1.0, 0.5), (1.2, 0.5))},
        lines={"training": 1.2},
        caption="Mean and range (band) over seeds. The true accuracy lies in the "
        "shaded band. At small radii the adversarially trained network is the less robust one; "
        "the accuracy under weak attacks at ε = 1.2 is more than any classifier can have.",
    ),
    Curves(
        name="decomposition",
        title="w = P⊥w + A u + B v + Σ (C u + D v): norms of the parts",
        y=tuple(_parts),
        runs=(STD, ADV),
        names=_parts,
        x_label="iteration t",
        y_label="Frobenius norm over all filters",
        log_y=True,
        caption="Mean and range (band) over seeds. The part orthogonal to the features, which "
        "is not learnt, keeps the second largest norm; l∞ attacks can use it on every point.",
    ),
    Table(
        name="table",
        title="Errors at the end",
        y=tuple(_table),
        runs=(STD, ADV),
        names=_table,
        caption="Mean over seeds with its 99 % interval.",
    ),
)
