"""Learning games from observed coalitions, and scoring what they predict."""

from fairfield.learning.learn import learn
from fairfield.learning.learned import LearnedGame
from fairfield.learning.neural import learn_deep_sets
from fairfield.learning.observed import Observed, observe
from fairfield.learning.read import read_baskets
from fairfield.learning.scores import Scores, ScoreTable, score, score_table

__all__ = [
    "LearnedGame",
    "Observed",
    "ScoreTable",
    "Scores",
    "learn",
    "learn_deep_sets",
    "observe",
    "read_baskets",
    "score",
    "score_table",
]
