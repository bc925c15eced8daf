"""Skills of a catalog to measure by: read and judged as published ones are, written many at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from django.conf import settings
from django.db import transaction

from catalog.admission import Admission, Declared
from catalog.bundles.bundle import Bundle
from catalog.bundles.files import File, Tree
from catalog.bundles.reading import read_bundle
from catalog.insertion import Prepared, insert_version, keep_blobs, prepare
from catalog.journal import Actor
from catalog.models import Environment, Release, Skill, SkillTag, State, Team, Transition, Version
from catalog.revisions import revise
from portal.samples.bench_payloads import TOPICS

BATCH = 250
VERBS = ("check", "find", "draft", "sum-up", "explain")
ABOUT = ("Use when a customer asks about it.", "Используй, когда спрашивает клиент.", "当客户询问时使用。")
RULES = b"# Rules\n\nRead the order first, then the rules of the shop.\n"
SCRIPT = b'#!/usr/bin/env python3\n"""Prints what it was given."""\n\nimport sys\n\nprint(sys.argv[1:])\n'
# The share of skills that are live in an environment, by its order, and of those with a canary.
LIVE = (1.0, 0.95, 0.85)
CANARY = 0.03
CANARY_DAYS = 3


@dataclass(frozen=True, slots=True)
class Draft:
    """A version before it is written."""

    bundle: Bundle
    number: str
    tags: tuple[str, ...]
    at: datetime
    made: Prepared


class Skills:
    """Makes skills; the same seed makes the same ones. `mark` sets their names apart from those of another."""

    def __init__(
        self, random: Random, *, mark: str, teams: Sequence[Team], actor: Actor, now: datetime
    ) -> None:
        self.random, self.mark, self.teams, self.actor, self.now = random, mark, teams, actor, now
        self.environments = list(Environment.objects.order_by("order"))

    def make(self, count: int, tell: Callable[[int], None]) -> None:
        """Publish so many skills and release them; `tell` hears how many there are."""
        for first in range(0, count, BATCH):
            numbers = range(first, min(first + BATCH, count))
            drafts = [self._drafts(n) for n in numbers]
            contents = {
                key: value for some in drafts for one in some for key, value in one.made.contents.items()
            }
            keep_blobs(contents, now=self.now)
            with transaction.atomic():
                self._write(numbers, drafts)
            tell(numbers.stop)
        with transaction.atomic():
            folders = list(Skill.objects.order_by("folder").values_list("folder", flat=True))
            for environment in self.environments:
                revise(environment=environment, folders=folders, now=self.now)

    def _drafts(self, n: int) -> list[Draft]:
        topic, verb = list(TOPICS)[n % len(TOPICS)], VERBS[n // len(TOPICS) % len(VERBS)]
        name = f"{topic}-{verb}-{self.mark}{n:05d}"
        versions = 1 + (self.random.random() < 0.3) + (self.random.random() < 0.1)
        at = self.now - timedelta(days=self.random.uniform(150, 400))
        return [
            self._draft(name, topic, f"1.{minor}.0", at + timedelta(days=20 * minor), n)
            for minor in range(versions)
        ]

    def _draft(self, name: str, topic: str, number: str, at: datetime, n: int) -> Draft:
        asked = TOPICS[topic][n % 3]
        head = (
            f"---\nname: {name}\ndescription: {asked}. {ABOUT[n % 3]}\nmetadata:\n  version: {number}\n---\n"
        )
        files = [
            File("SKILL.md", f"{head}# {asked}\n\nRead what is asked, then answer in a sentence.\n".encode())
        ]
        if n % 3 == 0:
            files.append(File("references/rules.md", RULES))
        if n % 10 == 0:
            files.append(File("scripts/show.py", SCRIPT))
        bundle = read_bundle(Tree(folder=name, files=tuple(files)), limits=settings.LIMITS)
        if bundle.refused:
            raise ValueError(f"{name} is refused: {bundle.findings}")
        return Draft(bundle, number, (topic, "bench"), at, prepare(bundle))

    def _write(self, numbers: Sequence[int], drafts: Sequence[Sequence[Draft]]) -> None:
        skills = Skill.objects.bulk_create(
            Skill(
                name=some[0].bundle.name,
                folder=some[0].bundle.folder,
                team=self.teams[n % len(self.teams)],
                created_at=some[0].at,
                updated_at=some[-1].at,
            )
            for n, some in zip(numbers, drafts, strict=True)
        )
        releases: list[Release] = []
        for skill, some in zip(skills, drafts, strict=True):
            versions = [self._version(skill, draft) for draft in some]
            skill.latest = versions[-1]
            releases += self._releases(skill, versions)
        Skill.objects.bulk_update(skills, ["latest"])
        SkillTag.objects.bulk_create(
            SkillTag(skill=skill, tag=tag)
            for skill, some in zip(skills, drafts, strict=True)
            for tag in some[-1].tags
        )
        Release.objects.bulk_create(releases)
        Transition.objects.bulk_create(change for release in releases for change in _history(release))

    def _version(self, skill: Skill, draft: Draft) -> Version:
        declared = Declared(risk_level="low", tags=draft.tags, stability="stable")
        admission = Admission(
            status="published",
            version=draft.number,
            declared_risk="low",
            risk_level="low",
            suggested_risk=draft.bundle.suggested_risk,
            permissions=(),
            tags=draft.tags,
            stability="stable",
            findings=draft.bundle.findings,
        )
        return insert_version(
            skill=skill,
            bundle=draft.bundle,
            admission=admission,
            declared=declared,
            actor=self.actor,
            provenance={"form": "folder", "via": "bench data"},
            made=draft.made,
            now=draft.at,
        )

    def _releases(self, skill: Skill, versions: Sequence[Version]) -> Iterator[Release]:
        """Live in most environments; a few of those with two versions have the second as a canary."""
        *older, latest = versions
        for environment, share in zip(
            self.environments, (*LIVE, *[LIVE[-1]] * len(self.environments)), strict=False
        ):
            if self.random.random() >= share:
                continue
            if older and self.random.random() < CANARY / 0.3:
                yield self._release(skill, older[-1], environment, State.LIVE, older[-1].published_at)
                since = self.now - timedelta(days=CANARY_DAYS)
                yield self._release(skill, latest, environment, State.CANARY, since)
                continue
            for version in older:
                yield self._release(skill, version, environment, State.SUPERSEDED, version.published_at)
            yield self._release(skill, latest, environment, State.LIVE, latest.published_at)

    def _release(
        self, skill: Skill, version: Version, environment: Environment, state: State, at: datetime
    ) -> Release:
        return Release(
            environment=environment,
            skill=skill,
            version=version,
            state=state,
            percent=20 if state == State.CANARY else 100,
            seed=f"{self.random.getrandbits(64):016x}",
            canary={"percent": 20} if state == State.CANARY else {},
            bundle_sha256=version.bundle_sha256,
            declaration_sha256=version.declaration_sha256,
            proposed_at=at,
            expires_at=at + timedelta(days=14),
            changed_at=at,
        )


def _history(release: Release) -> Iterator[Transition]:
    started = State.CANARY if release.state == State.CANARY else State.LIVE
    changes = [("start", State.APPROVED, started)]
    if release.state == State.SUPERSEDED:
        changes.append(("supersede", State.LIVE, State.SUPERSEDED))
    for n, (action, before, after) in enumerate(changes, start=1):
        yield Transition(
            release=release,
            n=n,
            action=action,
            from_state=before,
            to_state=after,
            reason="Bench data.",
            created_at=release.proposed_at + timedelta(days=20 * (n - 1)),
        )
