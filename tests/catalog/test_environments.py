"""Making, changing, ordering and removing environments."""

from __future__ import annotations

from typing import Any

import pytest

from catalog import environments
from catalog.access import NotAllowed
from catalog.environments import Changed, InUse, LastOne, Removed, Taken
from catalog.journal import Actor, check_chain
from catalog.models import Environment, JournalEntry, Revision, Role, State
from catalog.terms import PolicyWrong, terms_of
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db

NAMES = ("development", "staging", "production")


@pytest.fixture
def cast() -> make.Cast:
    return make.cast()


def create(cast: make.Cast, name: str = "preview", **terms: Any) -> Environment:
    return environments.create_environment(
        name=name, terms={"title": "Preview", **terms}, actor=crew.actor(cast.ada), now=make.NOW
    )


def change(cast: make.Cast, name: str = "production", *, opened: Any = None, **terms: Any) -> Environment:
    return environments.change_environment(
        environment=make.environment(name),
        terms=terms,
        opened=opened,
        actor=crew.actor(cast.ada),
        now=make.NOW,
    )


def move(cast: make.Cast, name: str, *, earlier: bool, opened: int | None = None) -> Environment:
    return environments.move_environment(
        environment=make.environment(name),
        earlier=earlier,
        opened=opened,
        actor=crew.actor(cast.ada),
        now=make.NOW,
    )


def remove(cast: make.Cast, environment: Environment) -> None:
    environments.remove_environment(environment=environment, actor=crew.actor(cast.ada), now=make.NOW)


def names() -> list[str]:
    return list(Environment.objects.values_list("name", flat=True))


def last_entry() -> JournalEntry:
    return JournalEntry.objects.order_by("-n")[0]


def told(value: Any) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value


def test_a_new_one_comes_last_with_the_policy_that_was_named(cast: make.Cast) -> None:
    made = create(cast, permissions=["send", "network"], approvals_high=2)
    assert names() == [*NAMES, "preview"]
    assert (made.order, made.revision, made.permissions) == (40, 0, ["network", "send"])
    entry = last_entry()
    assert (entry.verb, entry.target, entry.actor) == ("environment.create", "environment preview", "ada")
    assert told(entry.after)["approvals_high"] == 2
    assert told(entry.after)["order"] == 40


@pytest.mark.parametrize("name", ["", "Preview", "pre view", "-a", "a-", "a--b", "a_b", "new", "x" * 33, "ä"])
def test_names_are_lower_case_slugs(cast: make.Cast, name: str) -> None:
    with pytest.raises(PolicyWrong, match="is no name of an environment") as wrong:
        create(cast, name)
    assert list(wrong.value.errors) == ["name"]
    assert names() == list(NAMES)


def test_names_and_places_are_given_once(cast: make.Cast) -> None:
    with pytest.raises(Taken, match="There is an environment named staging already") as taken:
        create(cast, "staging")
    assert taken.value.field == "name"
    with pytest.raises(Taken, match="Staging has the place 20 already"):
        create(cast, order=20)
    with pytest.raises(Taken, match="Staging has the place 20 already"):
        change(cast, "production", order=20)
    assert not JournalEntry.objects.exists()


def test_every_wrong_value_is_told_at_once(cast: make.Cast) -> None:
    wrong: dict[str, Any] = {
        "title": "",
        "order": 0,
        "permissions": ["network", "teleport"],
        "highest_risk": "extreme",
        "lowest_stability": "solid",
        "approvals_low": 6,
        "approvals_high": -1,
        "call_confirmation": "maybe",
        "soak_minutes": 43_201,
        "retention_days": 0,
        "colour": "red",
    }
    with pytest.raises(PolicyWrong) as caught:
        change(cast, **wrong)
    assert set(caught.value.errors) == set(wrong)
    with pytest.raises(PolicyWrong, match="title is a line of text"):
        change(cast, title="a\nb")
    assert make.environment("production").title == "Production"


