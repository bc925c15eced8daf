"""A million calls with a believable spread: drawn hour by hour and trace by trace, without the database.

Days and nights, weekdays and weekends, a little growth; few skills have most of the calls, and each has failures,
times and costs of its own. The same seed and moment draw the same calls.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import accumulate
from random import Random

from governance.models.traces import Source
from governance.otlp.records import record_id
from portal.samples.bench_payloads import Attributes, Payload
from portal.samples.bench_runs import COLUMNS, FAILURES, Call, Lane, Profile, Run, Span, Trace

DAYS = 90
MOST_IN_TRACE = 12
TASKS = 0.2
# The share of a busy hour's calls, by the hour of the day (UTC), and of a weekday's, by the day of the week.
HOURS = (6, 5, 4, 4, 5, 9, 22, 48, 78, 95, 100, 96, 84, 92, 98, 94, 82, 62, 44, 32, 24, 17, 12, 8)
WEEK = (1.0, 1.04, 1.05, 1.0, 0.9, 0.34, 0.28)
MODELS = ("sonnet-4", "gpt-5-mini", "qwen3-32b")
_OUTCOME = COLUMNS.index("outcome")


def profile(random: Random, skills: Sequence[Profile]) -> list[float]:
    """Give each skill its ways, and answer how the calls spread over them (cumulative): a few have most of them."""
    places = list(range(1, len(skills) + 1))
    random.shuffle(places)
    for one in skills:
        one.failing = min(0.35, random.lognormvariate(-3.6, 0.9))
        one.typical_ms, one.spread = random.lognormvariate(6.3, 1.0), random.uniform(0.3, 0.9)
        one.tokens = int(random.lognormvariate(6.8, 0.6))
        one.stages = list(accumulate(weight * random.uniform(0.2, 2) for _, weight, _, _ in FAILURES))
    return list(accumulate(1 / place**1.1 for place in places))


def hourly(count: int, *, now: datetime) -> Iterator[tuple[datetime, int]]:
    """Each hour of the last 90 days and how many of the calls fall into it; the oldest first."""
    last = now.replace(minute=0, second=0, microsecond=0) - timedelta(hours=1)
    hours = [last - timedelta(hours=back) for back in reversed(range(DAYS * 24))]
    weights = [
        HOURS[at.hour] * WEEK[at.weekday()] * (0.7 + 0.3 * place / len(hours))
        for place, at in enumerate(hours)
    ]
    whole, reached, given = sum(weights), 0.0, 0
    for at, weight in zip(hours, weights, strict=True):
        reached += weight
        upto = round(count * reached / whole)
        yield at, upto - given
        given = upto


class Drawer:
    """Draws traces; `mark` sets ids apart from those of another seed."""

    def __init__(
        self,
        random: Random,
        *,
        skills: Sequence[Profile],
        lanes: Sequence[Lane],
        payloads: Mapping[str, Sequence[Payload]],
        attributes: Mapping[str, Sequence[Attributes]],
        canary_since: datetime,
        now: datetime,
    ) -> None:
        self.random, self.skills, self.lanes = random, skills, lanes
        self.payloads, self.attributes = payloads, attributes
        self.canary_since, self.now = canary_since, now
        self.popular = profile(random, skills)
        self.busy = list(accumulate(lane.weight for lane in lanes))
        self.sessions: dict[Lane, tuple[str, int]] = {}

    def draw(self, at: datetime, count: int) -> Iterator[Trace]:
        """The traces that begin in the hour, with so many calls together."""
        starts = sorted(self.random.random() * 3500 for _ in range(count))
        while count > 0:
            length = min(count, MOST_IN_TRACE, 1 + int(self.random.expovariate(0.42)))
            yield self._trace(at + timedelta(seconds=starts[len(starts) - count]), length)
            count -= length

    def _trace(self, at: datetime, length: int) -> Trace:
        random = self.random
        [lane] = random.choices(self.lanes, cum_weights=self.busy)
        otlp = lane.source == Source.OTLP
        trace_id = f"{random.getrandbits(128):032x}" if otlp else f"trace-{random.getrandbits(64):016x}"
        root = self.new_id(trace_id) if otlp else ""
        run = Run(self, lane, trace_id, self._session(lane), root, at)
        for n in range(length):
            run.call(left=length - n - 1)
        received = min(run.at + timedelta(seconds=random.uniform(0.2, 4)), self.now)
        trace = Trace(lane, received)
        trace.calls = [Call((*row, received), payload) for row, payload in run.calls]
        if otlp:
            trace.spans = self._context(run, at)
        if random.random() < TASKS:
            failed = any(call.row[_OUTCOME] == "error" for call in trace.calls[-1:])
            task = f"task-{random.getrandbits(64):016x}"
            trace.task = (task, not failed and random.random() < 0.95, int(failed))
        return trace

    def new_id(self, trace_id: str) -> str:
        """The id of a span, or of a call that was reported as one."""
        return record_id(trace_id, f"{self.random.getrandbits(64):016x}")

    def _session(self, lane: Lane) -> str:
        """Of one to three traces of an agent one after another."""
        name, left = self.sessions.get(lane, ("", 0))
        if not left:
            name, left = f"session-{self.random.getrandbits(64):016x}", self.random.randint(1, 3)
        self.sessions[lane] = (name, left - 1)
        return name

    def _context(self, run: Run, at: datetime) -> list[Span]:
        """The agent's own span around all, and turns of the model between the calls."""
        random, told = self.random, self.attributes[run.lane.model]
        whole = max(1, int((run.at - at).total_seconds() * 1000))
        begun = at + run.lane.skew
        around = Attributes("invoke_agent", '{"gen_ai.operation.name":"invoke_agent"}', ())
        spans = [Span((run.trace_id, run.root, ""), begun, whole, around)]
        for _ in range(random.randint(1, 3)):
            start = random.randrange(whole)
            ids = (run.trace_id, self.new_id(run.trace_id), run.root)
            took = random.randint(1, whole - start)
            spans.append(Span(ids, begun + timedelta(milliseconds=start), took, random.choice(told)))
        return spans
