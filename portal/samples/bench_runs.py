"""One trace of `bench_data` while it is drawn, and what it is drawn from: skills, agents, payloads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from math import exp
from typing import TYPE_CHECKING, Any
from uuid import UUID

from governance.models.traces import Source
from portal.samples.bench_payloads import Attributes, Payload

if TYPE_CHECKING:
    from portal.samples.bench_calls import Drawer

UNKNOWN = 0.01
# Stage, weight, codes, whether another try may help.
FAILURES: Sequence[tuple[str, int, tuple[str, ...], bool]] = (
    ("execution", 46, ("upstream_timeout", "rate_limited", "upstream_502", "upstream_5xx"), True),
    ("parameters", 22, ("schema_mismatch", "date_format", "enum_unknown"), False),
    ("output", 14, ("schema_mismatch", "truncated"), False),
    ("permission", 8, ("permission_denied", "scope_missing"), False),
    ("selection", 7, ("no_candidate", "wrong_skill"), False),
    ("intent", 3, ("ambiguous",), False),
)

# The columns of `Call` that are drawn, in this order; the key comes first when the row is written.
COLUMNS = (
    "agent_id", "environment_id", "source", "call_id", "trace_id", "parent_id", "session_id", "skill_id", "version_id",
    "skill_text", "version_text", "release_id", "arm", "kind", "attempt", "fallback_for", "replanned", "model", "outcome",
    "failed_stage", "error_code", "retryable", "started_at", "duration_ms", "input_tokens", "output_tokens", "cost",
    "currency", "cache_hit", "received_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Offer:
    """A version as an environment serves it; without a release it is not served there."""

    version_id: UUID
    text: str
    release_id: UUID | None
    arm: str


@dataclass(slots=True)
class Profile:
    """A skill and how its calls go; `offers` by environment, the candidate of a canary behind the stable version."""

    skill_id: UUID
    folder: str
    topic: str
    offers: Mapping[UUID, Sequence[Offer]]
    latest: Offer
    failing: float = 0.0
    typical_ms: float = 0.0
    spread: float = 0.0
    tokens: int = 0
    stages: Sequence[float] = ()


@dataclass(frozen=True, slots=True)
class Lane:
    """An agent in an environment: how it reports, how busy it is, and how far its clock is off."""

    agent_id: UUID
    environment_id: UUID
    source: Source
    weight: float
    model: str
    skew: timedelta = timedelta(0)


@dataclass(frozen=True, slots=True)
class Call:
    """A call: its values by `COLUMNS`, and what it carries."""

    row: tuple[Any, ...]
    payload: Payload


@dataclass(frozen=True, slots=True)
class Span:
    """A span of context: trace, span and parent, its start and length, and what it carries."""

    ids: tuple[str, str, str]
    started_at: datetime
    duration_ms: int
    told: Attributes


@dataclass(slots=True)
class Trace:
    """What an agent reported together, at `received_at` by the server's clock."""

    lane: Lane
    received_at: datetime
    calls: list[Call] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    # task_id, completed, replans
    task: tuple[str, bool, int] | None = None


