"""Plain builders of rows for tests, and a named cast. Everything goes through the domain functions.

cast = make.cast()
version = make.version("refund-check", cast=cast)
make.release(version, "production", cast=cast)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from catalog import publishing, tokens
from catalog.admission import Declared
from catalog.bundles.bundle import Bundle
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.reading import read_bundle
from catalog.canaries import Plan
from catalog.journal import Actor
from catalog.models import (
    Agent,
    Delegation,
    Environment,
    Grant,
    Release,
    Role,
    Skill,
    SkillSet,
    State,
    Team,
    Token,
    User,
    Version,
)
from governance import approvals, rollouts
from governance.clearing import review

NOW = datetime(2026, 11, 30, 9, 0, tzinfo=UTC)
PASSWORD = "the blue door is open"
DESCRIPTION = "Checks a refund against the shop's rules. Use when a customer asks for money back."
BODY = "# Refunds\n\nRead the order, then the rules.\n"


@dataclass(frozen=True)
class Cast:
    """Two teams and the people that tests speak of."""

    payments: Team
    support: Team
    ines: User  # publisher in Payments
    sven: User  # publisher in Support: the outsider
    mara: User  # approver everywhere
    otto: User  # approver everywhere: the second pair of eyes
    lena: User  # analyst everywhere
    ravi: User  # reader in Payments: may change nothing
    ada: User  # administrator, who approves nothing by that
    nora: User  # signed in, without any grant


def cast() -> Cast:
    """Make the cast."""
    payments, support = team("payments", "Payments"), team("support", "Support")
    people = {
        name: user(name, first_name=name.title(), last_name=last)
        for name, last in (
            ("ines", "Okafor"),
            ("sven", "Berg"),
            ("mara", "Lindqvist"),
            ("otto", "Kraus"),
            ("lena", "Vega"),
            ("ravi", "Shah"),
            ("ada", "Moreau"),
            ("nora", "Quist"),
        )
    }
    grant(people["ines"], Role.PUBLISHER, team=payments)
    grant(people["sven"], Role.PUBLISHER, team=support)
    grant(people["mara"], Role.APPROVER)
    grant(people["otto"], Role.APPROVER)
    grant(people["lena"], Role.ANALYST)
    grant(people["ravi"], Role.READER, team=payments)
    grant(people["ada"], Role.ADMIN)
    return Cast(payments=payments, support=support, **people)


def user(name: str, **fields: Any) -> User:
    """A user who signs in with PASSWORD."""
    return User.objects.create_user(name, password=PASSWORD, **fields)


def team(slug: str, name: str = "") -> Team:
    """A team."""
    return Team.objects.create(slug=slug, name=name or slug.title())


def grant(
    user: User,
    role: str,
    *,
    team: Team | None = None,
    environment: Environment | None = None,
    may_override: bool = False,
) -> Grant:
    """A role of a user, for all teams and environments where none is named."""
    return Grant.objects.create(
        user=user, role=role, team=team, environment=environment, may_override=may_override
    )


def delegation(
    giver: User,
    taker: User,
    *,
    team: Team | None = None,
    environment: Environment | None = None,
    starts_at: datetime = NOW,
    days: int = 14,
    ended_at: datetime | None = None,
) -> Delegation:
    """The giver's approver rights, lent for so many days."""
    return Delegation.objects.create(
        giver=giver,
        taker=taker,
        team=team,
        environment=environment,
        reason="On leave.",
        starts_at=starts_at,
        ends_at=starts_at + timedelta(days=days),
        ended_at=ended_at,
        created_at=starts_at,
    )


def environment(name: str) -> Environment:
    """One of the environments that a catalog starts with."""
    return Environment.objects.get(name=name)


def skill_md(
    name: str = "refund-check",
    *,
    version: str = "",
    description: str = DESCRIPTION,
    body: str = BODY,
    frontmatter: str = "",
) -> bytes:
    """The bytes of a SKILL.md; `frontmatter` holds further lines of it."""
    head = f'name: {name}\ndescription: "{description}"\n'
    if version:
        head += f'metadata:\n  version: "{version}"\n'
    return f"---\n{head}{frontmatter}---\n\n{body}".encode()


def manifest(name: str = "refund.issue", *, version: str = "1.0.0", more: str = "") -> bytes:
    """The bytes of a manifest.yaml of a tool; `more` holds further lines of it."""
    return (
        f'name: {name}\nversion: "{version}"\n'
        "description: Issues a refund for an order. Use when a refund was granted; not for exchanges.\n"
        "run: run.py\nrisk_level: medium\npermissions: [network]\ntags: [money]\n"
        "idempotent: {key: [order_id]}\n"
        "input_schema:\n  type: object\n  properties:\n"
        "    order_id: {type: string, description: Number of the order}\n"
        "    currency: {type: string, enum: [EUR, USD], default: EUR, description: Currency}\n"
        "  required: [order_id]\n"
        "output_schema:\n  type: object\n  properties:\n    refunded: {type: boolean, description: Done}\n"
        f"{more}"
    ).encode()


def bundle(files: Mapping[str, bytes], *, folder: str = "") -> Bundle:
    """A bundle read from files in memory."""
    parts = tuple(File(path, content) for path, content in sorted(files.items()))
    return read_bundle(Tree(folder, parts), limits=Limits())


