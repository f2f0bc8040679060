"""What calls cost, and how many more the cap on it allows: the one place where money is counted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from fairfield.core.service import Worth

# Prices rarely are round numbers in binary, so a sum of them may exceed the cap by so much.
ROUNDING = 1 + 1e-12


@dataclass
class Purse:
    """The money of one run: ``spend`` is what it may cost, ``price`` the cost of what reports none.

    Where that is shared out, ``share`` is how far it may be spent now, while so many later calls are
    set ``aside``.

    A call under way, and an attempt that was given up while the service was at work on it, may each
    cost as much as the dearest answer so far. The driver adds to what is ``under_way`` before calls
    begin, and takes from it only after they are paid; so the thread of the calls, which asks whether
    all of it still ``fits`` before each attempt, never sees too little.
    """

    spend: float | None = None
    price: float | None = None
    # What answers of this run cost, and those of earlier ones in the store.
    paid: float = 0.0
    paid_before: float = 0.0
    under_way: int = 0
    abandoned: int = 0
    abandoned_before: int = 0
    # Paid answers that are of no use, and so not kept.
    useless: int = 0

    def __post_init__(self) -> None:
        self.share, self.aside = inf, 0
        self.dearest = self.price or 0.0
        # Whether an answer of this run, or of an earlier one, did not say what it cost.
        self._unknown = self._unknown_before = False

    @property
    def cost(self) -> float:
        """What this run cost: an attempt that was given up may yet be charged."""
        return self.paid + self.abandoned * self.dearest

    @property
    def lost(self) -> int:
        """How many attempts later runs are to count as paid, though no answer of them is kept."""
        return self.abandoned + self.useless

    @property
    def before(self) -> float:
        """What earlier runs cost."""
        return self.paid_before + self.abandoned_before * self.dearest

    @property
    def spent(self) -> float:
        """What was spent of the cap."""
        return self.before + self.cost

    def priced(self, worth: Worth) -> Worth:
        """An answer with the price as its cost, where it reports none."""
        return replace(worth, cost=self.price) if worth.cost is None else worth

    def pay(self, worth: Worth, *, earlier: bool = False) -> Worth:
        """Count what an answer cost, of this run or of an earlier one; returns it priced."""
        worth = self.priced(worth)
        cost = worth.cost or 0.0
        self.dearest = max(self.dearest, cost)
        if earlier:
            self.paid_before += cost
            self._unknown_before |= worth.cost is None
        else:
            self.paid += cost
            self._unknown |= worth.cost is None
        return worth

    def room(self, most: int) -> int:
        """How many of so many further calls the money allows."""
        return int(max(0, min(most, self._allowed() - self.under_way)))

    def fits(self) -> bool:
        """Whether all that is under way can be paid."""
        return self.under_way <= self._allowed()

    def _allowed(self) -> float:
        """How many calls may be under way."""
        if self.spend is None:
            return inf
        most = min(self.share, self.spend - self.aside * self.dearest)
        left = most * ROUNDING - self.spent
        if self._unknown or left <= 0:
            return 0
        return int(left / self.dearest) if self.dearest else inf

    def doubt(self, ended: str | None) -> str:
        """What to say of a cap of which nobody knows whether it was kept; empty where that is known.

        So it is where what ``ended`` the run has said it.
        """
        if self.spend is None or not (self._unknown or self._unknown_before):
            return ""
        if self._unknown and ended == self.sentence():
            return ""
        whose = "an answer" if self._unknown else "an answer of an earlier run"
        return (
            f"whether spend={self.spend:g} was kept is not known, since {whose} did not say what it "
            "cost; return ff.Worth(value, cost=…), or give the game a price="
        )

    def sentence(self) -> str:
        """Why no further call is made."""
        if self._unknown:
            return (
                f"spend={self.spend:g} cannot be kept, since an answer did not say what it cost; "
                "return ff.Worth(value, cost=…), or give the game a price="
            )
        if self.share < (self.spend or 0.0) or self.aside:
            return f"used its share of spend={self.spend:g}"
        of_it = "was" if self.before > (self.spend or 0.0) * ROUNDING else "of it"
        earlier = f", {self.before:.6g} {of_it} spent before" if self.before else ""
        return f"spend={self.spend:g} allows no further call{earlier}"
