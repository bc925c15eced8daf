"""`python -m tests.catalog.killed_publisher POINT TEAM`: publish a bundle, and kill this process at POINT.

Points: `written`, `synced` and `renamed` of the bytes' first file; `inserted` and `committed` of the
rows; `never` publishes to the end.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django

FILES = {
    "SKILL.md": b"---\nname: desk-plan\ndescription: Plans a desk. Use when one moves; not for offices.\n---\n\n# Desk\n",
    "references/floors.md": b"Floors 1 to 4 have a lift.\n",
}
POINTS = ("written", "synced", "renamed", "inserted", "committed")


def die(*_: Any, **__: Any) -> None:
    """End this process as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def dying(work: Callable[..., Any]) -> Callable[..., Any]:
    """The work, and then the end."""

    def done(*arguments: Any, **named: Any) -> None:
        work(*arguments, **named)
        die()

    return done


def arm(point: str) -> None:
    """Have the process killed when it comes to the point."""
    from catalog import blobs, journal

    if point == "written":
        blobs.os.fsync = die  # type: ignore[attr-defined]
    elif point == "synced":
        Path.rename = die  # type: ignore[method-assign,assignment]
    elif point == "renamed":
        Path.rename = dying(Path.rename)  # type: ignore[method-assign]
    elif point == "inserted":
        journal.append = dying(journal.append)


def main(point: str, team: str) -> None:
    """Publish, and be killed on the way."""
    django.setup()
    from django.utils import timezone

    from catalog.admission import Declared
    from catalog.bundles.files import Limits
    from catalog.journal import Actor
    from catalog.models import Team
    from catalog.publishing import publish
    from tests.cast import read

    arm(point)
    publication = publish(
        bundle=read(FILES, folder="desk-plan"),
        team=Team.objects.get(slug=team),
        declared=Declared(version="1.0.0"),
        actor=Actor.system("test"),
        provenance={"form": "archive", "via": "test"},
        limits=Limits(),
        now=timezone.now(),
    )
    if point == "committed":
        die()
    print(publication.status)


if __name__ == "__main__":
    main(*sys.argv[1:])
