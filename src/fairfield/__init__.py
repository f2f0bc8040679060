"""fairfield: what is each player of a cooperative game worth?

Every criterion is a reading of the gradient of the game's multilinear extension.
"""

from fairfield import learning, plots
from fairfield.comparison import Comparison, Interactions
from fairfield.criteria import axioms
from fairfield.criteria.annealing import Annealing, annealing
from fairfield.criteria.compare import compare, stream
from fairfield.criteria.diagnosis import Diagnosis, diagnose
from fairfield.criteria.free_energy import free_energy_value
from fairfield.criteria.interactions import interactions, moebius
from fairfield.criteria.samples import samples_needed
from fairfield.criteria.semivalues import banzhaf, beta, leave_one_out, semivalue, shapley
from fairfield.criteria.variational import variational_index, variational_values
from fairfield.curves import Curve, addition_curve, pruning_curve, removal_curve, weighted_drop
from fairfield.energy.boltzmann import Boltzmann
from fairfield.energy.sampled import EstimateWarning
from fairfield.energy.temperature import concentrated, relative
from fairfield.evaluation.how import How, top
from fairfield.evaluation.store import StoreError, describe_store, verify_store
from fairfield.evaluation.workers import WorthError
from fairfield.explain import explain
from fairfield.game import Game
from fairfield.games.classic import (
    AirportGame,
    BankruptcyGame,
    CardinalityGame,
    GlovesGame,
    UnanimityGame,
)
from fairfield.games.cluster import cluster
from fairfield.games.data import DataGame
from fairfield.games.ensembles import EnsembleGame
from fairfield.games.features import FeatureGame
from fairfield.games.linear import LinearGame
from fairfield.games.neighbors import NeighborGame
from fairfield.games.pairwise import CutGame, PairwiseGame
from fairfield.games.set_functions import CoverageGame, FacilityLocationGame, FLDCGame, FLIDGame
from fairfield.games.shapiq import from_shapiq, to_shapiq
from fairfield.games.trees import TreeGame
from fairfield.games.voting import VotingGame
from fairfield.given_games import FunctionGame, TableGame
from fairfield.learning.learn import learn
from fairfield.means import Means
from fairfield.multilinear import Extension
from fairfield.report import report
from fairfield.trials import detection_f1, detection_rate, rank_stability
from fairfield.valuation import Valuation

__version__ = "0.1.0"

__all__ = [
    "AirportGame",
    "Annealing",
    "BankruptcyGame",
    "Boltzmann",
    "CardinalityGame",
    "Comparison",
    "CoverageGame",
    "Curve",
    "CutGame",
    "DataGame",
    "Diagnosis",
    "EnsembleGame",
    "EstimateWarning",
    "Extension",
    "FLDCGame",
    "FLIDGame",
    "FacilityLocationGame",
    "FeatureGame",
    "FunctionGame",
    "Game",
    "GlovesGame",
    "How",
    "Interactions",
    "LinearGame",
    "Means",
    "NeighborGame",
    "PairwiseGame",
    "StoreError",
    "TableGame",
    "TreeGame",
    "UnanimityGame",
    "Valuation",
    "VotingGame",
    "WorthError",
    "addition_curve",
    "annealing",
    "axioms",
    "banzhaf",
    "beta",
    "cluster",
    "compare",
    "concentrated",
    "describe_store",
    "detection_f1",
    "detection_rate",
    "diagnose",
    "explain",
    "free_energy_value",
    "from_shapiq",
    "interactions",
    "learn",
    "learning",
    "leave_one_out",
    "moebius",
    "plots",
    "pruning_curve",
    "rank_stability",
    "relative",
    "removal_curve",
    "report",
    "samples_needed",
    "semivalue",
    "shapley",
    "stream",
    "to_shapiq",
    "top",
    "variational_index",
    "variational_values",
    "verify_store",
    "weighted_drop",
]
