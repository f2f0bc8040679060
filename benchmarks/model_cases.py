"""The models and inputs of models.py: each fitted, with the functions whose definition is meant."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import polars
import pyarrow
import torch
import xgboost
from catboost import CatBoostClassifier, CatBoostRegressor
from scipy.sparse import csr_array
from scipy.special import logit
from sklearn import ensemble, linear_model, neighbors, neural_network, svm, tree
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.impute import SimpleImputer
from sklearn.model_selection import FixedThresholdClassifier, GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    OneHotEncoder,
    OrdinalEncoder,
    SplineTransformer,
    StandardScaler,
    TargetEncoder,
)

warnings.filterwarnings("ignore")
ROWS, BACKGROUND = slice(0, 8), slice(100, 130)
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.standard_normal((200, 6)), columns=list("abcdef"))
Y = X.a * X.b + X.c - np.abs(X.d)
LABEL = Y.gt(Y.median()).astype(int)
TEXTS = X.assign(
    e=rng.choice(["red", "green", "blue"], 200), f=rng.choice(["s", "m", "l", "xl"], 200)
)
GAPS = X.mask(rng.random(X.shape) < 0.2)
CATEGORIES = TEXTS.astype({"e": "category", "f": "category"})


@dataclass
class Case:
    """A fitted model, rows in some form and as frames, and the quantities that may be explained."""

    name: str
    input: str
    model: Any
    rows: Any
    background: Any
    frame: tuple[pd.DataFrame, pd.DataFrame]
    functions: dict[str, Callable[[Any], Any]]
    options: dict[str, Any] = field(default_factory=dict)


CASES: list[Callable[[], Case]] = []


def quantities(model: Any) -> dict[str, Callable[[Any], Any]]:
    """What a model may be asked for, each as a function of rows."""
    found: dict[str, Callable[[Any], Any]] = {}
    last = model[-1] if hasattr(model, "steps") else model
    before = model[:-1].transform if hasattr(model, "steps") else lambda rows: rows
    if isinstance(last, xgboost.XGBModel):
        found["margin"] = lambda rows: last.predict(before(rows), output_margin=True)
    elif isinstance(last, lightgbm.LGBMModel):
        found["margin"] = lambda rows: last.predict(before(rows), raw_score=True)
    elif isinstance(last, CatBoostClassifier):
        found["margin"] = lambda rows: last.predict(before(rows), prediction_type="RawFormulaVal")
    elif isinstance(last, ensemble.IsolationForest):
        found["log2 of the score"] = lambda rows: np.log2(-model.score_samples(rows))
    elif hasattr(model, "decision_function"):
        found["margin"] = model.decision_function
    if hasattr(model, "predict_proba"):
        found["probability"] = lambda rows: model.predict_proba(rows)[:, 1]
    if isinstance(model, CalibratedClassifierCV):
        found["log-odds"] = lambda rows: logit(model.predict_proba(rows)[:, 1])
    if not found and hasattr(model, "predict"):
        found["prediction"] = model.predict
    return found


def case(
    name: str,
    model: Any,
    kind: str = "DataFrame",
    table: pd.DataFrame = X,
    form: Callable[[pd.DataFrame], Any] = lambda rows: rows,
    functions: dict[str, Callable[[Any], Any]] | None = None,
    y: Any = None,
    arrays: bool = False,
    **options: Any,
) -> None:
    """Add a case: the model is fitted to the table, and explained for some rows in their form."""

    def make() -> Case:
        target = y
        if target is None:
            target = LABEL if sklearn_classifier(model) else Y
        if hasattr(model, "fit"):
            model.fit(table.to_numpy() if arrays else table, target)
        frame = table[ROWS], table[BACKGROUND]
        given = functions if functions is not None else quantities(model)
        return Case(name, kind, model, form(frame[0]), form(frame[1]), frame, given, options)

    CASES.append(make)


def sklearn_classifier(model: Any) -> bool:
    tags = getattr(model, "__sklearn_tags__", None)
    return tags is not None and tags().estimator_type == "classifier"


trees = {"n_estimators": 20, "max_depth": 4, "random_state": 0}
boosting = ensemble.GradientBoostingClassifier
encode = make_column_transformer((OneHotEncoder(), ["e", "f"]), remainder=StandardScaler())

case("LinearRegression", linear_model.LinearRegression())
case("Lasso", linear_model.Lasso(0.01))
case("SGDRegressor", linear_model.SGDRegressor(random_state=0))
case("PoissonRegressor", linear_model.PoissonRegressor(), y=np.exp(Y / 4))
case("LogisticRegression", linear_model.LogisticRegression())
case("RidgeClassifier", linear_model.RidgeClassifier())
case("LinearSVC", svm.LinearSVC())
case("LinearDiscriminantAnalysis", LinearDiscriminantAnalysis())
case("DecisionTreeClassifier", tree.DecisionTreeClassifier(max_depth=5))
case("RandomForestRegressor", ensemble.RandomForestRegressor(**trees))
case("RandomForestClassifier", ensemble.RandomForestClassifier(**trees))
case("ExtraTreesClassifier", ensemble.ExtraTreesClassifier(**trees))
case("GradientBoostingRegressor", ensemble.GradientBoostingRegressor(**trees))
case("GradientBoostingClassifier", boosting(**trees))
case("HistGradientBoostingRegressor", ensemble.HistGradientBoostingRegressor(max_iter=20))
case("HistGradientBoostingClassifier", ensemble.HistGradientBoostingClassifier(max_iter=20))
case(
    "HistGradientBoostingClassifier",
    ensemble.HistGradientBoostingClassifier(max_iter=20),
    "categories",
    CATEGORIES,
)
case(
    "HistGradientBoostingRegressor",
    ensemble.HistGradientBoostingRegressor(max_iter=20),
    "missing values",
    GAPS,
)
case("IsolationForest", ensemble.IsolationForest(n_estimators=20, random_state=0))
case("AdaBoostClassifier", ensemble.AdaBoostClassifier(n_estimators=10, random_state=0))
case("BaggingRegressor", ensemble.BaggingRegressor(n_estimators=5, random_state=0))
case("XGBClassifier", xgboost.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1))
case(
    "XGBRegressor",
    xgboost.XGBRegressor(n_estimators=20, max_depth=4, n_jobs=1),
    "missing values",
    GAPS,
)
case(
    "XGBClassifier",
    xgboost.XGBClassifier(n_estimators=20, max_depth=4, enable_categorical=True, n_jobs=1),
    "categories",
    CATEGORIES,
)
case("LGBMClassifier", lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1))
case(
    "LGBMRegressor",
    lightgbm.LGBMRegressor(n_estimators=20, verbose=-1, n_jobs=1),
    "categories",
    CATEGORIES,
)
case(
    "CatBoostClassifier",
    CatBoostClassifier(
        iterations=20, depth=4, verbose=0, thread_count=1, allow_writing_files=False
    ),
)
case(
    "CatBoostRegressor",
    CatBoostRegressor(iterations=20, depth=4, verbose=0, thread_count=1, allow_writing_files=False),
)
case("MLPClassifier", neural_network.MLPClassifier((8,), max_iter=300, random_state=0))
case("SVC", svm.SVC())
case("KNeighborsClassifier", neighbors.KNeighborsClassifier())
case("GaussianNB", GaussianNB())
case("GaussianProcessRegressor", GaussianProcessRegressor())
case(
    "VotingClassifier",
    ensemble.VotingClassifier(
        [("a", linear_model.LogisticRegression()), ("b", GaussianNB())], voting="soft"
    ),
)
case(
    "StackingRegressor",
    ensemble.StackingRegressor(
        [("a", linear_model.Ridge()), ("b", tree.DecisionTreeRegressor(max_depth=3))], cv=3
    ),
)
case(
    "scaling, logistic regression",
    make_pipeline(StandardScaler(), linear_model.LogisticRegression()),
)
case("splines, ridge", make_pipeline(SplineTransformer(4), linear_model.Ridge()))
case("one-hot, gradient boosting", make_pipeline(encode, boosting(**trees)), "texts", TEXTS)
case(
    "one-hot (sparse), XGBoost",
    make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), ["e", "f"]), remainder="passthrough", sparse_threshold=1.0
        ),
        xgboost.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1),
    ),
    "texts",
    TEXTS,
)
case(
    "ordinal, LightGBM",
    make_pipeline(
        make_column_transformer((OrdinalEncoder(), ["e", "f"]), remainder="passthrough"),
        lightgbm.LGBMClassifier(n_estimators=20, verbose=-1, n_jobs=1),
    ),
    "texts",
    TEXTS,
)
case(
    "target encoding, forest",
    make_pipeline(
        make_column_transformer((TargetEncoder(), ["e", "f"]), remainder="passthrough"),
        ensemble.RandomForestClassifier(**trees),
    ),
    "texts",
    TEXTS,
)
case(
    "imputation with indicators, gradient boosting",
    make_pipeline(SimpleImputer(add_indicator=True), boosting(**trees)),
    "missing values",
    GAPS,
)
case("PCA, gradient boosting", make_pipeline(PCA(3), boosting(**trees)))
case(
    "GridSearchCV of a pipeline",
    GridSearchCV(
        make_pipeline(encode, boosting(**trees)),
        {"gradientboostingclassifier__max_depth": [2, 3]},
        cv=2,
    ),
    "texts",
    TEXTS,
)
case("FixedThresholdClassifier", FixedThresholdClassifier(boosting(**trees), threshold=0.3))
case("FrozenEstimator", FrozenEstimator(ensemble.RandomForestRegressor(**trees).fit(X, Y)))
case(
    "CalibratedClassifierCV, sigmoid",
    CalibratedClassifierCV(boosting(**trees), ensemble=False, cv=2),
)
case(
    "CalibratedClassifierCV, isotonic",
    CalibratedClassifierCV(boosting(**trees), method="isotonic", ensemble=False, cv=2),
)
torch.manual_seed(0)
network = torch.nn.Sequential(torch.nn.Linear(6, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))


def outputs(rows: Any) -> Any:
    return network(torch.tensor(np.asarray(rows), dtype=torch.float32))[:, 0].detach().numpy()


case(
    "torch.nn.Module",
    network,
    "tensors",
    form=lambda rows: torch.tensor(rows.to_numpy(), dtype=torch.float32),
    functions={"output": outputs},
)
case(
    "a function",
    lambda rows: np.asarray(rows)[:, 0] * np.asarray(rows)[:, 1],
    "array",
    form=lambda rows: rows.to_numpy(),
    functions={"output": lambda rows: rows.a * rows.b},
)
case("GradientBoostingClassifier", boosting(**trees), "Polars", form=polars.from_pandas)
case("KNeighborsRegressor", neighbors.KNeighborsRegressor(), "Polars", form=polars.from_pandas)
case("GradientBoostingClassifier", boosting(**trees), "PyArrow", form=pyarrow.Table.from_pandas)
for kind, form in (
    ("array", np.asarray),
    ("sparse matrix", lambda rows: csr_array(rows.to_numpy())),
    ("tensors", lambda rows: torch.tensor(rows.to_numpy())),
    ("lists", lambda rows: rows.to_numpy().tolist()),
):
    case("GradientBoostingClassifier", boosting(**trees), kind, form=form, arrays=True)
