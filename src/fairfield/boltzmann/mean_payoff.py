"""The temperature at which a law has a given mean payoff E_p[F].

E_p[F] rises from the mean of all worths to the largest as T falls, so there is one T for
each mean in between: the Lagrange multiplier of the law of largest entropy with that mean.
"""

from __future__ import annotations

import numpy as np

from fairfield.boltzmann.exact import ExactLaw
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.boltzmann.temperature import banzhaf_scale
from fairfield.core.arrays import FloatArray
from fairfield.core.special import brentq

# Runs that search for T by sampling, and by how much T may fall below the game's scale.
STEPS, COLDEST = 40, 1e-3
# A step in log T is never longer.
LONGEST = 1.4


def temperature_of_mean(law: ExactLaw | SampledLaw, mean: float) -> FloatArray:
    """T of the law with this mean payoff; by sampling, to within the error of E_p[F]."""
    if law.extension is None:
        raise ValueError(f"{law.game!r} has neither a table nor a closed form; give temperature=")
    lowest = float(law.extension.value(np.full(law.extension.players, 0.5)))
    if isinstance(law, ExactLaw):
        return np.asarray(_exact(law, mean, lowest))
    return np.asarray(_sampled(law, mean, lowest))


def _exact(law: ExactLaw, mean: float, lowest: float) -> float:
    extension = law.extension
    top = float(extension.highest.reshape(extension.batch))
    if not lowest < mean < top:
        raise ValueError(
            f"no temperature gives a mean payoff of {mean:g}: it must lie between {lowest:g}, "
            f"the mean worth of all coalitions, and {top:g}, the largest worth"
        )

    def excess(log_temperature: float) -> float:
        temperature = np.asarray(np.exp(log_temperature))
        return top + float(temperature * ExactLaw(extension, temperature).mean_gap) - mean

    hot = cold = float(np.log(top - lowest))
    while excess(hot) > 0:
        hot += 2.0
    while excess(cold) < 0:
        cold -= 2.0
    return float(np.exp(brentq(excess, cold, hot, xtol=1e-13)))


def _sampled(law: SampledLaw, mean: float, lowest: float) -> float:
    """Newton's steps in log T, whose slope is -Var_p(F)/T, kept between bounds; each is a run."""
    if not lowest < mean:
        raise ValueError(
            f"no temperature gives a mean payoff of {mean:g}: it must lie above {lowest:g}, the "
            "mean worth of all coalitions"
        )
    assert law.extension is not None  # or there is no lowest mean
    scale = float(banzhaf_scale(law.extension))
    hot, cold = np.inf, 0.0
    temperature = scale
    for _ in range(STEPS):
        tried = SampledLaw(law.game, law.extension, np.asarray(temperature), None, law.options)
        excess = float(tried.mean) - mean
        if abs(excess) <= float(tried.stderr("mean")):
            break
        cold, hot = (temperature, hot) if excess > 0 else (cold, temperature)
        if hot < COLDEST * scale:
            raise ValueError(
                f"no temperature was found that gives a mean payoff of {mean:g}: at "
                f"T = {hot:.3g} it is {mean + excess:g}; the largest worth may be lower"
            )
        slope = temperature * float(np.var(tried.run.trusted.tempered.log_weights))
        step = np.clip(excess / max(slope, 1e-300), -LONGEST, LONGEST)
        ahead = temperature * float(np.exp(step))
        temperature = ahead if cold < ahead < hot else float(np.sqrt(hot * cold))
    return temperature
