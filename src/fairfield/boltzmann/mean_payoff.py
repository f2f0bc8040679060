"""The temperature at which the law has a given mean payoff E_p[F].

E_p[F] rises from the mean of all worths to the largest as T falls, so there is one T for
each mean in between: the Lagrange multiplier of the law of largest entropy with that mean.
"""

from __future__ import annotations

import numpy as np

from fairfield.boltzmann.exact import Partition
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.boltzmann.temperature import banzhaf_scale
from fairfield.core.arrays import FloatArray

# Steps that look for T by sampling, and by how much T may fall below the game's scale.
STEPS, COLDEST = 40, 1e-3
# A step in log T is never longer.
LONGEST = 1.4


def temperature_of_mean(law: Partition, mean: float) -> FloatArray:
    """T of a table, exactly."""
    from scipy.optimize import brentq

    extension = law.extension
    uniform = float(extension.value(np.full(extension.players, 0.5)))
    top = float(extension.highest.reshape(extension.batch))
    if not uniform < mean < top:
        raise ValueError(
            f"no temperature gives a mean payoff of {mean:g}: it must lie between {uniform:g}, "
            f"the mean worth of all coalitions, and {top:g}, the largest worth"
        )

    def above(log_heat: float) -> float:
        temperature = np.asarray(np.exp(log_heat))
        return top + float(temperature * Partition(extension, temperature).mean_gap) - mean

    middle = np.log(top - uniform)
    hot, cold = middle, middle
    while above(hot) > 0:
        hot += 2.0
    while above(cold) < 0:
        cold -= 2.0
    return np.asarray(np.exp(brentq(above, cold, hot, xtol=1e-13)))


def sampled_temperature(law: SampledLaw, mean: float) -> FloatArray:
    """T by sampling, until E_p[F] is within its standard error of the mean.

    Newton's steps in log T, whose slope is -Var_p(F)/T, kept within what is known to be too
    hot and too cold; every step is a run of its own.
    """
    if law.extension is None:
        raise ValueError(f"{law.game!r} has neither a table nor a closed form; give temperature=")
    uniform = float(law.extension.value(np.full(law.extension.players, 0.5)))
    if not uniform < mean:
        raise ValueError(
            f"no temperature gives a mean payoff of {mean:g}: it must lie above {uniform:g}, the "
            "mean worth of all coalitions"
        )
    scale = float(banzhaf_scale(law.extension))
    hot, cold = np.inf, 0.0
    temperature = scale
    for _ in range(STEPS):
        tried = SampledLaw(law.game, law.extension, np.asarray(temperature), None, law.options)
        gap = float(tried.mean) - mean
        if abs(gap) <= float(tried.stderr("mean")):
            break
        cold, hot = (temperature, hot) if gap > 0 else (cold, temperature)
        if hot < COLDEST * scale:
            raise ValueError(
                f"no temperature was found that gives a mean payoff of {mean:g}: at "
                f"T = {hot:.3g} it is {mean + gap:g}; the largest worth may be lower"
            )
        slope = temperature * float(np.var(tried.run.trusted.tempered.heights))
        step = np.clip(gap / max(slope, 1e-300), -LONGEST, LONGEST)
        ahead = temperature * float(np.exp(step))
        temperature = ahead if cold < ahead < hot else float(np.sqrt(hot * cold))
    return np.asarray(temperature)
