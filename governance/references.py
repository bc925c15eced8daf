"""What reported names refer to: skills, versions and the releases that served them, looked up once for a batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from uuid import UUID

from catalog.models import SERVED, Release, Skill, Version
from catalog.resolution import folder_of
from catalog.snapshots import ARMS


class References:
    """The skills, versions and releases of an environment that these calls name (three queries)."""

    def __init__(self, environment_id: UUID, calls: Iterable[Mapping[str, Any]]) -> None:
        named = {(call["skill_text"], call["version_text"]) for call in calls if call["skill_text"]}
        folders = {folder_of(skill) for skill, _ in named}
        self.skills = dict(Skill.objects.filter(folder__in=folders).values_list("folder", "pk"))
        self.versions = {
            (skill, version): pk
            for skill, version, pk in Version.objects.filter(
                skill__in=self.skills.values(), version__in={version for _, version in named if version}
            ).values_list("skill_id", "version", "pk")
        }
        served = Release.objects.filter(
            environment_id=environment_id, skill__in=self.skills.values(), state__in=SERVED
        ).values_list("version_id", "pk", "state")
        self.releases = {version: (pk, state) for version, pk, state in served}

    def of(self, call: Mapping[str, Any]) -> dict[str, Any]:
        """Foreign keys and arm of the call: nulls where the agent named what nobody knows."""
        skill = self.skills.get(folder_of(call["skill_text"]))
        version = self.versions.get((skill, call["version_text"])) if skill else None
        release, state = self.releases.get(version, (None, "")) if version else (None, "")
        arm = ARMS.get(state, "")
        return {"skill_id": skill, "version_id": version, "release_id": release, "arm": arm}
