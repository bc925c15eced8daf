"""What an environment serves has changed: its next revision."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F

from catalog.models import Environment, Revision


def revise(*, environment: Environment, folders: list[str], now: datetime) -> None:
    """Give the environment its next revision, which changes these skills; inside a transaction."""
    Environment.objects.filter(pk=environment.pk).update(revision=F("revision") + 1)
    environment.refresh_from_db(fields=["revision"])
    Revision.objects.create(environment=environment, n=environment.revision, changes=folders, created_at=now)