class Run:
    """One trace while it is drawn: what was called last decides what comes next."""

    def __init__(
        self, drawer: Drawer, lane: Lane, trace_id: str, session: str, root: str, at: datetime
    ) -> None:
        self.drawer, self.random, self.lane = drawer, drawer.random, lane
        self.trace_id, self.session, self.root, self.at = trace_id, session, root, at
        self.calls: list[tuple[tuple[Any, ...], Payload]] = []
        self.skill: Profile | None = None
        self.kind, self.attempt, self.above, self.fallback_for = "", 1, "", ""
        self.again = False

    def call(self, *, left: int) -> None:
        """The next call, and what is to follow it; `left` says how many more the trace has room for."""
        skill = self._choose()
        random, called = self.random, self.kind == "called"
        failed = called and random.random() < skill.failing * (0.6 if self.attempt > 1 else 1)
        stage, code, retryable = self._failure(skill) if failed else ("", "", None)
        nameless = stage in {"intent", "selection"} and random.random() < 0.5
        known, offer, text, number = self._named(skill, nameless)
        took = self._duration(skill, code) if called else 0 if self._logs else random.randint(5, 90)
        payload = random.choice(self.drawer.payloads[skill.topic])
        call_id = self.drawer.new_id(self.trace_id) if self.root else f"call-{random.getrandbits(64):016x}"
        tokens = max(1, int(skill.tokens * random.uniform(0.6, 1.6))) if called else None
        row = (
            self.lane.agent_id, self.lane.environment_id, self.lane.source.value, call_id, self.trace_id,
            self.above or self.root, self.session, skill.skill_id if known else None,
            offer.version_id if offer else None, text, number, offer.release_id if offer else None,
            offer.arm if offer else "", self.kind, self.attempt, self.fallback_for, failed and random.random() < 0.1,
            self.lane.model, "error" if failed else "ok", stage, code, retryable, self.at + self.lane.skew, took,
            tokens, tokens and tokens // 5, tokens and Decimal(tokens * 3).scaleb(-6), "EUR" if tokens else "",
            random.random() < 0.12 if called else None,
        )  # fmt: skip
        self.calls.append((row, payload))
        self._follow(skill, call_id, took, tries=bool(failed and retryable and left), failed=failed)

    @property
    def _logs(self) -> bool:
        return self.lane.source == Source.LOGS

    def _choose(self) -> Profile:
        """Another skill, unless the last call is tried again or what was loaded is called now."""
        if self.skill and self.again:
            self.again = False
        elif self.skill and self.kind == "loaded" and not self._logs:
            self.kind = self.random.choices(("called", "resource", "script"), (80, 14, 6))[0]
        else:
            self.skill = self._any()
            self.attempt, self.fallback_for = 1, ""
            self.kind = "loaded" if self._logs or self.random.random() < 0.2 else "called"
        return self.skill

    def _any(self) -> Profile:
        [found] = self.random.choices(self.drawer.skills, cum_weights=self.drawer.popular)
        return found

    def _failure(self, skill: Profile) -> tuple[str, str, bool]:
        [(stage, _, codes, retryable)] = self.random.choices(FAILURES, cum_weights=skill.stages)
        # The first of a stage's codes is the usual one.
        return stage, codes[min(len(codes) - 1, int(self.random.expovariate(1.2)))], retryable

    def _named(self, skill: Profile, nameless: bool) -> tuple[bool, Offer | None, str, str]:
        """Whether the skill is known, which version it was, and both as the agent says them."""
        if nameless:
            return False, None, "", ""
        odd = self.random.random()
        if odd < UNKNOWN / 2:
            return False, None, f"home-grown-{int(odd * 4000)}", "0.1.0"
        if odd < UNKNOWN:
            return True, None, skill.folder, "0.0.9"
        offers = skill.offers.get(self.lane.environment_id) or (skill.latest,)
        offer = offers[0]
        if len(offers) > 1 and self.at >= self.drawer.canary_since and self.random.random() < 0.2:
            offer = offers[1]
        return True, offer, skill.folder, offer.text

    def _duration(self, skill: Profile, code: str) -> int:
        if code == "upstream_timeout":
            return 30_000 + int(self.random.random() * 40)
        ms = skill.typical_ms * exp(self.random.gauss(0, skill.spread))
        return max(1, min(600_000, int(ms)))

    def _follow(self, skill: Profile, call_id: str, took: int, *, tries: bool, failed: bool) -> None:
        """Time goes on; a call may have others below it, a failed one is tried again or another stands in."""
        self.at += timedelta(milliseconds=took + self.random.uniform(20, 1500))
        self.above = call_id if self.kind == "called" and not failed and self.random.random() < 0.15 else ""
        if not tries:
            return
        if self.attempt < 3 and self.random.random() < 0.7:
            self.attempt, self.again = self.attempt + 1, True
        elif self.random.random() < 0.5:
            self.skill, self.fallback_for = self._any(), self.fallback_for or skill.folder
            self.attempt, self.kind, self.again = 1, "called", True
