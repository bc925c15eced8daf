"""The plan of a gray release: to how many callers, to which of them, in which steps, under which guard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

LONGEST_SOAK = 30 * 24 * 60
LONGEST_NAME = 64
MOST_NAMES = 100


@dataclass(frozen=True, slots=True)
class Guard:
    """What the numbers of the candidate must keep to (spec 4.4); None is not looked at.

    `max_error_rate` is a share from 0 to 1, `max_p95_ms` milliseconds, `min_calls` how many calls it
    takes before anything is concluded.
    """

    max_error_rate: float | None = None
    max_p95_ms: int | None = None
    min_calls: int | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    """How a release is served: to `percent` of the callers first, then to each of `steps`.

    The callers in the cohort (`agents` by name, `teams` by slug, `tags` of agents) are served the
    candidate whatever the percentage. `soak_minutes` is how long each step lasts.
    """

    percent: int = 100
    steps: tuple[int, ...] = ()
    soak_minutes: int = 0
    guard: Guard | None = None
    agents: tuple[str, ...] = ()
    teams: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def has_cohort(self) -> bool:
        """Whether some callers are named."""
        return bool(self.agents or self.teams or self.tags)

    def next_step(self, percent: int) -> int | None:
        """The first step above `percent`, None where there is none."""
        return next((step for step in self.steps if step > percent), None)

    def as_json(self) -> dict[str, Any]:
        """The plan as a release keeps it and the API tells it; empty for all callers at once."""
        if self == Plan(soak_minutes=self.soak_minutes):
            return {}
        told = asdict(self)
        if not self.steps:
            del told["soak_minutes"]
        return {name: value for name, value in told.items() if value not in (None, ())}


class PlanWrong(Exception):
    """The plan cannot be kept to; `errors` has a sentence by the name of each field."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(" ".join(errors.values()))
        self.errors = errors


def plan_of(stored: Mapping[str, Any]) -> Plan:
    """The plan that `as_json` made."""
    guard = stored.get("guard")
    return Plan(
        percent=stored.get("percent", 100),
        steps=tuple(stored.get("steps", ())),
        soak_minutes=stored.get("soak_minutes", 0),
        guard=Guard(**guard) if guard else None,
        agents=tuple(stored.get("agents", ())),
        teams=tuple(stored.get("teams", ())),
        tags=tuple(stored.get("tags", ())),
    )


def read_plan(sent: Mapping[str, Any], *, least_soak: int) -> Plan:
    """The plan that somebody sent (contract, Releases); `least_soak` is the environment's, in minutes.

    Raises PlanWrong with every field that is wrong.
    """
    reader = _Reader(sent)
    steps = reader.steps()
    cohort = {name: reader.names(name) for name in ("agents", "teams", "tags")}
    percent = reader.percent(steps, any(cohort.values()))
    plan = Plan(
        percent=percent, steps=steps, soak_minutes=reader.soak(least_soak), guard=reader.guard(), **cohort
    )
    reader.refuse_unknown()
    if reader.errors:
        raise PlanWrong(reader.errors)
    return plan


class _Reader:
    """Reads the fields of a plan and gathers what is wrong with each."""

    def __init__(self, sent: Mapping[str, Any]) -> None:
        self.sent = sent
        self.errors: dict[str, str] = {}

    def percent(self, steps: tuple[int, ...], has_cohort: bool) -> int:
        value = self.sent.get("percent")
        if value is None:
            return steps[0] if steps else 0 if has_cohort else 100
        least = 0 if has_cohort else 1
        if not _is_whole(value, least, 100):
            self.errors["percent"] = f"percent is not a whole number from {least} to 100."
            return 100
        if steps and value != steps[0]:
            self.errors["percent"] = f"percent is {value}; the first of the steps is {steps[0]}."
        return int(value)

    def steps(self) -> tuple[int, ...]:
        value = self.sent.get("steps")
        if value is None or value == []:
            return ()
        if not isinstance(value, list) or not all(_is_whole(one, 1, 100) for one in value):
            self.errors["steps"] = "steps is not a list of whole numbers from 1 to 100."
        elif value != sorted(set(value)):
            self.errors["steps"] = "steps do not rise, each above the one before."
        else:
            return tuple(value)
        return ()

    def soak(self, least: int) -> int:
        value = self.sent.get("soak_minutes")
        if value is None:
            return least
        if not _is_whole(value, 0, LONGEST_SOAK):
            self.errors["soak_minutes"] = f"soak_minutes is not a whole number from 0 to {LONGEST_SOAK}."
        elif value < least:
            self.errors["soak_minutes"] = (
                f"soak_minutes is {value}; a step lasts at least {least} minutes here."
            )
        else:
            return int(value)
        return least

    def guard(self) -> Guard | None:
        value = self.sent.get("guard")
        if value is None or value == {}:
            return None
        if not isinstance(value, Mapping):
            self.errors["guard"] = "guard is not an object."
            return None
        unknown = sorted(set(value) - {"max_error_rate", "max_p95_ms", "min_calls"})
        if unknown:
            self.errors["guard"] = f"guard.{unknown[0]} is unknown."
        rate, slow, calls = (value.get(name) for name in ("max_error_rate", "max_p95_ms", "min_calls"))
        if rate is not None and not (_is_number(rate) and 0 <= rate <= 1):
            self.errors["guard.max_error_rate"] = "guard.max_error_rate is not a number from 0 to 1."
        if slow is not None and not _is_whole(slow, 1, 86_400_000):
            self.errors["guard.max_p95_ms"] = "guard.max_p95_ms is not a whole number of milliseconds."
        if calls is not None and not _is_whole(calls, 1, 1_000_000_000):
            self.errors["guard.min_calls"] = "guard.min_calls is not a whole number from 1."
        if self.errors or (rate, slow, calls) == (None, None, None):
            return None
        return Guard(rate, slow, calls)

    def names(self, name: str) -> tuple[str, ...]:
        value = self.sent.get(name)
        if value is None:
            return ()
        if not isinstance(value, list) or len(value) > MOST_NAMES or not all(map(_is_name, value)):
            self.errors[name] = f"{name} is not a list of at most {MOST_NAMES} names."
            return ()
        return tuple(dict.fromkeys(value))

    def refuse_unknown(self) -> None:
        known = {"percent", "steps", "soak_minutes", "guard", "agents", "teams", "tags"}
        for name in sorted(str(one)[:80] for one in set(self.sent) - known):
            self.errors[name] = f"canary.{name} is unknown; there are {', '.join(sorted(known))}."


def _is_whole(value: object, least: int, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_name(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= LONGEST_NAME and value.isprintable()
