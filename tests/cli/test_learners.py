"""Models by name, or imported."""

import numpy as np
import pytest

pd = pytest.importorskip("pandas")
pytest.importorskip("typer")
pytest.importorskip("sklearn")

from fairfield.cli.learners import LEARNERS, encoder, learner  # noqa: E402
from fairfield.cli.messages import InputError  # noqa: E402

TABLE = pd.DataFrame({"age": [30.0, 50.0] * 8, "town": ["a", "b"] * 8})


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("classifies", [True, False])
@pytest.mark.filterwarnings("ignore")
def test_every_model_takes_numbers_and_text(name, classifies):
    from sklearn.base import is_classifier

    model = learner(name, TABLE, classifies)
    assert is_classifier(model) == classifies
    assert model.fit(TABLE, [0, 1] * 8).predict(TABLE).shape == (16,)


def test_text_is_encoded_and_numbers_are_scaled_where_asked():
    scaled = encoder(TABLE, scale=True).fit_transform(TABLE)
    np.testing.assert_allclose(scaled[:2], [[-1, 1, 0], [1, 0, 1]])
    np.testing.assert_allclose(encoder(TABLE, scale=False).fit_transform(TABLE)[0], [30, 1, 0])
    assert encoder(TABLE[["age"]], scale=False).fit_transform(TABLE[["age"]]).shape == (16, 1)


def test_a_model_is_imported_by_its_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(
        "class Shelf:\n    class Model:\n        pass\nmade = Shelf()\n"
    )
    assert type(learner("shop:Shelf.Model", TABLE, True)).__name__ == "Model"
    assert type(learner("shop:made", TABLE, True)).__name__ == "Shelf"
    for name in ("shop:none", "no.such:thing"):
        with pytest.raises(InputError, match=f"--model {name} could not be found"):
            learner(name, TABLE, True)
    with pytest.raises(InputError, match="there is no model 'oracle'; choose from logistic, "):
        learner("oracle", TABLE, True)
