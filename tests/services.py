"""A game behind a real server on loopback, for tests."""

import httpx
from chat_server import KEY, ChatServer

import fairfield as ff

WEIGHTS = {"ann": 3.0, "bob": 1.0, "cid": 4.0, "dan": 1.5, "eve": 5.0, "fay": 9.0}
WEIGHTS |= {f"p{i}": float(i) for i in range(12)}


def total(prompt, temperature, rng):
    """The server's answer: the squared weight of the names in the prompt, with noise if warm."""
    return str(
        sum(WEIGHTS.get(name, 0.0) for name in prompt.split()) ** 2 + temperature * rng.gauss(0, 1)
    )


def truth(names):
    return sum(WEIGHTS[name] for name in names) ** 2


def server(**settings):
    return ChatServer(**{"latency": 0.0, "answer": total, **settings})


def read(response):
    response.raise_for_status()
    body = response.json()
    text, used = body["choices"][0]["message"]["content"], sum(body["usage"].values())
    return ff.Worth(float(text), cost=0.01, tokens=used, record={"text": text})


def message(names, temperature=0.0):
    content = " ".join(map(str, names))
    return {"messages": [{"role": "user", "content": content}], "temperature": temperature}


def asking(service, key=KEY, temperature=0.0):
    """An async worth function that asks this server."""
    client = httpx.AsyncClient(base_url=service.url, headers={"Authorization": f"Bearer {key}"})

    async def worth(names):
        return read(await client.post("/chat/completions", json=message(names, temperature)))

    return worth


def asking_in_threads(service, key=KEY):
    """The same, with a client that is not async."""
    client = httpx.Client(base_url=service.url, headers={"Authorization": f"Bearer {key}"})
    return lambda names: read(client.post("/chat/completions", json=message(names)))
