"""Who may do what: every right of the table of roles, by role, team and environment."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from catalog import visibility
from catalog.access import Powers, powers_of, powers_of_all
from catalog.delegations import lend
from catalog.grants import Wanted, give_grant
from catalog.models import Environment, Grant, Release, Role, Skill, Team, User, Version
from tests import cast as crew
from tests import make

pytestmark = pytest.mark.django_db


class Scene:
    """A skill of Payments with a release in production, and Support beside it."""

    def __init__(self) -> None:
        self.cast = make.cast()
        self.own, self.foreign = self.cast.payments, self.cast.support
        self.production, self.staging = make.environment("production"), make.environment("staging")
        self.version = make.version("refund-check", cast=self.cast)
        self.skill = self.version.skill
        self.release = make.release(self.version, "production", cast=self.cast, state="proposed")
        self.user = make.user("pat")

    def powers(self, *grants: tuple[Role, str, str]) -> Powers:
        """The powers of somebody with these grants: role, team (own, foreign, all), environment (or all)."""
        teams: dict[str, Team | None] = {"own": self.own, "foreign": self.foreign, "all": None}
        places: dict[str, Environment | None] = {
            "production": self.production,
            "staging": self.staging,
            "all": None,
        }
        for role, team, place in grants:
            make.grant(self.user, role, team=teams[team], environment=places[place])
        return powers_of(self.user)


@pytest.fixture
def scene() -> Scene:
    """The scene."""
    return Scene()


Right = Callable[[Scene, Powers], bool]

RIGHTS: dict[str, Right] = {
    "publish": lambda s, p: p.may_publish(s.own),
    "propose": lambda s, p: p.may_propose(s.skill, s.production),
    "withdraw": lambda s, p: p.may_withdraw(s.release),
    "decide": lambda s, p: p.may_decide(s.release),
    "start": lambda s, p: p.may_start(s.release),
    "stop": lambda s, p: p.may_stop(s.release),
    "agents": lambda s, p: p.may_manage_agents(s.own),
    "traces": lambda s, p: p.reads_some_traces,
    "admin": lambda s, p: p.is_admin,
}
PUBLISHER = {"publish", "propose", "withdraw", "stop", "agents", "traces"}
APPROVER = {"decide", "start", "stop"}
NOTHING: set[str] = set()


@pytest.mark.parametrize(
    ("role", "team", "place", "may"),
    [
        (Role.READER, "own", "all", NOTHING),
        (Role.READER, "all", "all", NOTHING),
        (Role.PUBLISHER, "own", "all", PUBLISHER),
        (Role.PUBLISHER, "all", "all", PUBLISHER),
        (Role.PUBLISHER, "own", "production", PUBLISHER),
        (Role.PUBLISHER, "own", "staging", {"publish", "agents", "traces"}),
        (Role.PUBLISHER, "foreign", "all", {"traces"}),
        (Role.APPROVER, "own", "all", APPROVER),
        (Role.APPROVER, "own", "production", APPROVER),
        (Role.APPROVER, "own", "staging", NOTHING),
        (Role.APPROVER, "all", "all", APPROVER),
        (Role.APPROVER, "all", "production", APPROVER),
        (Role.APPROVER, "all", "staging", NOTHING),
        (Role.APPROVER, "foreign", "all", NOTHING),
        (Role.APPROVER, "foreign", "production", NOTHING),
        (Role.ANALYST, "own", "all", {"traces"}),
        (Role.ANALYST, "all", "all", {"traces"}),
        (Role.ADMIN, "all", "all", {"admin", "agents"}),
        (Role.ADMIN, "own", "all", NOTHING),
        (Role.ADMIN, "all", "production", NOTHING),
    ],
)
def test_table_of_roles(scene: Scene, role: Role, team: str, place: str, may: set[str]) -> None:
    powers = scene.powers((role, team, place))
    assert {name for name, right in RIGHTS.items() if right(scene, powers)} == may


def test_without_a_grant_one_may_nothing(scene: Scene) -> None:
    assert not any(right(scene, scene.powers()) for right in RIGHTS.values())
    assert not any(right(scene, Powers(None)) for right in RIGHTS.values())


def test_grants_do_not_mix(scene: Scene) -> None:
    powers = scene.powers(
        (Role.APPROVER, "foreign", "production"),
        (Role.APPROVER, "own", "staging"),
        (Role.ADMIN, "all", "all"),
    )
    assert not powers.may_decide(scene.release)


@pytest.mark.parametrize("whose", ["proposer", "publisher", "neither"])
def test_four_eyes(scene: Scene, whose: str) -> None:
    powers = scene.powers((Role.APPROVER, "all", "all"), (Role.ADMIN, "all", "all"))
    if whose == "proposer":
        scene.release.proposer = scene.user
    if whose == "publisher":
        scene.release.version.publisher = scene.user
    assert powers.may_decide(scene.release) == (whose == "neither")
    assert powers.may_start(scene.release) == (whose == "neither")
    assert powers.may_stop(scene.release)


@pytest.mark.parametrize(("policy", "role", "may"), [
    (True, Role.PUBLISHER, True), (False, Role.PUBLISHER, False), (True, Role.READER, False),
    (True, Role.ANALYST, False),
])  # fmt: skip
def test_the_owning_team_starts_where_the_policy_says_so(
    scene: Scene, policy: bool, role: Role, may: bool
) -> None:
    scene.release.environment.owner_may_start = policy
    assert scene.powers((role, "own", "all")).may_start(scene.release) == may


@pytest.mark.parametrize("kind", ["inactive", "signed out"])
def test_who_cannot_sign_in_may_nothing(scene: Scene, kind: str) -> None:
    make.grant(scene.user, Role.ADMIN)
    scene.user.is_active = False
    powers = powers_of(scene.user if kind == "inactive" else AnonymousUser())
    assert powers == Powers(None)
    assert not powers.may_see(scene.skill)
    for query in (
        visibility.visible_skills,
        visibility.visible_versions,
        visibility.visible_releases,
        visibility.visible_agents,
    ):
        assert not query(powers).exists()


def test_a_superuser_is_an_administrator_and_approves_nothing(scene: Scene) -> None:
    scene.user.is_superuser = True
    powers = scene.powers()
    assert powers.is_admin
    assert not powers.may_decide(scene.release)
    assert not powers.may_publish(scene.own)


@pytest.mark.parametrize(
    ("grants", "sees"),
    [
        ((), False),
        (((Role.READER, "own", "all"),), True),
        (((Role.READER, "foreign", "all"),), False),
        (((Role.READER, "all", "all"),), False),
        (((Role.PUBLISHER, "own", "staging"),), True),
        (((Role.PUBLISHER, "foreign", "all"),), False),
        (((Role.PUBLISHER, "all", "all"),), True),
        (((Role.APPROVER, "all", "production"),), True),
        (((Role.APPROVER, "foreign", "all"),), False),
        (((Role.ANALYST, "all", "all"),), True),
        (((Role.ADMIN, "all", "all"),), True),
    ],
)
def test_who_sees_a_skill_of_its_team_alone(
    scene: Scene, grants: tuple[tuple[Role, str, str], ...], sees: bool
) -> None:
    Skill.objects.update(visibility=Skill.Visibility.TEAM)
    scene.skill.refresh_from_db()
    powers = scene.powers(*grants)
    assert powers.may_see(scene.skill) == sees
    assert visibility.visible_skills(powers).exists() == sees
    assert visibility.visible_versions(powers).exists() == sees
    assert visibility.visible_releases(powers).exists() == sees


def test_everybody_sees_what_is_for_all_and_the_owner_sees_it_always(scene: Scene) -> None:
    powers = scene.powers()
    assert powers.may_see(scene.skill)
    assert visibility.visible_skills(powers).get() == scene.skill
    Skill.objects.update(visibility=Skill.Visibility.TEAM, owner=scene.user)
    scene.skill.refresh_from_db()
    assert powers.may_see(scene.skill)
    assert visibility.visible_skills(powers).get() == scene.skill


def test_nobody_sees_what_is_deleted(scene: Scene) -> None:
    Skill.objects.update(deleted_at=make.NOW)
    scene.skill.refresh_from_db()
    powers = scene.powers((Role.ADMIN, "all", "all"))
    assert not powers.may_see(scene.skill)
    assert not visibility.visible_skills(powers).exists()


@pytest.mark.parametrize(
    ("grants", "sees"),
    [
        ((), NOTHING),
        (((Role.PUBLISHER, "own", "all"),), {"front-desk"}),
        (((Role.PUBLISHER, "all", "all"),), {"front-desk", "help-desk"}),
        (((Role.ADMIN, "all", "all"),), {"front-desk", "help-desk"}),
        (((Role.APPROVER, "all", "all"),), NOTHING),
        (((Role.READER, "own", "all"),), NOTHING),
    ],
)
def test_whose_agents_one_sees(
    scene: Scene, grants: tuple[tuple[Role, str, str], ...], sees: set[str]
) -> None:
    make.agent(team=scene.own)
    make.agent("help-desk", team=scene.foreign)
    make.agent("old", team=scene.own, retired_at=make.NOW)
    found = visibility.visible_agents(scene.powers(*grants))
    assert {agent.name for agent in found} == sees


def test_teams_to_publish_for(scene: Scene) -> None:
    assert list(visibility.teams_to_publish_for(powers_of(scene.cast.ines))) == [scene.own]
    assert not visibility.teams_to_publish_for(powers_of(scene.cast.ada)).exists()
    assert visibility.teams_to_publish_for(scene.powers((Role.PUBLISHER, "all", "staging"))).count() == 2


def test_an_administrator_of_a_part_is_not_made(scene: Scene) -> None:
    for part in ({"team": scene.own}, {"environment": scene.production}):
        with pytest.raises(ValueError, match="whole instance"):
            give_grant(
                user=scene.user,
                wanted=Wanted(Role.ADMIN, **part),  # type: ignore[arg-type]
                actor=crew.actor(None),
                now=make.NOW,
            )
    assert not Grant.objects.filter(user=scene.user).exists()


def test_a_question_asks_nothing_of_the_database(scene: Scene, django_assert_num_queries: object) -> None:
    powers = scene.powers((Role.PUBLISHER, "own", "all"))
    release = Release.objects.select_related("environment", "skill", "version").get()
    with django_assert_num_queries(0):  # type: ignore[operator]
        assert powers.may_stop(release)
        assert not powers.may_decide(release)
        assert powers.may_see(release.skill)


def test_versions_that_were_taken_back_stay_visible(scene: Scene) -> None:
    Version.objects.update(revoked_at=make.NOW)
    assert visibility.visible_versions(scene.powers()).exists()


def test_the_powers_of_many_are_those_of_each(scene: Scene, django_assert_num_queries: object) -> None:
    mara, otto, nora, now = scene.cast.mara, scene.cast.otto, scene.cast.nora, timezone.now()
    for giver, taker, team in (
        (mara, nora, None),
        (mara, scene.user, scene.own),
        (otto, mara, None),
        (otto, nora, None),
    ):
        until = now + timedelta(days=1)
        lend(
            giver=giver,
            taker=taker,
            team=team,
            actor=crew.actor(giver),
            ends_at=until,
            reason="Away.",
            now=now,
        )
    everyone = list(User.objects.filter(is_active=True))
    with django_assert_num_queries(1):  # type: ignore[operator]
        found = powers_of_all(everyone, now=now)
    assert len(found) == len(everyone) > 3
    for user in everyone:
        alone = powers_of(user, now=now)
        assert (sorted(found[user.pk].rights, key=str), found[user.pk].givers) == (
            sorted(alone.rights, key=str),
            alone.givers,
        )
    assert {right.lent_by for right in found[nora.pk].rights} == {mara.pk, otto.pk}
    assert len(found[mara.pk].own) == len(found[otto.pk].rights) == 1
