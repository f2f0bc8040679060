"""Fitted models from files; code in them is run only where that is asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from fairfield.cli.messages import InputError
from fairfield.cli.model_trial import complaint
from fairfield.core.arrays import FloatArray
from fairfield.core.coalitions import spell
from fairfield.core.runtime.imports import needed_for
from fairfield.core.writing.text_files import existing

KNOWN = (
    "known are XGBoost (.json, .ubj), LightGBM (.txt), skops, ONNX, and with --trust-pickle also "
    "pickle and joblib"
)
# How a pickle begins: as it is, or packed by zlib or gzip as joblib does; and where the name says
# so, by its oldest protocols or packed otherwise.
PICKLED = (b"\x80", b"x\x01", b"x\x5e", b"x\x9c", b"x\xda", b"\x1f\x8b")
NAMED_SO = (*PICKLED, b"c", b"(", b"BZ", b"\xfd7zXZ", b"]\x00", b"\x04\x22M\x18")


def read_model(path: Path, *, trust_pickle: bool = False, trusted: Sequence[str] = ()) -> Any:
    """The model in a file, whose kind is recognised by how the file begins.

    ``trusted`` are types in a file of skops that may be made, beside those that it knows to be safe.
    """
    reader = _reader(path)
    if trusted and reader is not _skops:
        raise InputError(f"--trust names types in a skops file, and {path} is none; leave it out")
    if reader is _pickled and not trust_pickle:
        raise InputError(
            f"{path} is a pickle, and opening one runs any code its author put into it; pass "
            "--trust-pickle if you trust the author, or save the model with skops "
            "(pip install 'fairfield[models]')"
        )
    try:
        found = complaint(path) if reader in (_xgboost, _lightgbm) else None
        if found is not None:
            raise ValueError(found)
        return reader(path, trusted) if reader is _skops else reader(path)
    except (InputError, ImportError):
        raise
    except Exception as reason:  # libraries raise anything on malformed files
        first = str(reason).strip().split("\n")[0]
        raise InputError(f"{path} is not a model that can be read ({first}); {KNOWN}") from None


def load(path: Path) -> Any:
    """The model in a file, with whatever its library makes of it."""
    return _reader(path)(path)


def _reader(path: Path) -> Any:
    with existing(path, "a model file").open("rb") as file:
        start = file.read(4096)
    suffix = path.suffix.lower()
    if start.startswith((b"tree\n", b"tree\r\n")):
        return _lightgbm
    if start.startswith(b"PK"):
        return _skops
    if suffix == ".onnx":
        return _onnx
    if suffix in (".json", ".ubj") or start.lstrip().startswith(b'{"learner"'):
        return _xgboost
    named = suffix in (".pkl", ".pickle", ".joblib")
    if start.startswith(NAMED_SO if named else PICKLED):
        return _pickled
    raise InputError(f"{path} is not a model that can be read; {KNOWN}")


def _xgboost(path: Path) -> Any:
    with needed_for(f"the model in {path}"):
        from xgboost import Booster
    booster = Booster()
    booster.load_model(path)
    return booster


def _lightgbm(path: Path) -> Any:
    with needed_for(f"the model in {path}"):
        from lightgbm import Booster
    return Booster(model_file=path)


def _skops(path: Path, trusted: Sequence[str] = ()) -> Any:
    with needed_for(f"the model in {path}"):
        from skops.io import get_untrusted_types, load
    strange = get_untrusted_types(file=path)
    absent = [name for name in trusted if name not in strange]
    if absent:
        raise InputError(
            f"{path} holds no type {absent[0]} that has to be trusted; those are {spell(strange)}"
        )
    unknown = [name for name in strange if name not in trusted]
    if unknown:
        named = " ".join(f"--trust {name}" for name in unknown)
        raise InputError(
            f"{path} holds types that skops does not know to be safe; if you trust what they do, pass "
            f"{named}"
        )
    return load(path, trusted=list(trusted))


def _pickled(path: Path) -> Any:
    import joblib

    return joblib.load(path)


def _onnx(path: Path) -> Any:
    with needed_for(f"the model in {path}"):
        import onnxruntime
    return OnnxModel(onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"]))


class OnnxModel:
    """An ONNX network of one input table; several output columns are its classes."""

    def __init__(self, session: Any) -> None:
        inputs = session.get_inputs()
        if len(inputs) != 1:
            raise InputError(
                f"the ONNX model has {len(inputs)} inputs; one table of numbers is needed"
            )
        self.session, self.input = session, inputs[0]
        # Classifiers give labels first and probabilities last.
        self.output = session.get_outputs()[-1].name
        width = self.input.shape[-1]
        self.n_features_in_ = width if isinstance(width, int) else None
        if self.n_features_in_ is not None:
            found = self.predict_proba(np.zeros((1, self.n_features_in_)))
            if found.ndim == 2 and found.shape[1] > 1:
                self.classes_ = np.arange(found.shape[1])

    def predict_proba(self, X: Any) -> FloatArray:
        """The columns of the output."""
        kind = np.float64 if "double" in self.input.type else np.float32
        table = {self.input.name: np.asarray(X, dtype=kind)}
        (found,) = self.session.run([self.output], table)
        if isinstance(found, list):  # one dict of probabilities for each row
            found = [list(row.values()) for row in found]
        return np.asarray(found, dtype=float)

    def predict(self, X: Any) -> FloatArray:
        """The output as one number for each row."""
        found = self.predict_proba(X)
        return found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found


def columns_of(model: Any) -> list[str] | None:
    """The names of the columns a model takes, None where it has none."""
    named = getattr(model, "feature_names_in_", None)
    if named is None:
        held = getattr(model, "feature_names", None) or getattr(model, "feature_name", None)
        named = held() if callable(held) else held
    names = None if named is None else [str(name) for name in named]
    # LightGBM's own names for columns that had none.
    if names and all(name == f"Column_{i}" for i, name in enumerate(names)):
        return None
    return names


def width_of(model: Any) -> int | None:
    """How many columns a model takes, None where it does not say."""
    # In turn scikit-learn and ONNX, XGBoost, LightGBM.
    for name in ("n_features_in_", "num_features", "num_feature"):
        held = getattr(model, name, None)
        if held is not None:
            return int(held() if callable(held) else held)
    return None
