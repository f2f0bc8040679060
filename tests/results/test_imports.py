"""Explanations of shap, there and back."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import fairfield as ff

shap = pytest.importorskip("shap")
pd = pytest.importorskip("pandas")


@pytest.fixture(name="explained")
def towns():
    """Features of which one is a text, and one missing in a row."""
    X = pd.DataFrame({"age": [1.0, np.nan, 3.0], "town": ["B", "A", "B"], "debt": [5.0, 6.0, 7.0]})
    X["town"] = X["town"].astype("category")

    def outputs(rows):
        base = rows.age.fillna(9) * (rows.town == "A") + rows.debt
        return np.stack([base, base**2], axis=1)

    return lambda criterion, output: ff.explain(outputs, X, X, criterion, output=output)


@pytest.mark.parametrize("criterion", ["shapley", "banzhaf"])
@pytest.mark.parametrize("output", [1, "all"])
def test_there_and_back(explained, tmp_path, criterion, output):
    v = explained(criterion, output)
    v.save(tmp_path / "v.npz")
    loaded = ff.Valuation.load(tmp_path / "v.npz")
    assert loaded.data.dtype == object
    own = v if output == 1 else v.output(0)
    assert own.data[:, 1].tolist() == ["B", "A", "B"]
    for each in (v, loaded):
        shown = each.to_shap()
        assert shown.display_data[:, 1].tolist() == ["B", "A", "B"]
        assert_allclose(shown.data[:, :3], [[1, 1, 5], [np.nan, 0, 6], [3, 1, 7]])
        back = ff.from_shap(shown, criterion)
        assert back.players == v.players
        for name in ("values", "empty", "grand"):
            assert_allclose(getattr(back, name), getattr(v, name))
        assert_array_equal(back.data.astype(str), v.data.astype(str))
    assert_allclose(ff.from_shap(v[0].to_shap(), criterion).values, v[0].values)


def test_what_shap_computes(rng):
    from sklearn.ensemble import RandomForestClassifier

    X = rng.standard_normal((40, 3))
    model = RandomForestClassifier(4, max_depth=3, random_state=0).fit(X, X[:, 0] > 0)
    found = ff.from_shap(shap.TreeExplainer(model)(X[:5]))
    assert len(found.outputs) == 2
    assert_allclose(found.grand, model.predict_proba(X[:5]), atol=1e-6)
    want = ff.explain(model, X[:5], criterion="shapley", output="all")
    assert_allclose(found.values, want.values, atol=1e-6)
    assert "feature" in repr(found)
    with pytest.raises(ValueError, match="3 values and 2 feature names"):
        ff.from_shap(shap.Explanation(np.ones(3), 0.0, feature_names=["a", "b"]))


def test_values_as_shapiq_has_them():
    shapiq = pytest.importorskip("shapiq")
    game = ff.TableGame(np.random.default_rng(0).normal(size=16))
    for criterion, index in ((ff.shapley, "SV"), (ff.banzhaf, "BV")):
        v = criterion(game)
        found = v.to_shapiq()
        assert found.index == index
        assert_allclose([found[(i,)] for i in range(4)], v.values)
        assert found.baseline_value == v.empty
        exact = shapiq.ExactComputer(ff.to_shapiq(game), 4)(index, 1)
        assert_allclose(found.get_n_order_values(1), exact.get_n_order_values(1), atol=1e-10)
    with pytest.raises(ValueError, match="no values by leave_one_out"):
        ff.leave_one_out(game).to_shapiq()
