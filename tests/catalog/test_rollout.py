"""Gray releases by reckoning: fair, sticky, monotone, independent, and the same everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from catalog.canaries import Plan
from catalog.models import Release, State
from catalog.rollout import BUCKETS, Cohort, arms_of, bucket_of, draw_of, is_candidate
from governance import approvals
from tests import cast as crew
from tests import make

CALLERS = [f"caller-{n}" for n in range(100_000)]
# Whoever changes the hash moves every caller of every running canary: these stand for ever.
VECTORS: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("rollout_vectors.json").read_text(encoding="ascii")
)
PLACE = {"seed": "7f3c2a9b51d84e06", "skill": "refund-check", "environment": "production"}


@pytest.fixture(scope="module")
def places() -> list[int]:
    """The place of each caller in one release."""
    return [bucket_of(**PLACE, key=key) for key in CALLERS]


def candidates(places: list[int], percent: int) -> set[int]:
    """The numbers of the callers that are served the candidate."""
    return {n for n, place in enumerate(places) if is_candidate(bucket=place, percent=percent)}


@pytest.mark.parametrize("vector", VECTORS, ids=lambda one: repr(one["key"])[:20])
def test_golden_vectors(vector: dict[str, Any]) -> None:
    asked = {name: vector[name] for name in ("seed", "skill", "environment", "key")}
    assert bucket_of(**asked) == vector["bucket"]


def test_the_vectors_are_of_many_kinds_of_keys() -> None:
    keys = {one["key"] for one in VECTORS}
    assert keys >= {"", "session-1", "会话-一", "😀", "\ud800"}
    assert len({one["seed"] for one in VECTORS}) > 1
    assert len({one["environment"] for one in VECTORS}) > 1


def test_a_rise_and_a_fall_move_only_those_they_must(places: list[int]) -> None:
    seen = {percent: candidates(places, percent) for percent in (5, 25, 50, 100)}
    for percent, those in seen.items():
        assert abs(len(those) / len(CALLERS) - percent / 100) <= 0.005, percent
    assert seen[5] < seen[25] < seen[50] < seen[100]
    # Back at 25 % they are the same callers as before, however far it had gone.
    assert candidates([bucket_of(**PLACE, key=key) for key in CALLERS], 25) == seen[25]


@pytest.mark.parametrize("percent", [0, 1, 99, 100])
def test_nobody_and_everybody(places: list[int], percent: int) -> None:
    share = len(candidates(places, percent)) / len(CALLERS)
    assert abs(share - percent / 100) <= (0.005 if 0 < percent < 100 else 0)


def test_two_skills_are_independent(places: list[int]) -> None:
    """χ² of the four ways to be in two canaries, at one degree of freedom below 6.63 (1 %)."""
    others = [bucket_of(**{**PLACE, "skill": "order-status"}, key=key) for key in CALLERS]
    for mine, theirs in ((25, 25), (50, 50), (5, 50)):
        one, other = candidates(places, mine), candidates(others, theirs)
        seen = [len(one & other), len(one - other), len(other - one), len(CALLERS) - len(one | other)]
        share, ours = len(one) / len(CALLERS), len(other) / len(CALLERS)
        ways = (share * ours, share * (1 - ours), (1 - share) * ours, (1 - share) * (1 - ours))
        due = [len(CALLERS) * way for way in ways]
        assert sum((a - b) ** 2 / b for a, b in zip(seen, due, strict=True)) < 6.63


@pytest.mark.parametrize("part", ["seed", "environment"])
def test_another_release_is_another_draw(places: list[int], part: str) -> None:
    others = [bucket_of(**{**PLACE, part: "other"}, key=key) for key in CALLERS[:20_000]]
    alike = sum((a < BUCKETS // 2) == (b < BUCKETS // 2) for a, b in zip(places, others, strict=False))
    assert 0.48 < alike / 20_000 < 0.52


def test_all_draws_of_a_request_are_those_of_each() -> None:
    skills, percents = [f"skill-{n}" for n in range(40)], [0, 1, 5, 25, 50, 99, 100, 33]
    told = [(skill, percents[n % len(percents)], n % 7 == 0) for n, skill in enumerate(skills)]
    draws = [
        draw_of(seed="s", skill=skill, environment="production", percent=percent, named=named)
        for skill, percent, named in told
    ]
    for key in ("", "session-1", "会话-一", "😀", "\ud800", "k" * 10_000):
        each = [
            is_candidate(
                bucket=bucket_of(seed="s", skill=skill, environment="production", key=key),
                percent=percent,
                named=named,
            )
            for skill, percent, named in told
        ]
        assert list(arms_of(draws, key=key)) == each
        assert list(arms_of(draws, key=key)) == each, "a draw keeps nothing of a caller"


@pytest.mark.parametrize(
    ("agent", "team", "tags", "named"),
    [
        ("front-desk", "support", (), True),
        ("back-desk", "payments", (), True),
        ("back-desk", "support", ("beta",), True),
        ("back-desk", "support", ("alpha", "beta"), True),
        ("back-desk", "support", ("alpha",), False),
        ("payments", "front-desk", (), False),
        ("", "", ("",), False),
    ],
)
def test_whom_a_cohort_names(agent: str, team: str, tags: tuple[str, ...], named: bool) -> None:
    cohort = Cohort(frozenset({"front-desk"}), frozenset({"payments"}), frozenset({"beta"}))
    assert cohort.holds(agent=agent, team=team, tags=tags) is named
    assert not Cohort().holds(agent=agent, team=team, tags=tags)


def test_a_named_caller_gets_the_candidate_at_any_place_and_percentage() -> None:
    assert all(is_candidate(bucket=place, percent=0, named=True) for place in (0, 5000, BUCKETS - 1))
    assert not any(is_candidate(bucket=place, percent=0) for place in range(BUCKETS))


def test_another_process_places_everybody_alike() -> None:
    """After a restart, and whatever seed Python hashes its own texts with."""
    program = (
        "import json, sys\n"
        "from catalog.rollout import bucket_of\n"
        "told = json.load(sys.stdin)\n"
        "print(json.dumps([bucket_of(**one) for one in told]))\n"
    )
    asked = [{**PLACE, "key": key} for key in (*CALLERS[:500], "", "会话", "\ud800")]
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=crew.ROOT,
            env={**os.environ, "PYTHONHASHSEED": seed},
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
        assert json.loads(done.stdout) == [bucket_of(**one) for one in asked]


@pytest.mark.django_db
def test_what_is_read_back_of_a_release_places_everybody_as_it_did() -> None:
    """The seed, the folder and the name of the environment, from either database."""
    cast = make.cast()
    version = make.version(cast=cast)
    made = approvals.propose(
        version=version,
        environment=make.environment("production"),
        actor=crew.actor(cast.ines),
        plan=Plan(percent=25),
        now=make.NOW,
    )
    Release.objects.filter(pk=made.pk).update(seed=PLACE["seed"], state=State.CANARY, percent=25)
    row = Release.objects.select_related("environment", "skill").get(pk=made.pk)
    told = {"seed": row.seed, "skill": row.skill.folder, "environment": row.environment.name}
    assert told == PLACE
    assert [bucket_of(**told, key=one["key"]) for one in VECTORS] == [
        bucket_of(**PLACE, key=one["key"]) for one in VECTORS
    ]
