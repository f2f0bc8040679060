"""Who has a say in the Council of the European Union?

The 27 members of 2007 to 2013 under the Treaty of Nice: a proposal needed 255 of 345
weighted votes (it also needed a majority of members and, on request, of the population;
these hardly ever decide and are left out). Weights are not power: Germany has almost ten
times Malta's votes.

Run with: python examples/european_council.py
"""

from __future__ import annotations

import fairfield as ff

QUOTA = 255
WEIGHTS = {
    "Germany": 29,
    "France": 29,
    "Italy": 29,
    "United Kingdom": 29,
    "Spain": 27,
    "Poland": 27,
    "Romania": 14,
    "Netherlands": 13,
    "Belgium": 12,
    "Czech Republic": 12,
    "Greece": 12,
    "Hungary": 12,
    "Portugal": 12,
    "Austria": 10,
    "Bulgaria": 10,
    "Sweden": 10,
    "Denmark": 7,
    "Finland": 7,
    "Ireland": 7,
    "Lithuania": 7,
    "Slovakia": 7,
    "Cyprus": 4,
    "Estonia": 4,
    "Latvia": 4,
    "Luxembourg": 4,
    "Slovenia": 4,
    "Malta": 3,
}


def main() -> None:
    game = ff.VotingGame(list(WEIGHTS.values()), QUOTA, players=WEIGHTS)
    criteria = {
        "Shapley": ff.shapley(game),
        "Banzhaf": ff.banzhaf(game),
        "variational": ff.variational_index(game),
    }
    print(f"Shares of power in percent ({criteria['Shapley'].method})\n")
    print(f"{'member':16}{'votes':>8}", *(f"{name:>12}" for name in criteria))
    for i, (member, votes) in enumerate(WEIGHTS.items()):
        shares = (100 * v.values[i] / v.values.sum() for v in criteria.values())
        print(f"{member:16}{100 * votes / 345:8.2f}", *(f"{share:12.2f}" for share in shares))
    index = criteria["variational"]
    print(f"\nThe variational index took {index.steps} steps: {index.stop}.")


if __name__ == "__main__":
    main()
