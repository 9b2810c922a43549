"""The pictures of CONV's Theorem 5.1 and what follows from it."""

from adversarium.plans import Bars, Profile, Table, where

figures = (
    Profile(
        name="optima",
        title="Certified ends of the least robust loss in B(R)",
        y=("low", "high"),
        runs=(where("radii"), where("radii, ReLU")),
        names={"low": "lower end", "high": "upper end"},
        x_label="R",
        y_label="least L_* in B(R)",
        caption="Four arcs of a circle; the two-layer network and one hidden ReLU layer. Mean over "
        "seeds, band: smallest to largest.",
    ),
    Profile(
        name="gap",
        title="Theorem 5.1: the certified gap over ε, exact attack, α = 0.4",
        y=("gap/ε",),
        runs=(where("circle", A="exact", α=0.4),),
        names={"gap/ε": "(least L_A − least L_* in B(R))/ε"},
        x_label="R",
        y_label="gap/ε",
        caption="Four arcs of a circle, T = √m/(cα); the theorem allows 1. Below 0: L_A under the "
        "attack of training is lower than any L_* of B(R). Mean over seeds, band: smallest to "
        "largest.",
    ),
    Profile(
        name="promised",
        title="Theorem 5.1: what is promised of the least L_A, exact attack, α = 0.1",
        y=("promised",),
        runs=tuple(where("circle", A="exact", α=0.1, m=m) for m in (256, 1024, 4096, 16384)),
        names={"promised": "least L_* in B(R), upper end, + ε"},
        x_label="R",
        y_label="bound of the least L_A",
        caption="Four arcs of a circle. A larger ball has a smaller optimum and a larger ε: the "
        "best R grows with m. Mean over seeds, band: smallest to largest.",
    ),
    Table(
        name="varying",
        title="Theorem 5.1 is about the least L_A: the last one and the mean, m = 1024, α = 0.1",
        y=("least L_A", "last L_A", "mean L_A"),
        runs=(where("circle", m=1024, α=0.1),),
        names={"least L_A": "least L_A", "last L_A": "last L_A", "mean L_A": "mean of L_A over t"},
        caption="Of t = 0 … T under each attack; random, cycle and switch vary with t.",
    ),
    Profile(
        name="free",
        title="Remark 5.1: descent without projection against descent in a ball",
        y=("free − projected",),
        runs=(where("free", A="exact"),),
        names={"free − projected": "least L_A, free less projected"},
        x_label="radius of the ball over the length of the free path",
        y_label="difference of least L_A",
        caption="Exact attack; in balls as large as the path both are one descent. Mean over "
        "seeds, band: smallest to largest.",
    ),
    Bars(
        name="transfer",
        title="§7: what training against one attack leaves to another",
        y=("L_A", "L_*"),
        runs=(where("transfer", radius=0.2),),
        names={"L_A": "loss under the training attack", "L_*": "exact robust loss"},
        y_label="loss",
        caption="After 1,500 steps, α = 1; arcs of radius 0.2. Mean and 99 % interval over seeds.",
    ),
)