def test_a_change_tells_what_differs_and_nothing_else(cast: make.Cast) -> None:
    changed = change(cast, title="Shops", approvals_low=1, approvals_medium=2, soak_minutes=60)
    assert (changed.title, changed.approvals_medium) == ("Shops", 2)
    entry = last_entry()
    assert (entry.verb, entry.target) == ("environment.change", "environment production")
    assert entry.before == {"title": "Production", "approvals_medium": 1}
    assert entry.after == {"title": "Shops", "approvals_medium": 2}
    change(cast, title="Shops", approvals_medium=2)
    assert JournalEntry.objects.count() == 1
    assert not Revision.objects.exists()


@pytest.mark.parametrize(
    "terms",
    [
        {"permissions": ["network"]},
        {"highest_risk": "low"},
        {"call_confirmation": "always"},
        {"script_confirmation": "never"},
    ],
)
def test_what_the_feed_may_show_gives_a_revision_of_all_that_is_served(
    cast: make.Cast, terms: dict[str, Any]
) -> None:
    change(cast, "staging", **{**terms, "script_confirmation": "always"})
    assert list(Revision.objects.values_list("n", "changes")) == [(1, [])]
    for name in ("refund-check", "order-find"):
        make.release(make.version(name, cast=cast), "production", cast=cast)
    make.release(make.version("till-close", cast=cast), "staging", cast=cast)
    before = make.environment("production").revision
    changed = change(cast, **terms)
    assert changed.revision == before + 1
    assert Revision.objects.get(environment=changed, n=changed.revision).changes == [
        "order-find",
        "refund-check",
    ]
    change(cast, **terms)
    assert make.environment("production").revision == before + 1


def test_a_second_editor_overwrites_nothing(cast: make.Cast) -> None:
    opened = terms_of(make.environment("production"))
    change(cast, opened=opened, approvals_high=3)
    with pytest.raises(Changed, match="Production has been changed meanwhile: approvals_high") as late:
        change(cast, opened=opened, approvals_high=1, soak_minutes=5)
    (difference,) = late.value.differences
    assert (difference.field, difference.before, difference.after) == ("approvals_high", 2, 3)
    kept = make.environment("production")
    assert (kept.approvals_high, kept.soak_minutes) == (3, 60)
    assert JournalEntry.objects.count() == 1


def test_neighbours_change_places(cast: make.Cast) -> None:
    moved = move(cast, "production", earlier=True, opened=30)
    assert names() == ["development", "production", "staging"]
    assert moved.order == 20
    entries = JournalEntry.objects.order_by("n").values_list("target", "before", "after")
    assert list(entries) == [
        ("environment staging", {"order": 20}, {"order": 30}),
        ("environment production", {"order": 30}, {"order": 20}),
    ]
    with pytest.raises(Changed, match="order"):
        move(cast, "production", earlier=True, opened=30)
    move(cast, "development", earlier=False)
    assert names() == ["production", "development", "staging"]
    move(cast, "production", earlier=True)
    move(cast, "staging", earlier=False)
    assert names() == ["production", "development", "staging"]
    assert JournalEntry.objects.count() == 4
    assert not Revision.objects.exists()


def test_an_empty_one_is_removed_with_its_revisions(cast: make.Cast) -> None:
    made = create(cast)
    change(cast, "preview", highest_risk="low")
    remove(cast, made)
    assert names() == list(NAMES)
    assert not Revision.objects.exists()
    assert last_entry().verb == "environment.remove"
    assert told(last_entry().before)["name"] == "preview"
    for again in (
        lambda: remove(cast, made),
        lambda: environments.change_environment(
            environment=made, terms={"title": "Back"}, actor=crew.actor(cast.ada), now=make.NOW
        ),
    ):
        with pytest.raises(Removed, match="Preview was removed meanwhile"):
            again()


