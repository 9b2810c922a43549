"""A user's own experiment as it was when stores had format 1. Its digest stands in format1.db: not
a letter of this file may change."""

import adversarium as av

quick = dict(kind="run", seeds=2)
checks: dict = {}


def twice_the_risk(state, scene):
    return 2 * state.risk()


def every_margin(state, scene):
    return state.margin(scene.train)


def shove(loss, batch, t, rng):
    return batch.x - 0.1 * batch.y[..., None]


def throw(rng, sides):
    return {"eyes": float(1 + rng.initial_seed() % sides), "sides": float(sides)}


def plan(kind):
    if kind == "trial":
        yield av.Trial(function=throw, parameters={"sides": 6}, version=3)
        return
    yield av.Run(
        data=av.data.Clusters(d=5, mu=2.0, beta=0.0),
        network=av.networks.TwoLayer(m=4),
        attack=shove,
        n=4,
        steps=6,
        eta=0.1,
        probes=(av.measure.risk, twice_the_risk, every_margin),
        final=(av.measure.Error(n=10),),
        folds=(av.measure.Worst(twice_the_risk), av.measure.Total(av.measure.risk)),
        record=3,
    )
