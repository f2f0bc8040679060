"""Which documents carried this answer? Shapley values of the context of a language model.

Without further ado it asks a small service on this machine. Against a real one:

    CHAT_URL=https://…/v1 CHAT_API_KEY=… CHAT_MODEL=… python examples/documents.py

The worth of a set of documents is the share of eight facts that the answer contains. Twelve documents
are valued exactly, from 4,096 answers; of sixty the best five are separated from the others.
"""

import os
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

import httpx
from chat_server import KEY, ChatServer

import fairfield as ff

QUESTIONS = """Questions: Who built the Larkfield observatory? When did the Larkfield observatory
open? How wide is the mirror of the telescope? Which comet was found at Larkfield? Who drew it
first, night by night? How many visitors come each year? What does a ticket cost? Why does the road close in winter?"""
FACTS = ["Ada Quill", "1911", "two metres", "Harrow", "Tomas Ley", "40,000", "six crowns", "snow"]
DOCUMENTS = {
    "rumours": "Some say that the Larkfield observatory did open in 1899.",
    "history": "The Larkfield observatory was built by Ada Quill. The Larkfield observatory did open in 1911.",
    "old prices": "A ticket does cost four crowns, said the sign of 1950.",
    "visitors": "Each year 40,000 visitors come. A ticket does cost six crowns.",
    "telescope": "The mirror of the telescope is two metres wide. It was ground by hand.",
    "comets": "The comet found at Larkfield was Harrow. Night by night Tomas Ley drew it first.",
    "road": "In winter the road does close for snow.",
    "chronicle": "Of all who built observatories, Ada Quill built the one at Larkfield.",
    "diary": "Tomas Ley found no sleep in those weeks. He drew the sky.",
    "village": "The village below lives by its orchards. Its fair is held in May.",
    "library": "The library has 3,000 volumes. Most of them are star charts.",
    "staff": "Nine people work there. Two of them live in the tower.",
}


def more_documents(count):
    """Documents that answer nothing that is asked."""
    crafts = ["baker", "smith", "tailor", "potter", "weaver", "cooper", "glazier", "miller"]
    towns = ["Ashby", "Birling", "Cotham", "Denby", "Elmdon", "Farley", "Girton", "Hadley"]
    texts = [
        f"The {craft} of {town} has a shop by the river." for town in towns for craft in crafts
    ]
    return {f"note {i}": text for i, text in enumerate(texts[:count])}


def game_of(documents, url, key, model, **settings):
    """The game whose players are documents."""
    client = httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"})

    async def share_of_facts(names):
        # The questions are always there; they are no player.
        *context, asked = [documents[name] for name in names if name in documents] + [QUESTIONS]
        content = "\n".join(["Answer from these documents.", *context, asked])
        body = {"model": model, "messages": [{"role": "user", "content": content}]}
        response = await client.post("/chat/completions", json=body, timeout=60)
        response.raise_for_status()
        found = response.json()
        text, used = found["choices"][0]["message"]["content"], found["usage"]
        tokens = used["prompt_tokens"] + used["completion_tokens"]
        return ff.Worth(
            judge({"answer": text}), cost=2e-6 * tokens, tokens=tokens, record={"answer": text}
        )

    return ff.RemoteGame(
        share_of_facts, documents, always=["questions"], concurrency=16, timeout=60, **settings
    )


def judge(record):
    return sum(fact in record["answer"] for fact in FACTS) / len(FACTS)


def strict(record):
    """Another judge: all or nothing."""
    return float(judge(record) == 1)


def main(few=12, many=60, latency=0.002):
    url = os.environ.get("CHAT_URL")
    local = nullcontext() if url else ChatServer(latency=latency, failures=0.02)
    with local as service, tempfile.TemporaryDirectory() as folder:
        where = (
            (url, os.environ["CHAT_API_KEY"], os.environ.get("CHAT_MODEL", ""))
            if url
            else (service.url, KEY, "local")
        )
        documents = dict(list(DOCUMENTS.items())[:few])
        store = Path(folder) / "answers.db"
        game = game_of(documents, *where, price=2e-4)
        print("It would take", ff.quote(game, "shapley"))
        v = ff.shapley(game, store=store)
        print(v)
        print("Judged all or nothing, without a single call:")
        print(ff.shapley(ff.rescore(store, strict)))
        documents = {**DOCUMENTS, **more_documents(many - len(DOCUMENTS))}
        v = ff.shapley(game_of(documents, *where), tolerance=ff.separate_top(5), budget=4000)
        print(v)
        print("The five documents that carried the answer:", ", ".join(v.ranking()[:5]))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
