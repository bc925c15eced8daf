"""Leaving: an account is closed and opened again, a member leaves a team; the preview tells the same."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from catalog import leaving
from catalog.access import NotAllowed, powers_of
from catalog.grants import LastAdministrator, administrators
from catalog.leaving import NotClosable
from catalog.models import Delegation, JournalEntry, Role, Skill, Token, User
from catalog.ownership import NotOfTheTeam
from catalog.tokens import read_token
from tests import cast as crew
from tests import make


@pytest.fixture
def cast(db: None) -> make.Cast:
    return make.cast()


def close(cast: make.Cast, person: User, **more: Any) -> leaving.Leaving:
    told = {"actor": crew.actor(cast.ada), "reason": "Left.", "now": make.NOW, **more}
    return leaving.close_account(person=person, **told)


def leave(person: User, cast: make.Cast, **more: Any) -> leaving.Leaving:
    told = {"actor": crew.actor(person), "team": cast.payments, "now": make.NOW, **more}
    return leaving.leave_team(person=person, **told)


def told(verb: str) -> list[tuple[str, Any, Any]]:
    rows = JournalEntry.objects.filter(verb=verb).order_by("n")
    return [(one.target, one.before, one.after) for one in rows]


def test_closing_takes_everything_and_tells_it_one_by_one(cast: make.Cast) -> None:
    owned = make.skill(cast=cast)
    other = make.skill("order-find", cast=cast, team=cast.support, publisher=cast.sven)
    other.maintainers.add(cast.ines)
    make.grant(cast.ines, Role.APPROVER, team=cast.support)
    token, secret = make.token(user=cast.ines, now=make.NOW)
    given = make.delegation(cast.ines, cast.nora)
    taken = make.delegation(cast.mara, cast.ines, starts_at=make.NOW + timedelta(days=3))
    seen = leaving.look_ahead(person=cast.ines, now=make.NOW)
    before = crew.verbs()
    gone = close(cast, cast.ines, heirs={cast.payments.pk: cast.ravi})
    assert gone == seen
    assert [len(part) for part in (seen.grants, seen.tokens, seen.delegations)] == [2, 1, 2]
    assert (seen.owned, seen.maintained, seen.teams) == ((owned,), (other,), (cast.payments,))
    assert crew.verbs()[len(before) :] == [
        "token.revoke", "delegation.end", "delegation.end", "skill.settle", "skill.settle",
        "grant.remove", "grant.remove", "user.close",
    ]  # fmt: skip
    owned.refresh_from_db()
    assert owned.owner == cast.ravi
    assert not other.maintainers.exists()
    assert told("skill.settle")[0] == (
        "refund-check", {"owner": "ines"}, {"owner": "ravi", "reason": "Left."},
    )  # fmt: skip
    assert told("user.close") == [("user ines", None, {"reason": "Left."})]
    cast.ines.refresh_from_db()
    assert (cast.ines.is_active, cast.ines.has_usable_password()) == (False, False)
    assert not cast.ines.grants.exists()
    for row in (given, taken):
        row.refresh_from_db()
        assert row.ended_at == make.NOW
    token.refresh_from_db()
    assert token.revoked_at == make.NOW
    assert read_token(secret, now=make.NOW) is None


def test_a_skill_without_an_heir_stands_without_owner(cast: make.Cast) -> None:
    skill = make.skill(cast=cast)
    close(cast, cast.ines)
    skill.refresh_from_db()
    assert skill.owner is None


def test_each_team_has_its_own_heir(cast: make.Cast) -> None:
    first, second = make.skill(cast=cast), make.skill("order-find", cast=cast)
    Skill.objects.filter(pk=second.pk).update(team=cast.support)
    close(cast, cast.ines, heirs={cast.payments.pk: cast.ravi, cast.support.pk: cast.sven})
    assert dict(Skill.objects.values_list("name", "owner__username")) == {
        first.name: "ravi", second.name: "sven",
    }  # fmt: skip


@pytest.mark.parametrize("heir", ["sven", "ines", "nora", "mara"])
def test_an_heir_belongs_to_the_team(cast: make.Cast, heir: str) -> None:
    make.skill(cast=cast)
    before = crew.verbs()
    with pytest.raises(NotOfTheTeam, match=f"{heir} cannot take over the skills of Payments"):
        close(cast, cast.ines, heirs={cast.payments.pk: getattr(cast, heir)})
    cast.ines.refresh_from_db()
    assert cast.ines.is_active
    assert crew.verbs() == before


def test_deleted_skills_and_ended_things_stay_as_they_are(cast: make.Cast) -> None:
    skill = make.skill(cast=cast)
    Skill.objects.update(deleted_at=make.NOW)
    make.token(user=cast.ines, now=make.NOW - timedelta(days=200))
    make.delegation(cast.mara, cast.ines, starts_at=make.NOW - timedelta(days=50))
    seen = leaving.look_ahead(person=cast.ines, now=make.NOW)
    assert (seen.tokens, seen.delegations, seen.skills) == ((), (), ())
    close(cast, cast.ines)
    skill.refresh_from_db()
    assert skill.owner == cast.ines
    assert Token.objects.get().revoked_at is None
    assert Delegation.objects.get().ended_at is None


@pytest.mark.parametrize("superuser", [False, True])
def test_the_last_administrator_stays(cast: make.Cast, superuser: bool) -> None:
    if superuser:
        cast.ada.grants.all().delete()
        User.objects.filter(pk=cast.ada.pk).update(is_superuser=True)
        cast.ada.refresh_from_db()
    assert leaving.look_ahead(person=cast.ada, now=make.NOW).last_administrator
    assert not leaving.look_ahead(person=cast.ines, now=make.NOW).last_administrator
    with pytest.raises(LastAdministrator, match="Ada Moreau is the last administrator"):
        close(cast, cast.ada)
    cast.ada.refresh_from_db()
    assert cast.ada.is_active
    assert crew.verbs() == []
    make.grant(cast.nora, Role.ADMIN)
    assert not leaving.look_ahead(person=cast.ada, now=make.NOW).last_administrator
    close(cast, cast.ada)
    cast.ada.refresh_from_db()
    assert (cast.ada.is_active, cast.ada.is_superuser) == (False, False)


def test_a_closed_account_opens_with_nothing(cast: make.Cast) -> None:
    close(cast, cast.ines)
    with pytest.raises(NotClosable, match="The account of ines is closed already"):
        close(cast, cast.ines)
    opened = leaving.open_account(person=cast.ines, actor=crew.actor(cast.ada), now=make.NOW)
    assert opened.is_active
    assert not opened.has_usable_password()
    assert powers_of(opened).rights == ()
    with pytest.raises(NotClosable, match="The account of ines is open"):
        leaving.open_account(person=cast.ines, actor=crew.actor(cast.ada), now=make.NOW)
    assert crew.verbs()[-2:] == ["user.close", "user.open"]


@pytest.mark.parametrize("name", ["ines", "mara", "nora"])
def test_only_administrators_close_and_open(cast: make.Cast, name: str) -> None:
    actor = crew.actor(getattr(cast, name))
    with pytest.raises(NotAllowed, match="closed and opened by administrators"):
        close(cast, cast.nora, actor=actor)
    with pytest.raises(NotAllowed):
        leaving.open_account(person=cast.nora, actor=actor, now=make.NOW)
    with pytest.raises(NotAllowed, match="by the person who leaves"):
        leave(cast.ravi, cast, actor=actor)


def test_a_member_leaves_a_team_alone(cast: make.Cast) -> None:
    skill = make.skill(cast=cast)
    elsewhere = make.skill("order-find", cast=cast, team=cast.support, publisher=cast.sven)
    elsewhere.maintainers.add(cast.ines)
    make.grant(cast.ines, Role.APPROVER, team=cast.payments)
    stays = make.grant(cast.ines, Role.READER, team=cast.support)
    lent = make.delegation(cast.ines, cast.nora, team=cast.payments)
    make.token(user=cast.ines, now=make.NOW)
    seen = leaving.look_ahead(person=cast.ines, now=make.NOW, team=cast.payments)
    assert leave(cast.ines, cast, heir=cast.ravi) == seen
    assert (len(seen.grants), seen.tokens, seen.delegations, seen.owned) == (2, (), (lent,), (skill,))
    assert list(cast.ines.grants.all()) == [stays]
    assert list(elsewhere.maintainers.all()) == [cast.ines]
    skill.refresh_from_db()
    assert skill.owner == cast.ravi
    assert Token.objects.get().revoked_at is None
    with pytest.raises(NotClosable, match="Ines Okafor does not belong to Payments"):
        leave(cast.ines, cast)


def test_what_is_lent_by_a_right_for_all_teams_stays_lent(cast: make.Cast) -> None:
    make.grant(cast.mara, Role.READER, team=cast.payments)
    row = make.delegation(cast.mara, cast.nora, team=cast.payments)
    leave(cast.mara, cast)
    row.refresh_from_db()
    assert row.ended_at is None


def test_an_administrator_takes_somebody_out_of_a_team(cast: make.Cast) -> None:
    leave(cast.ravi, cast, actor=crew.actor(cast.ada), reason="Moved.")
    assert told("grant.remove")[0][0] == "user ravi"


def test_of_administrators_who_close_each_other_one_stays(shared_database: str) -> None:
    cast = make.cast()
    for one in (cast.nora, cast.otto):
        make.grant(one, Role.ADMIN)
    circle = (cast.ada, cast.nora, cast.otto)
    works = [
        (lambda by=by, of=of: close(cast, of, actor=crew.actor(by)))
        for by, of in zip(circle, (*circle[1:], circle[0]), strict=True)
    ]
    done = crew.together(works)
    assert administrators().count() >= 1
    refused = [one for one in done if isinstance(one, Exception)]
    assert all(isinstance(one, NotAllowed | LastAdministrator) for one in refused), refused
    assert crew.verbs().count("user.close") == 3 - administrators().count()


def test_an_account_is_closed_once(shared_database: str) -> None:
    cast = make.cast()
    make.skill(cast=cast)
    done = crew.together([lambda: close(cast, cast.ines)] * 4)
    assert sum(isinstance(one, leaving.Leaving) for one in done) == 1
    assert sum(isinstance(one, NotClosable) for one in done) == 3
    assert crew.verbs().count("grant.remove") == 1
