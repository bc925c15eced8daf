"""Two days of sample calls, drawn from the plan with a fixed seed and reported as agents report them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from random import Random
from typing import Any

from catalog.models import Agent, Environment, Version
from governance.models import ReadCount
from governance.models.traces import Source
from governance.traces import MOST_CALLS, ingest
from portal.samples.surroundings import end_of, surround

HOURS = 48
POLLS_AN_HOUR = 12
SEED = 20
# Reports by OpenTelemetry, with what is around its calls.
SURROUNDED = "helpdesk-bot"


class Calls:
    """Draws calls; the same plan and seed give the same calls, shifted to end at `now`."""

    def __init__(self, plan: Mapping[str, Any], now: datetime) -> None:
        self.plan, self.now = plan, now
        self.random = Random(SEED)
        self.n = 0

    def report(self) -> int:
        """Write every call, task and counter; answers how many calls."""
        batches: dict[tuple[str, str], list[dict[str, Any]]] = {}
        for row in self.plan["calls"]:
            batches.setdefault((row["agent"], row["environment"]), []).extend(self.draw(row))
        written = 0
        for (agent, environment), calls in batches.items():
            who = Agent.objects.get(name=agent).pk
            where = Environment.objects.get(name=environment).pk
            tasks = self.draw_tasks(agent) if environment == "production" else []
            spans = surround(calls, agent) if agent == SURROUNDED else {}
            for at, batch in self.by_the_hour(calls):
                around = [span for call in batch for span in spans.pop(call["trace_id"], ())]
                done = ingest(
                    calls=batch,
                    tasks=tasks,
                    spans=around,
                    agent_id=who,
                    environment_id=where,
                    source=Source.OTLP if agent == SURROUNDED else Source.REST,
                    now=at,
                )
                written, tasks = written + done.accepted, []
                if done.rejected:
                    raise ValueError(f"A sample call is rejected: {done.rejected[0]}")
        self.count_reads()
        return written

    def by_the_hour(self, calls: Sequence[dict[str, Any]]) -> Iterator[tuple[datetime, list[dict[str, Any]]]]:
        """The calls as they come in: those of an hour together, soon after the last of them ended."""
        hours: dict[datetime, list[dict[str, Any]]] = {}
        for call in sorted(calls, key=end_of):
            hours.setdefault(end_of(call).replace(minute=0, second=0, microsecond=0), []).append(call)
        for batch in hours.values():
            at = min(self.now, end_of(batch[-1]) + timedelta(seconds=2))
            for first in range(0, len(batch), MOST_CALLS):
                yield at, batch[first : first + MOST_CALLS]

    def draw(self, row: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """The calls of one row, with their retries, children and reads."""
        trace, left = "", 0
        for n in range(row["count"]):
            if left == 0:
                trace, left = self.new_id("trace"), self.random.randint(1, self.plan["calls_per_trace"])
            left -= 1
            call = self.call(row, row["examples"][n % len(row["examples"])], trace)
            yield from self.reads(row, call, n)
            yield call
            yield from self.retries(row, call)
            yield from self.children(row, call)

    def call(self, row: Mapping[str, Any], example: Mapping[str, Any], trace: str) -> dict[str, Any]:
        """One call of the kind `called`."""
        at = self.moment(row["hours"])
        part = self.part_of(row, at)
        failed = self.random.random() >= part["ok"]
        call = {
            "call_id": self.new_id("call"),
            "trace_id": trace,
            "session_id": f"session-{trace[-6:]}",
            "skill": row["skill"],
            "version": self.weighted(row.get("versions") or {"": 1}),
            "kind": "called",
            "model": row["model"],
            "user_intent": example["user_intent"],
            "candidates": row["candidates"],
            "selection_reason": row["selection_reason"],
            "parameters": example.get("parameters"),
            "output": None if failed else example.get("output"),
            "outcome": "ok",
            "started_at": at.isoformat(),
            "duration_ms": self.duration(part["ms"]),
            "input_tokens": self.about(row["tokens"][0]),
            "output_tokens": self.about(row["tokens"][1]),
            "cost": row["cost"],
            "currency": self.plan["currency"],
            "cache_hit": self.random.random() < row.get("cache_hits", 0),
        }
        if failed:
            self.fail(call, part["failures"])
        call["spans"] = self.spans(row, call["duration_ms"])
        return call

    def fail(self, call: dict[str, Any], failures: Sequence[Mapping[str, Any]]) -> None:
        """Give the call one of the failures, by weight."""
        failure = self.random.choices(failures, [one["weight"] for one in failures])[0]
        call |= {
            "outcome": "error",
            "failed_stage": failure["stage"],
            "error_code": failure["code"],
            "retryable": failure["retryable"],
            "replanned": bool(failure.get("replanned")),
        }

    def retries(self, row: Mapping[str, Any], first: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Further attempts of a failed call, and what stands in for it at last."""
        failure = next((f for f in row["failures"] if f["code"] == first.get("error_code")), None)
        if failure is None:
            return
        call = first
        for attempt in range(2, 2 + failure.get("retries", 0)):
            call = {**call, **self.after(call), "call_id": self.new_id("call"), "attempt": attempt}
            if self.random.random() < failure.get("recovers", 0):
                yield {**call, **RECOVERED, "output": row["examples"][0].get("output")}
                return
            yield call
        if failure.get("fallback"):
            stand_in = {
                "skill": failure["fallback"],
                "version": "",
                "fallback_for": row["skill"],
                "attempt": 1,
            }
            yield {**call, **self.after(call), **RECOVERED, **stand_in, "call_id": self.new_id("call")}

    def children(self, row: Mapping[str, Any], parent: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Calls of another skill under this one."""
        below = row.get("children")
        if not below:
            return
        for n in range(self.random.randint(*below["each"])):
            start = datetime.fromisoformat(parent["started_at"]) + timedelta(milliseconds=300 + n * 900)
            yield {
                **{key: parent[key] for key in ("trace_id", "session_id", "model", "currency")},
                "call_id": self.new_id("call"),
                "parent_id": parent["call_id"],
                "skill": below["skill"],
                "version": str(below["version"]),
                "user_intent": parent["user_intent"],
                "outcome": "ok",
                "started_at": start.isoformat(),
                "duration_ms": self.duration((700, 1500)),
            }

    def reads(self, row: Mapping[str, Any], call: dict[str, Any], n: int) -> Iterator[dict[str, Any]]:
        """What was loaded and read before the call: the first calls of a row have it."""
        reads = row.get("reads") or {}
        kinds = [("loaded", "", reads.get("loaded", 0))]
        kinds += [("resource", path, count) for path, count in (reads.get("resource") or {}).items()]
        kinds += [("script", path, count) for path, count in (reads.get("script") or {}).items()]
        at = datetime.fromisoformat(call["started_at"])
        for place, (kind, path, count) in enumerate(kinds):
            if n < count:
                yield {
                    **{key: call[key] for key in ("trace_id", "session_id", "skill", "version", "model")},
                    "call_id": self.new_id("call"),
                    "kind": kind,
                    "parameters": {"path": path} if path else None,
                    "outcome": "ok",
                    "started_at": (at - timedelta(milliseconds=900 - 150 * place)).isoformat(),
                    "duration_ms": self.random.randint(8, 60),
                }

    def spans(self, row: Mapping[str, Any], duration: int) -> list[dict[str, Any]]:
        """The waterfall: shares of the duration as milliseconds."""
        ids = {span["name"]: f"s{n}" for n, span in enumerate(row.get("spans") or (), start=1)}
        return [
            {
                "span_id": ids[span["name"]],
                "parent_id": ids.get(span.get("under", ""), ""),
                "name": span["name"],
                "start_ms": round(span["start"] * duration),
                "duration_ms": round(span["length"] * duration),
                "attributes": span.get("attributes", {}),
            }
            for span in row.get("spans") or ()
        ]

    def draw_tasks(self, agent: str) -> list[dict[str, Any]]:
        """The outcomes of the agent's tasks."""
        return [
            {
                "task_id": self.new_id("task"),
                "completed": self.random.random() < row["completed"],
                "calls": self.random.randint(*row["calls"]),
                "replans": self.random.randint(*row["replans"]),
            }
            for row in self.plan["tasks"]
            if row["agent"] == agent
            for _ in range(row["count"])
        ]

    def count_reads(self) -> None:
        """Hourly counters of the feed, for the agents that poll it."""
        pairs = {(r["agent"], r["environment"], r["skill"]): r for r in self.plan["calls"] if r["skill"]}
        counts = []
        for (agent, environment, skill), row in sorted(pairs.items()):
            who, where = Agent.objects.get(name=agent), Environment.objects.get(name=environment)
            version = Version.objects.get(skill__folder=skill, version=max(map(str, row["versions"])))
            for hour in range(HOURS):
                at = (self.now - timedelta(hours=hour)).replace(minute=0, second=0, microsecond=0)
                served = {"hour": at, "environment": where, "agent": who, "version": version}
                loads = row["reads"]["loaded"] * 2 // HOURS if 7 <= at.hour <= 20 else 0
                for read, count in (("advertised", POLLS_AN_HOUR), ("loaded", loads)):
                    if count:
                        counts.append(ReadCount(**served, skill_id=version.skill_id, read=read, count=count))
        ReadCount.objects.bulk_create(counts, ignore_conflicts=True)

    def part_of(self, row: Mapping[str, Any], at: datetime) -> Mapping[str, Any]:
        """The figures at that time: those of the row, or of its peak."""
        peak = row.get("peak")
        hours = (self.now - at).total_seconds() / 3600
        return {**row, **peak} if peak and peak["to_hours_ago"] <= hours <= peak["from_hours_ago"] else row

    def moment(self, hours: Sequence[int]) -> datetime:
        """A time in the last two days, in these hours of the day nine times of ten."""
        while True:
            at = self.now - timedelta(seconds=self.random.uniform(60, HOURS * 3600))
            if hours[0] <= at.hour < hours[1] or self.random.random() < 0.02:
                return at

    def after(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """When a further attempt begins."""
        start = datetime.fromisoformat(call["started_at"]) + timedelta(milliseconds=call["duration_ms"] + 500)
        return {"started_at": start.isoformat()}

    def duration(self, ms: Sequence[int]) -> int:
        """Milliseconds around the typical value; one of twenty lies above the second."""
        typical, high = ms
        spread = (high - typical) / typical / 1.7
        return max(1, round(typical * self.random.lognormvariate(0, min(0.9, spread))))

    def about(self, value: int) -> int:
        """The value, give or take a fifth."""
        return round(value * self.random.uniform(0.8, 1.2))

    def weighted(self, shares: Mapping[Any, float]) -> str:
        """One of the keys, by its share."""
        return str(self.random.choices(list(shares), list(shares.values()))[0])

    def new_id(self, kind: str) -> str:
        """An id that no other has."""
        self.n += 1
        return f"{kind}-{self.random.getrandbits(48):012x}{self.n:05d}"


RECOVERED: Mapping[str, Any] = {
    "outcome": "ok",
    "failed_stage": None,
    "error_code": None,
    "retryable": None,
    "replanned": False,
}
