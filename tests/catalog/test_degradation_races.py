"""Switching off and on against each other and against releases: one order comes out, and what is off stays off."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from catalog import lifecycle
from catalog.degradations import BadFallback, degrade, restore
from catalog.journal import check_chain
from catalog.models import Degradation, JournalEntry, Release, Revision, Skill, State, Version
from catalog.snapshots import compile_snapshot
from catalog.transitions import WrongState
from governance import rollouts
from tests import cast as crew
from tests import make

ROUNDS = 12
NOW = make.NOW


class Scene:
    """refund-check, live in production in its second version, and refund-issue beside it."""

    def __init__(self) -> None:
        self.cast = make.cast()
        self.first = make.version("refund-check", "1.0.0", cast=self.cast)
        make.release(self.first, "production", cast=self.cast)
        self.release = make.release(
            make.version("refund-check", "1.1.0", cast=self.cast), "production", cast=self.cast
        )
        self.skill: Skill = self.first.skill
        self.other = make.release(
            make.version("refund-issue", cast=self.cast), "production", cast=self.cast
        ).skill

    def off(
        self, reason: str = "Wrong totals.", skill: Skill | None = None, fallback: Skill | None = None
    ) -> Any:
        return lambda: degrade(
            skill=skill or self.skill,
            reason=reason,
            fallback=fallback,
            environments=[make.environment("production")],
            actor=crew.actor(self.cast.mara),
            now=NOW,
        )

    def on(self) -> Callable[[], Any]:
        return lambda: restore(skill=self.skill, actor=crew.actor(self.cast.otto), now=NOW)


@pytest.fixture
def scene(shared_database: str) -> Scene:
    return Scene()


def available() -> dict[str, bool]:
    """What the feed of production says, of both arms."""
    slots = compile_snapshot(make.environment("production").pk).slots
    return {
        one.version if folder == "refund-check" else folder: one.item["available"]
        for folder, slot in slots.items()
        for one in (slot.stable, slot.candidate)
        if one is not None
    }


def check_the_record() -> None:
    """Each change has its entry and its revision, and no revision is given twice."""
    assert check_chain().intact
    where = make.environment("production")
    numbers = list(Revision.objects.filter(environment=where).order_by("n").values_list("n", flat=True))
    assert numbers == list(range(1, where.revision + 1))


def test_off_against_on(scene: Scene) -> None:
    for n in range(ROUNDS):
        scene.off(f"Round {n}.")()
        done = crew.together([scene.off(f"Again {n}."), scene.on()])
        assert not any(isinstance(one, Exception) for one in done), done
        # Either the new word came first and was taken back, or it came after and holds.
        held = list(Degradation.objects.filter(restored_at=None).values_list("reason", flat=True))
        assert held in ([], [f"Again {n}."])
        assert available()["1.1.0"] is (held == [])
    check_the_record()


def test_off_twice_at_once(scene: Scene) -> None:
    for n in range(ROUNDS):
        done = crew.together([scene.off(f"One {n}."), scene.off(f"Two {n}."), scene.off(f"Two {n}.")])
        assert not any(isinstance(one, Exception) for one in done), done
        assert Degradation.objects.filter(restored_at=None).count() == 1
    told = JournalEntry.objects.filter(verb="skill.degrade")
    assert told.count() == Degradation.objects.count()
    check_the_record()


def test_on_twice_at_once(scene: Scene) -> None:
    for n in range(ROUNDS):
        scene.off(f"Round {n}.")()
        done = crew.together([scene.on(), scene.on(), scene.on()])
        assert sorted(type(one).__name__ for one in done) == ["WrongState", "WrongState", "tuple"]
    assert JournalEntry.objects.filter(verb="skill.restore").count() == ROUNDS
    check_the_record()


def test_off_against_roll_back(scene: Scene) -> None:
    mara = crew.actor(scene.cast.mara)

    def back() -> Release:
        return rollouts.roll_back(release=scene.release, actor=mara, reason="Wrong.", now=NOW)

    done = crew.together([scene.off(), back])
    assert not any(isinstance(one, Exception) for one in done), done
    assert Release.objects.get(version=scene.first).state == State.LIVE
    assert available() == {"1.0.0": False, "refund-issue": True}
    scene.on()()
    assert available() == {"1.0.0": True, "refund-issue": True}
    check_the_record()


def test_off_against_start(scene: Scene) -> None:
    version = make.version("refund-check", "1.2.0", cast=scene.cast)
    release = make.release(version, "production", cast=scene.cast, state=State.APPROVED)
    Release.objects.filter(pk=release.pk).update(canary={"percent": 20})

    def start() -> Release:
        fresh = Release.objects.get(pk=release.pk)
        return rollouts.start(release=fresh, actor=crew.actor(scene.cast.mara), now=NOW)

    done = crew.together([scene.off(), start])
    assert not any(isinstance(one, Exception) for one in done), done
    assert available() == {"1.1.0": False, "1.2.0": False, "refund-issue": True}
    check_the_record()


def test_two_skills_do_not_stand_in_for_each_other(scene: Scene) -> None:
    for _ in range(ROUNDS):
        done = crew.together(
            [scene.off(fallback=scene.other), scene.off(skill=scene.other, fallback=scene.skill)]
        )
        assert sorted(type(one).__name__ for one in done) == ["BadFallback", "tuple"], done
        assert isinstance(next(one for one in done if isinstance(one, Exception)), BadFallback)
        for row in Degradation.objects.filter(restored_at=None).select_related("skill"):
            restore(skill=row.skill, actor=crew.actor(None), now=NOW)
    check_the_record()


def test_off_against_the_end_of_the_fallback(scene: Scene) -> None:
    version = Version.objects.get(skill=scene.other)
    ines = crew.actor(scene.cast.ines)

    def end() -> Any:
        return lifecycle.yank(version=version, actor=ines, reason="Wrong.", now=NOW)

    off, ended = crew.together([scene.off(fallback=scene.other), end])
    assert not isinstance(ended, Exception)
    item = compile_snapshot(make.environment("production").pk).slots["refund-check"].stable
    assert item is not None
    if isinstance(off, BadFallback):
        assert item.item["available"] is True
    else:
        assert not isinstance(off, Exception)
        assert (item.item["fallback"], item.item["unavailable_reason"]) == (
            None,
            "Switched off: Wrong totals. Its fallback refund-issue is not live here.",
        )
    check_the_record()


def test_off_against_the_end_of_the_skill(scene: Scene) -> None:
    ines = crew.actor(scene.cast.ines)

    def end() -> Any:
        return lifecycle.delete_skill(skill=scene.skill, actor=ines, reason="Unused.", now=NOW)

    off, ended = crew.together([scene.off(), end])
    assert not isinstance(ended, Exception)
    assert isinstance(off, tuple | WrongState)
    assert available() == {"refund-issue": True}
    check_the_record()