def test_one_that_something_refers_to_stays_and_says_what(cast: make.Cast) -> None:
    make.release(make.version(cast=cast), "staging", cast=cast, state=State.REJECTED)
    make.grant(cast.nora, Role.READER, environment=make.environment("staging"))
    desk = make.agent(team=cast.payments)
    for _ in range(2):
        make.token(agent=desk, environment="staging")
    with pytest.raises(InUse, match="Staging is in use and stays") as used:
        remove(cast, make.environment("staging"))
    assert used.value.references == {"grants": 1, "releases": 1, "tokens": 2}
    assert names() == list(NAMES)


def test_a_loan_of_rights_refers_to_it_as_well(cast: make.Cast) -> None:
    production = make.environment("production")
    cast.mara.delegations_given.create(
        taker=cast.otto,
        environment=production,
        starts_at=make.NOW,
        ends_at=make.NOW.replace(year=2027),
        created_at=make.NOW,
    )
    assert environments.references_to(production) == {"delegations": 1}


def test_the_last_one_stays(cast: make.Cast) -> None:
    for name in NAMES[:2]:
        remove(cast, make.environment(name))
    with pytest.raises(LastOne, match="Production is the only environment"):
        remove(cast, make.environment("production"))


@pytest.mark.parametrize("name", ["ines", "mara", "lena", "ravi", "nora"])
def test_others_change_nothing(cast: make.Cast, name: str) -> None:
    actor, staging = crew.actor(getattr(cast, name)), make.environment("staging")
    common: dict[str, Any] = {"actor": actor, "now": make.NOW}
    for act in (
        lambda: environments.create_environment(name="preview", terms={"title": "P"}, **common),
        lambda: environments.change_environment(environment=staging, terms={"title": "P"}, **common),
        lambda: environments.move_environment(environment=staging, earlier=True, **common),
        lambda: environments.remove_environment(environment=staging, **common),
    ):
        with pytest.raises(NotAllowed, match="changed by administrators"):
            act()
    assert names() == list(NAMES)
    assert not JournalEntry.objects.exists()


def test_an_administrator_of_one_environment_changes_nothing(cast: make.Cast) -> None:
    make.grant(cast.nora, Role.ADMIN, environment=make.environment("staging"))
    with pytest.raises(NotAllowed):
        environments.change_environment(
            environment=make.environment("staging"),
            terms={"title": "Mine"},
            actor=Actor(user=cast.nora),
            now=make.NOW,
        )


def test_of_two_editors_at_once_one_is_told(shared_database: str) -> None:
    cast = make.cast()
    opened = terms_of(make.environment("production"))
    done = crew.together(
        [lambda n=n: change(cast, opened=opened, approvals_high=n) for n in (3, 4)]  # type: ignore[misc]
    )
    late = [one for one in done if isinstance(one, Changed)]
    assert len(late) == 1, done
    assert make.environment("production").approvals_high in {3, 4}
    assert JournalEntry.objects.filter(verb="environment.change").count() == 1


def test_places_stay_unique_whoever_moves_at_once(shared_database: str) -> None:
    cast = make.cast()
    works = [
        lambda: move(cast, "production", earlier=True),
        lambda: move(cast, "development", earlier=False),
        lambda: create(cast, "preview"),
        lambda: create(cast, "preview-2"),
    ]
    done = crew.together(works)
    assert all(isinstance(one, Environment) for one in done), done
    places = list(Environment.objects.values_list("order", flat=True))
    assert places == [10, 20, 30, 40, 50]
    assert check_chain().intact


def test_nothing_is_left_that_refers_to_a_removed_one(shared_database: str) -> None:
    cast = make.cast()
    for round_ in range(5):
        made = create(cast, f"preview-{round_}")
        desk = make.agent(f"desk-{round_}", team=cast.payments)
        done = crew.together(
            [
                lambda made=made: remove(cast, made),  # type: ignore[misc]
                lambda made=made, desk=desk: make.token(agent=desk, environment=made.name),  # type: ignore[misc]
            ]
        )
        there = Environment.objects.filter(pk=made.pk).exists()
        assert isinstance(done[0], InUse) is there, done
        assert isinstance(done[1], Exception) is not there, done
        assert desk.tokens.count() == int(there)
    assert check_chain().intact