def publication(
    bundle: Bundle,
    *,
    team: Team,
    publisher: User | None = None,
    now: datetime = NOW,
    provenance: Mapping[str, Any] | None = None,
    **declared: Any,
) -> publishing.Publication:
    """What comes of publishing the bundle; `declared` are the fields of `Declared`."""
    return publishing.publish(
        bundle=bundle,
        team=team,
        declared=Declared(**declared),
        actor=Actor(user=publisher, origin="127.0.0.1", is_system=publisher is None),
        provenance=dict(provenance or {"form": "zip", "file": "upload.zip"}),
        limits=Limits(),
        now=now,
    )


def version(
    name: str = "refund-check",
    number: str = "1.0.0",
    *,
    cast: Cast | None = None,
    team: Team | None = None,
    publisher: User | None = None,
    files: Mapping[str, bytes] | None = None,
    description: str = DESCRIPTION,
    body: str = BODY,
    frontmatter: str = "",
    now: datetime = NOW,
    **declared: Any,
) -> Version:
    """A published version of a skill of Payments, by Ines, low risk and without permissions.

    `files` are added to SKILL.md; a `manifest.yaml` or a SKILL.md among them stands for itself.
    """
    team = team or (cast.payments if cast else Team.objects.get(slug="payments"))
    content = dict(files or {})
    if "manifest.yaml" not in content:
        head = skill_md(name, version=number, description=description, body=body, frontmatter=frontmatter)
        content.setdefault("SKILL.md", head)
        declared = {"risk_level": "low", "stability": "stable", **declared}
    published = publication(
        bundle(content, folder=name.replace(".", "-")),
        team=team,
        publisher=publisher or (cast.ines if cast else None),
        now=now,
        **declared,
    )
    assert published.row is not None, [f"{f.path}: {f.message}" for f in published.findings]
    return published.row


def skill(name: str = "refund-check", **fields: Any) -> Skill:
    """A skill with one version; takes what `version` takes."""
    return Skill.objects.select_related("team", "latest").get(pk=version(name, **fields).skill_id)


def skill_set(slug: str, *skills: Skill, name: str = "") -> SkillSet:
    """A set of skills."""
    made = SkillSet.objects.create(slug=slug, name=name or slug.title())
    made.skills.add(*skills)
    return made


def release(
    version: Version,
    environment: str | Environment,
    *,
    cast: Cast,
    state: str = State.LIVE,
    percent: int = 20,
    proposer: User | None = None,
    note: str = "",
    now: datetime = NOW,
) -> Release:
    """A release brought to the state by those who may: proposed by Ines, approved by Mara and Otto.

    `percent` is the share of a canary.
    """
    where = environment if isinstance(environment, Environment) else make_environment(environment)
    mara = Actor(user=cast.mara, origin="127.0.0.1")
    made = approvals.propose(
        version=version,
        environment=where,
        actor=Actor(user=proposer or cast.ines, origin="127.0.0.1"),
        note=note,
        plan=Plan(percent=percent) if state in {State.CANARY, State.HALTED} else None,
        now=now,
    )
    if state == State.REJECTED:
        return approvals.reject(release=made, actor=mara, reason="Not yet.", now=now)
    if state == State.WITHDRAWN:
        return approvals.withdraw(release=made, actor=Actor(user=cast.ines), now=now)
    for approver in (cast.mara, cast.otto):
        if state != State.PROPOSED and made.state == State.PROPOSED:
            made = approvals.approve(
                release=made, actor=Actor(user=approver), confirm=made.skill.name, now=now
            )
    if made.state == State.APPROVED and state != State.APPROVED:
        made = rollouts.start(release=made, actor=mara, now=now)
    if state == State.HALTED:
        made = rollouts.halt(release=made, actor=mara, reason="Too many errors.", now=now)
    if state == State.ROLLED_BACK:
        made = rollouts.roll_back(release=made, actor=mara, reason="Wrong totals.", now=now)
    assert made.state == state, (made.state, [g.detail for g in review(made).shut])
    return made


def approve(release: Release, approver: User, *, now: datetime = NOW) -> Release:
    """One approval, with the skill's name typed."""
    return approvals.approve(release=release, actor=Actor(user=approver), confirm=release.skill.name, now=now)


make_environment = environment


def agent(name: str = "front-desk", *, team: Team, **fields: Any) -> Agent:
    """An agent of the team."""
    return Agent.objects.create(name=name, team=team, created_at=NOW, **fields)


def token(
    *,
    agent: Agent | None = None,
    user: User | None = None,
    environment: str = "production",
    scopes: Sequence[str] = (),
    now: datetime | None = None,
    days: int = 90,
) -> tuple[Token, str]:
    """A token of an agent in an environment, or of a user: the row and the secret."""
    return tokens.issue_token(
        actor=Actor(user=user) if user else Actor.system("test"),
        scopes=scopes or (("feed",) if agent else ("read",)),
        now=now or datetime.now(UTC),
        agent=agent,
        environment=make_environment(environment) if agent else None,
        user=user,
        days=days,
    )
