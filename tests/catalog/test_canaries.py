"""The plan of a gray release: what is taken, what is refused and how that is said, and how it is kept."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catalog.canaries import Guard, Plan, PlanWrong, plan_of, read_plan
from catalog.cohorts import check_cohort
from tests import make

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 200) | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
FIELDS = ("percent", "steps", "soak_minutes", "guard", "agents", "teams", "tags")


@pytest.mark.parametrize(
    ("sent", "plan"),
    [
        ({}, Plan(soak_minutes=60)),
        ({"percent": None, "steps": None, "guard": None, "agents": None}, Plan(soak_minutes=60)),
        ({"percent": 100}, Plan(soak_minutes=60)),
        ({"percent": 1}, Plan(percent=1, soak_minutes=60)),
        ({"steps": []}, Plan(soak_minutes=60)),
        ({"steps": [5, 25]}, Plan(percent=5, steps=(5, 25), soak_minutes=60)),
        ({"steps": [5, 25], "percent": 5}, Plan(percent=5, steps=(5, 25), soak_minutes=60)),
        ({"percent": 5, "soak_minutes": 43_200}, Plan(percent=5, soak_minutes=43_200)),
        ({"agents": ["desk", "desk"]}, Plan(percent=0, agents=("desk",), soak_minutes=60)),
        ({"tags": ["beta"], "percent": 0}, Plan(percent=0, tags=("beta",), soak_minutes=60)),
        ({"teams": ["qa"], "percent": 7}, Plan(percent=7, teams=("qa",), soak_minutes=60)),
        ({"teams": ["qa"], "steps": [3]}, Plan(percent=3, steps=(3,), teams=("qa",), soak_minutes=60)),
        ({"percent": 5, "guard": {}}, Plan(percent=5, soak_minutes=60)),
        ({"percent": 5, "guard": {"min_calls": None}}, Plan(percent=5, soak_minutes=60)),
        (
            {"percent": 5, "guard": {"max_error_rate": 0.05, "max_p95_ms": 900, "min_calls": 50}},
            Plan(percent=5, guard=Guard(0.05, 900, 50), soak_minutes=60),
        ),
        (
            {"percent": 5, "guard": {"max_error_rate": 0}},
            Plan(percent=5, guard=Guard(max_error_rate=0), soak_minutes=60),
        ),
    ],
)
def test_what_is_taken(sent: dict[str, Any], plan: Plan) -> None:
    assert read_plan(sent, least_soak=60) == plan


STEPS = "steps is not a list of whole numbers from 1 to 100."
RISE = "steps do not rise, each above the one before."
LIST = "{} is not a list of at most 100 names."


@pytest.mark.parametrize(
    ("sent", "field", "told"),
    [
        *(
            ({"percent": value}, "percent", "percent is not a whole number from 1 to 100.")
            for value in (0, -1, 101, "5", 5.0, True, [5], float("nan"))
        ),
        ({"tags": ["x"], "percent": -1}, "percent", "percent is not a whole number from 0 to 100."),
        ({"percent": 6, "steps": [5, 25]}, "percent", "percent is 6; the first of the steps is 5."),
        *(({"steps": value}, "steps", STEPS) for value in ("5", 5, {}, [0], [5, 101], [5, "25"], [True])),
        ({"steps": [25, 5]}, "steps", RISE),
        ({"steps": [5, 5]}, "steps", RISE),
        *(
            ({"soak_minutes": value}, "soak_minutes", "soak_minutes is not a whole number from 0 to 43200.")
            for value in (-1, 43_201, "60", 60.5, False)
        ),
        ({"soak_minutes": 59}, "soak_minutes", "soak_minutes is 59; a step lasts at least 60 minutes here."),
        *(({"guard": value}, "guard", "guard is not an object.") for value in ([], [1], "x", 5, True)),
        ({"guard": {"errors": 1}}, "guard", "guard.errors is unknown."),
        *(
            (
                {"guard": {"max_error_rate": value}},
                "guard.max_error_rate",
                "guard.max_error_rate is not a number from 0 to 1.",
            )
            for value in (-0.1, 1.01, "0.1", True, float("nan"), float("inf"))
        ),
        *(
            (
                {"guard": {"max_p95_ms": value}},
                "guard.max_p95_ms",
                "guard.max_p95_ms is not a whole number of milliseconds.",
            )
            for value in (0, 86_400_001, 1.5, "9")
        ),
        *(
            (
                {"guard": {"min_calls": value}},
                "guard.min_calls",
                "guard.min_calls is not a whole number from 1.",
            )
            for value in (0, 1.5, True)
        ),
        *(({"agents": value}, "agents", LIST.format("agents")) for value in ("x", {}, [5], [""], [None])),
        ({"teams": ["x" * 65]}, "teams", LIST.format("teams")),
        ({"tags": [str(n) for n in range(101)]}, "tags", LIST.format("tags")),
        ({"tags": ["a\n"]}, "tags", LIST.format("tags")),
        (
            {"percentage": 5},
            "percentage",
            "canary.percentage is unknown; there are agents, guard, percent, soak_minutes, steps, tags, teams.",
        ),
    ],
)
def test_what_is_refused_and_why(sent: dict[str, Any], field: str, told: str) -> None:
    with pytest.raises(PlanWrong) as refused:
        read_plan(sent, least_soak=60)
    assert refused.value.errors == {field: told}
    assert str(refused.value) == told


def test_everything_that_is_wrong_is_told_at_once() -> None:
    sent = {
        "percent": 0,
        "steps": [9, 3],
        "soak_minutes": 5,
        "guard": {"min_calls": 0},
        "agents": "x",
        "z": 1,
    }
    with pytest.raises(PlanWrong) as refused:
        read_plan(sent, least_soak=60)
    assert set(refused.value.errors) == {
        "percent", "steps", "soak_minutes", "guard.min_calls", "agents", "z",
    }  # fmt: skip


@given(st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=4), JSON, max_size=4), st.integers(0, 90))
def test_any_body_is_a_plan_that_can_be_kept_or_is_refused(sent: dict[str, Any], least: int) -> None:
    try:
        plan = read_plan(sent, least_soak=least)
    except PlanWrong:
        return
    assert (0 if plan.has_cohort else 1) <= plan.percent <= 100
    assert list(plan.steps) == sorted(set(plan.steps))
    assert not plan.steps or plan.steps[0] == plan.percent
    assert plan.soak_minutes >= least
    kept = json.loads(json.dumps(plan.as_json()))
    again = plan_of(kept)
    assert again.as_json() == plan.as_json()
    if plan.steps:
        assert again == plan


def test_what_is_kept_is_short() -> None:
    assert Plan(soak_minutes=60).as_json() == {}
    assert Plan(percent=5, soak_minutes=60).as_json() == {"percent": 5}
    assert Plan(percent=5, steps=(5, 50), soak_minutes=60).as_json() == {
        "percent": 5,
        "steps": (5, 50),
        "soak_minutes": 60,
    }
    assert Plan(percent=0, tags=("beta",)).as_json() == {"percent": 0, "tags": ("beta",)}
    assert plan_of({}) == Plan()


@pytest.mark.parametrize(
    ("percent", "following"), [(0, 5), (4, 5), (5, 25), (24, 25), (25, 50), (50, None), (100, None)]
)
def test_the_next_step(percent: int, following: int | None) -> None:
    assert Plan(percent=5, steps=(5, 25, 50)).next_step(percent) == following


@pytest.mark.django_db
def test_a_cohort_of_those_that_are_there() -> None:
    team = make.team("qa")
    make.agent("desk", team=team)
    make.agent("retired", team=team, retired_at=make.NOW)
    check_cohort(Plan(percent=0, agents=("desk",), teams=("qa",), tags=("not-given-yet",)))
    with pytest.raises(PlanWrong) as refused:
        check_cohort(Plan(percent=0, agents=("desk", "retired", "nobody"), teams=("qa", "moon")))
    assert refused.value.errors == {
        "agents": "There is no agent nobody, retired.",
        "teams": "There is no team moon.",
    }
