"""fairfield: what is each player of a cooperative game worth?

Every criterion is a reading of the gradient of the game's multilinear extension.
"""

from fairfield import learning, plots
from fairfield.boltzmann.boltzmann import Boltzmann
from fairfield.boltzmann.sampled import ReliabilityWarning
from fairfield.boltzmann.temperature import concentrated, relative
from fairfield.core.extension import Extension
from fairfield.core.game import Failures, Game, GameInfo, Measured, Traits
from fairfield.criteria import axioms
from fairfield.criteria.annealing import Annealing, annealing
from fairfield.criteria.banzhaf import banzhaf
from fairfield.criteria.compare import compare, stream
from fairfield.criteria.diagnosis import Diagnosis, diagnose
from fairfield.criteria.free_energy import free_energy_value
from fairfield.criteria.interactions.interactions import interactions
from fairfield.criteria.interactions.moebius import moebius
from fairfield.criteria.leave_one_out import leave_one_out
from fairfield.criteria.samples import samples_needed
from fairfield.criteria.semivalue import beta, semivalue
from fairfield.criteria.shapley import shapley
from fairfield.criteria.variational_index import variational_index
from fairfield.criteria.variational_values import variational_values
from fairfield.curves import Curve, addition_curve, pruning_curve, removal_curve, weighted_drop
from fairfield.evaluation.options import Options, separate_bottom, separate_top
from fairfield.evaluation.store import StoreError, describe_store, verify_store
from fairfield.evaluation.workers import WorthError
from fairfield.explain import explain
from fairfield.games.data.cluster import cluster
from fairfield.games.data.game import DataGame
from fairfield.games.ensembles.game import EnsembleGame
from fairfield.games.features.game import FeatureGame
from fairfield.games.features.linear import LinearGame
from fairfield.games.given.function import FunctionGame
from fairfield.games.given.shapiq import from_shapiq, to_shapiq
from fairfield.games.given.table import TableGame
from fairfield.games.neighbors.game import NeighborGame
from fairfield.games.set_functions.coverage import CoverageGame
from fairfield.games.set_functions.facility_location import (
    FacilityLocationGame,
    FLDCGame,
    FLIDGame,
)
from fairfield.games.set_functions.pairwise import CutGame, PairwiseGame
from fairfield.games.textbook.airport import AirportGame
from fairfield.games.textbook.bankruptcy import BankruptcyGame
from fairfield.games.textbook.cardinality import CardinalityGame
from fairfield.games.textbook.gloves import GlovesGame
from fairfield.games.textbook.unanimity import UnanimityGame
from fairfield.games.textbook.voting import VotingGame
from fairfield.games.trees.game import TreeGame
from fairfield.learning.learn import learn
from fairfield.metrics import detection_f1, detection_rate, rank_stability
from fairfield.report import report
from fairfield.results.comparison import Comparison
from fairfield.results.interactions import Interactions
from fairfield.results.means import Means
from fairfield.results.valuation import Valuation

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
    "Extension",
    "FLDCGame",
    "FLIDGame",
    "FacilityLocationGame",
    "Failures",
    "FeatureGame",
    "FunctionGame",
    "Game",
    "GameInfo",
    "GlovesGame",
    "Interactions",
    "LinearGame",
    "Means",
    "Measured",
    "NeighborGame",
    "Options",
    "PairwiseGame",
    "ReliabilityWarning",
    "StoreError",
    "TableGame",
    "Traits",
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
    "separate_bottom",
    "separate_top",
    "shapley",
    "stream",
    "to_shapiq",
    "variational_index",
    "variational_values",
    "verify_store",
    "weighted_drop",
]
