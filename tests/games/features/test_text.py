"""Words behind the output of a model of texts."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import brute
import fairfield as ff

TEXT = "Not good, really not good. But the ending was fine!"


def negations(texts):
    return np.array([t.lower().count("good") * (1 - 2 * t.lower().count("not")) for t in texts])


def test_words_are_left_out_or_masked():
    seen = []

    def predict(texts):
        seen.extend(texts)
        return [len(text) for text in texts]

    game = ff.TextGame(predict, "a bb  a")
    assert game.players == ("a [1]", "bb", "a [3]")
    assert game.worths(brute.coalitions(3)).tolist() == [0, 2, 4, 6, 1, 3, 5, 7]
    masked = ff.TextGame(predict, "a bb  a", mask="[MASK]")
    seen.clear()
    masked.worths(np.array([[False, True, False]]))
    assert seen == ["[MASK] bb  [MASK]"]


def test_sentences_and_splits_of_ones_own():
    sentences = ff.TextGame(negations, TEXT, split="sentences")
    assert sentences.players == ("Not good, really not good.", "But the ending was fine!")
    own = ff.TextGame(negations, "a-b-c", split=lambda text: text.split("-"))
    assert own.text_of(np.array([True, False, True])) == "a c "
    words = ff.TextGame(negations, TEXT)
    assert [len(each) for each in words.unions.values()] == [5, 5]
    found = ff.owen(words, words.unions)
    by_sentence = ff.shapley(sentences).values
    assert_allclose([found.values[:5].sum(), found.values[5:].sum()], by_sentence, atol=1e-12)


def test_a_pipeline_of_texts_and_its_classes():
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    texts = ["good film", "bad film", "good plot", "bad plot", "film", "plot"]
    labels = ["yes", "no", "yes", "no", "no", "yes"]
    model = make_pipeline(CountVectorizer(), LogisticRegression()).fit(texts, labels)
    found = ff.shapley(ff.TextGame(model, "good bad film", output="all"))
    assert found.outputs == ("no", "yes")
    assert_allclose(found.output("yes").grand, model.predict_proba(["good bad film"])[0, 1])
    assert found.output("yes").values[0] > 0 > found.output("yes").values[1]
    assert "probability" in found.game
    margin = ff.shapley(ff.TextGame(model, "good bad film", output="margin"))
    slopes = model[-1].coef_[0][model[0].transform(["good bad film"]).indices]
    assert_allclose(sorted(margin.values), sorted(slopes), rtol=0, atol=1e-12)


def test_stores_know_texts_by_pieces_mask_and_model():
    game = ff.TextGame(negations, TEXT)
    others = [
        ff.TextGame(negations, TEXT.replace("fine", "bad")),
        ff.TextGame(negations, TEXT, mask="…"),
        ff.TextGame(lambda texts: 2 * negations(texts), TEXT),
    ]
    assert all(game.describe() != other.describe() for other in others)
    with pytest.raises(ValueError, match="split='letters' was given; choose from"):
        ff.TextGame(negations, TEXT, split="letters")
    with pytest.raises(ValueError, match="give a string"):
        ff.TextGame(negations, " ")
