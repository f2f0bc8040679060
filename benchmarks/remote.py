"""Worths behind a service: pace, kills of the driver, cap on the money.

    python benchmarks/remote.py pace [calls]   # wall time beside calls ÷ rate
    python benchmarks/remote.py kills [count]  # kill -9 of the driver, again and again
    python benchmarks/remote.py spend [runs]   # random runs under a cap
    python benchmarks/remote.py coverage [runs]  # of 95 % intervals under noise, and repeats="auto"

A server on loopback answers (examples/chat_server.py); it notes every request and every answer, so what
was paid for is counted where it is paid. Errors beside other libraries: remote_errors.py. Results:
benchmarks/remote.md.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import httpx
import numpy as np

import fairfield as ff
from fairfield.core.coalitions import coalition_of
from fairfield.evaluation.store import read_answers_of

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from chat_server import KEY, ChatServer

PLAYERS = [f"d{i}" for i in range(12)]
WEIGHTS = {name: float(i + 1) for i, name in enumerate(PLAYERS)}


def answer(prompt, temperature, rng):
    return str(sum(WEIGHTS.get(name, 0.0) for name in prompt.split()) ** 2)


def asking(url, concurrency=16, **settings):
    client = httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {KEY}"})

    async def worth(names):
        messages = [{"role": "user", "content": " ".join(names)}]
        response = await client.post("/chat/completions", json={"messages": messages}, timeout=30)
        response.raise_for_status()
        return float(response.json()["choices"][0]["message"]["content"])

    return ff.RemoteGame(worth, PLAYERS, concurrency=concurrency, **settings)


def pace(calls=256):
    """12 documents, 0.2 s a call, 16 at a time, 2 % failures, 500 calls a minute."""
    with ChatServer(latency=0.2, per_minute=500, failures=0.02, answer=answer) as service:
        game = asking(service.url, per_minute=500)
        start = time.perf_counter()
        v = ff.shapley(game, budget=calls)
        wall = time.perf_counter() - start
    ideal = v.usage["calls"] / 500 * 60
    attempts = len(service.asked) / 500 * 60
    print(
        "| calls | failed attempts | refused by the server | wall (s) | calls ÷ rate (s) | ratio | attempts ÷ rate |"
    )
    print("|---|---|---|---|---|---|---|")
    print(
        f"| {v.usage['calls']} | {v.usage['retries']} | {service.refused} | {wall:.1f} | {ideal:.1f} "
        f"| {wall / ideal:.3f} | {wall / attempts:.3f} |"
    )


def drive(url, store):
    v = ff.shapley(asking(url, name="answers"), store=store)
    wanted = np.array(list(WEIGHTS.values())) * sum(WEIGHTS.values())
    assert np.allclose(v.values, wanted, rtol=1e-12), v.values


def committed(store):
    return {each.coalition for each in read_answers_of(store)[1]} if Path(store).exists() else set()


def kills(count=20):
    """All 4,096 worths of 12 players, the driver killed again and again, then left to finish."""
    rng = random.Random(0)
    keys = {}

    def key(prompt):
        if prompt not in keys:
            keys[prompt] = bytes(
                np.packbits(coalition_of(prompt.split(), PLAYERS), bitorder="little")
            )
        return keys[prompt]

    asked_again = done = 0
    with (
        ChatServer(latency=0.05, answer=answer) as service,
        tempfile.TemporaryDirectory() as folder,
    ):
        store = str(Path(folder) / "answers.db")
        command = [sys.executable, __file__, "drive", service.url, store]
        while True:
            before, held = len(service.asked), committed(store)
            driver = subprocess.Popen(command)
            if done < count:
                # So long that something is asked, so short that it is not all.
                while len(service.asked) == before and driver.poll() is None:
                    time.sleep(0.02)
                time.sleep(rng.uniform(0.05, 0.8))
                os.kill(driver.pid, signal.SIGKILL)
                done += 1
            code = driver.wait()
            time.sleep(0.2)  # what the server was at work on is answered, to nobody
            asked_again += sum(key(prompt) in held for prompt in service.asked[before:])
            if code == 0:
                break
        times = Counter(map(key, service.answered))
        stored = Counter(each.coalition for each in read_answers_of(store)[1])
        twice = sum(each - 1 for each in times.values())
        lost = len(service.answered) - sum(stored.values())
    print(
        "| kills | worths | stored once | stored, yet asked again | answered, not stored | calls that may be under way |"
    )
    print("|---|---|---|---|---|---|")
    once = sum(each == 1 for each in stored.values())
    print(
        f"| {done} | {len(stored)} | {once} | {asked_again} | {lost} ({twice} answered twice) | {16 * done} |"
    )


def spend(runs=200):
    """Random costs, caps, latencies and concurrency: by how much the cap was exceeded."""
    rng = np.random.default_rng(0)
    over, free, short = [], [], 0
    for _ in range(runs):
        concurrency, cap = int(rng.integers(1, 33)), float(rng.uniform(20, 200))
        known, lock = bool(rng.integers(2)), threading.Lock()
        costs = np.random.default_rng(int(rng.integers(2**32)))

        def worth(names, lock=lock, costs=costs, known=known):
            with lock:
                cost = 1.0 if known else float(costs.exponential())
                wait = float(costs.exponential(1e-3))
            time.sleep(wait)
            return ff.Worth(float(len(names)) ** 2, cost=cost)

        game = ff.RemoteGame(worth, 12, concurrency=concurrency, price=1.0 if known else None)
        try:
            used = ff.shapley(game, spend=cap).usage["cost"]
        except ff.WorthError:  # too little for any estimate
            short += 1
            continue
        (free if known else over).append((used - cap) / (concurrency if not known else 1.0))
    print("| price | runs | largest excess over the cap |")
    print("|---|---|---|")
    print(f"| known, 1 a call | {len(free)} | {max(free):+.3f} of a call |")
    print(
        f"| reported, exponential with mean 1 | {len(over)} | {max(over):+.3f} for each call that may be under way |"
    )
    print(f"\n{short} of {runs} runs had too little for an estimate, and said so.")


def coverage(runs=100):
    """How often 95 % intervals hold the exact value where every answer is noisy."""
    rng = np.random.default_rng(0)
    print("| players | repeats | answers | noise | coverage | mean standard error |")
    print("|---|---|---|---|---|---|")
    cases = (
        (6, 2, 128),
        (6, 4, 256),
        (6, "auto", 256),
        (10, 2, 256),
        (10, 4, 512),
        (10, "auto", 256),
    )
    every = {players: rng.uniform(0.5, 2, players) for players in (6, 10)}
    for players, repeats, answers in cases:
        weights = every[players]

        def clean(S, weights=weights):
            return np.sqrt(S @ weights)

        exact, inside, errors = ff.shapley(clean, players=players).values, [], []
        for run in range(runs):
            noise = np.random.default_rng(run)

            async def worth(names, weights=weights, noise=noise):
                return float(np.sqrt(sum(weights[name] for name in names)) + noise.normal(0, 0.1))

            game = ff.RemoteGame(worth, players, repeats=repeats, concurrency=4)
            budget = answers if repeats == "auto" else answers // repeats
            v = ff.shapley(game, budget=budget, seed=run, progress=False)
            inside.append(np.abs(v.values - exact) <= 1.96 * v.stderr)
            errors.append(v.stderr.mean())
        print(
            f"| {players} | {repeats} | {answers} | 0.1 | {np.mean(inside):.3f} "
            f"| {np.mean(errors):.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    tasks = {"pace": pace, "kills": kills, "spend": spend, "coverage": coverage}
    drive(*given) if what == "drive" else tasks[what](*map(int, given))
