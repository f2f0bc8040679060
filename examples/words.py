"""Which words made it a complaint? Shapley values of the words of a letter.

A classifier of letters (TF-IDF and logistic regression) is trained here on letters that are put
together from phrases. One letter of two sentences is valued exactly, word by word; a longer one by
Owen's value, which lets words join sentence by sentence and needs far fewer texts.
"""

import sys

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import fairfield as ff

OPENINGS = ["The parcel", "My order", "The lamp", "Your delivery", "The new kettle"]
GOOD = ["arrived early", "works very well", "is a joy", "was packed with care", "is not bad at all"]
BAD = ["arrived broken", "does not work", "never came", "was very late", "is not good at all"]
CLOSINGS = ["I live in Bath.", "It was for my mother.", "I paid by card.", "Thank you for reading."]
LETTER = "The lamp arrived early but does not work. I paid by card."
LONG = LETTER + " My order was packed with care. The new kettle never came. It was for my mother."


def letters(count, rng):
    """Letters, and whether each is a complaint."""
    bad = rng.random(count) < 0.5
    texts = []
    for complains in bad:
        said = rng.choice(BAD if complains else GOOD, size=2)
        texts.append(f"{rng.choice(OPENINGS)} {said[0]} and {said[1]}. {rng.choice(CLOSINGS)}")
    return texts, np.where(bad, "complaint", "praise")


def main(picture=None):
    texts, kinds = letters(600, np.random.default_rng(0))
    vectors = TfidfVectorizer(ngram_range=(1, 2))  # pairs too: "not good" is not "good"
    model = make_pipeline(vectors, LogisticRegression(C=10.0)).fit(texts, kinds)

    game = ff.TextGame(model, LETTER, output="complaint")
    found = ff.shapley(game)
    print(f"{LETTER}\n{found}\n")
    (first, second), added = ff.interactions(game).top(1)[0]
    print(f"The strongest pair: {first} and {second} add {added:.2f} to what they do alone.\n")

    game = ff.TextGame(model, LONG, output="complaint")
    in_sentences = ff.owen(game, game.unions)
    print(f"{LONG}\n{in_sentences}\n")
    print(
        f"From {in_sentences.evaluations:,} texts; all coalitions are {2 ** len(game.players):,}."
    )
    print("Most of a complaint:", ", ".join(in_sentences.ranking()[:3]))
    if picture:
        ff.plots.text(found).figure.savefig(picture)
        print(f"The letter in colours: {picture}")


if __name__ == "__main__":
    main(*sys.argv[1:])
