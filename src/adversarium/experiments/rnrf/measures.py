"""Numbers that several experiments of RNRF read off the same curves."""

import numpy as np

from adversarium.experiments.checks import measure

SCALES = ("log_d", "rho/alpha", "rho/beta", "plateau", "S")  # the components of probes.scales


def classes(rows, label, probe):
    """Times and the curves of all classes, (seed, t, class)."""
    run = rows[label]
    found: list[np.ndarray] = []
    while f"{probe}[{len(found)}]" in run.values or not found:
        t, values = run.curve(f"{probe}[{len(found)}]")
        found.append(values)
    return t, np.stack(found, axis=-1)


def scale(rows, label, name):
    """A number of the configuration itself (one of SCALES), one a seed."""
    return rows[label].last(f"scales[{SCALES.index(name)}]")


def first(t, reached):
    """The first time at which a condition (seed, t, …) is true; NaN if never."""
    return np.where(reached.any(1), t[reached.argmax(1)], np.nan)


def when(values, reached):
    """Values (seed, t, …) at the first time at which a condition is true; NaN if never."""
    at = np.take_along_axis(values, reached.argmax(1, keepdims=True), axis=1)[:, 0]
    return np.where(reached.any(1), at, np.nan)


def log_growth(t, values, above):
    """The exponent of e^F − e^{F(T)} in t − T, one a seed, T the first time with F ≥ `above` (one
    a seed): 1 where F grows like log t, whatever the time T at which it began; NaN without five."""
    found = []
    for F, level in zip(values, above, strict=True):
        late = np.flatnonzero(level <= F)
        if late.size < 6:
            found.append(np.nan)
            continue
        i = late[0]
        rise = np.exp(F[i + 1 :]) - np.exp(F[i])
        good = rise > 0
        found.append(np.polyfit(np.log(t[i + 1 :][good] - t[i]), np.log(rise[good]), 1)[0])
    return np.array(found)


def doubt_slope(F, log_doubt, above):
    """The slope of log(1 − π_y) against F_y where F_y ≥ `above` (one a seed); NaN without five."""
    fits = [
        np.polyfit(f[f >= low], g[f >= low], 1)[0] if (f >= low).sum() > 4 else np.nan
        for f, g, low in zip(F, log_doubt, above, strict=True)
    ]
    return np.array(fits)


def crossing(falls, below, of, classes=("",)):
    """The time at which the slope of one curve falls below another's, after its steepest growth;
    the mean over classes; NaN where it never does."""

    def times(rows):
        found = []
        for c in classes:
            t, falling = rows[of].curve(falls + c)
            _, rising = rows[of].curve(below + c)
            middle = (t[1:] + t[:-1]) / 2
            gap = np.diff(falling, axis=1) - np.diff(rising, axis=1)
            steepest = np.diff(falling, axis=1).argmax(1)[:, None]
            after = (np.arange(gap.shape[1]) > steepest) & (gap < 0)
            first = np.where(after.any(1), middle[after.argmax(1)], np.nan)
            found.append(first)
        return np.mean(found, axis=0)

    return times


def over_start(probe, label):
    """The largest value at any record time over the first."""

    def of(rows):
        values = rows[label].curve(probe)[1]
        return (values / values[:, :1]).max(1)

    return measure(f"{probe} over its start, largest ({label})", of)
