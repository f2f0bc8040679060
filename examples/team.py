"""Which agents of a team carried the result? Values of the roles in a pipeline of model calls.

Each agent is a call of a chat service that is given its role and the draft so far, and returns the
next draft. The worth of a team is the number of good paragraphs in what it hands in, less what is
wrong with them; with k agents it is k calls, whose costs and tokens add up in one ff.Worth. The
service is a small one on this machine, whose agents follow rules, now and then not quite.
"""

import httpx
from chat_server import KEY, ChatServer

import fairfield as ff

AGENTS = ["planner", "researcher", "writer", "critic", "cheerleader"]
TOPICS = ["bridges", "canals", "tunnels", "harbours"]


def act(prompt, temperature, rng):
    """What an agent of the service makes of a draft: lines of plan, facts and paragraphs."""
    role, _, draft = prompt.partition("\n")
    lines = [line for line in draft.splitlines() if line]
    planned = [line[6:] for line in lines if line.startswith("plan: ")]
    facts = [line[6:] for line in lines if line.startswith("fact: ")]
    if role == "planner":
        lines += [f"plan: {topic}" for topic in TOPICS]
    elif role == "researcher":  # without a plan, only what comes to mind
        lines += [f"fact: {topic}" for topic in planned or TOPICS[:1]]
    elif role == "writer":  # without facts, words only; now and then a mistake
        lines += [
            f"text: {topic}{' (wrong)' if rng.random() < 0.4 + temperature else ''}"
            for topic in facts
        ] or ["text: words (wrong)"]
    elif role == "critic":
        lines = [line.replace(" (wrong)", "") for line in lines if line != "text: words (wrong)"]
    return "\n".join(lines)


def quality(draft):
    texts = [line for line in draft.splitlines() if line.startswith("text: ")]
    return sum(-0.5 if "(wrong)" in text else 1.0 for text in texts)


def team(url):
    client = httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {KEY}"})

    async def hand_in(names):
        draft, tokens = "", 0
        for name in names:
            messages = [{"role": "system", "content": name}, {"role": "user", "content": draft}]
            response = await client.post("/chat/completions", json={"messages": messages})
            response.raise_for_status()
            found = response.json()
            draft = found["choices"][0]["message"]["content"]
            tokens += sum(found["usage"].values())
        return ff.Worth(quality(draft), cost=2e-6 * tokens, tokens=tokens, record={"draft": draft})

    return ff.RemoteGame(hand_in, AGENTS, repeats=8, concurrency=16, empty=0.0)


def main():
    with ChatServer(latency=0.001, answer=act, failures=0.01) as service:
        game = team(service.url)
        v = ff.shapley(game)
        print(v)
        print("Carried the result:", ", ".join(v.ranking()[:3]))
        gap = v.difference("writer", "cheerleader")
        print(
            f"The writer is worth {gap.value:.2f} more than the cheerleader, {gap.low:.2f} to {gap.high:.2f}."
        )


if __name__ == "__main__":
    main()
