"""The law that has a given mean payoff E_p[F].

E_p[F] rises from the mean of all worths to the largest as T falls, so there is one T for
each mean in between: the Lagrange multiplier of the law of largest entropy with that mean.
"""

from __future__ import annotations

import numpy as np

from fairfield.boltzmann.exact import ExactLaw
from fairfield.boltzmann.sampled import SampledLaw
from fairfield.boltzmann.temperature import banzhaf_scale
from fairfield.core.extension import Extension
from fairfield.core.special import brentq

# Runs that search for T by sampling, and by how much T may fall below the game's scale.
STEPS, COLDEST = 40, 1e-3
# A step in log T is never longer.
LONGEST = 1.4


def law_of_mean(law: ExactLaw | SampledLaw, mean: float) -> ExactLaw | SampledLaw:
    """The law of the same game with this mean payoff; by sampling, to within the error of E_p[F]."""
    extension = extension_of(law)
    lowest = float(extension.value(np.full(extension.players, 0.5)))
    if isinstance(law, ExactLaw):
        return ExactLaw(law.extension, np.asarray(_exact(law, mean, lowest)))
    return _sampled(law, extension, mean, lowest)


def extension_of(law: ExactLaw | SampledLaw) -> Extension:
    """The extension of the game, without which no law is found from a mean payoff."""
    if law.extension is None:
        raise ValueError(f"{law.game!r} has neither a table nor a closed form; give temperature=")
    return law.extension


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


def _sampled(law: SampledLaw, extension: Extension, mean: float, lowest: float) -> SampledLaw:
    """Newton's steps in log T, whose slope is -Var_p(F)/T, kept between bounds; each is a run."""
    if not lowest < mean:
        raise ValueError(
            f"no temperature gives a mean payoff of {mean:g}: it must lie above {lowest:g}, the "
            "mean worth of all coalitions"
        )

    def at(temperature: float) -> SampledLaw:
        return SampledLaw(law.game, extension, np.asarray(temperature), None, law.options)

    scale = float(banzhaf_scale(extension))
    hot, cold = np.inf, 0.0
    temperature = scale
    for _ in range(STEPS):
        tried = at(temperature)
        excess = float(tried.mean) - mean
        if abs(excess) <= float(tried.stderr("mean")):
            return tried
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
    return at(temperature)
