"""Versions that are asked for by number: readable for 30 days after they were served (spec 5.4)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from catalog.caches import Bounded
from catalog.models import SERVED, Release
from catalog.resolution import Feed, Gone, folder_of
from catalog.snapshots import Served, Snapshot, as_told, serve, with_parts
from catalog.switches import Switch

READABLE = timedelta(days=30)


@dataclass(frozen=True, slots=True)
class Pin:
    """A version that was served here, and when it ended (None: it is served now)."""

    served: Served
    ended_at: datetime | None


class SwitchedOff(Exception):
    """The skill is switched off here; `fallback` is the name of what stands in for it, None where nothing does."""

    def __init__(self, name: str, switch: Switch, environment: str) -> None:
        super().__init__(f"{name} cannot be read in {environment}. {switch.told}")
        self.fallback = switch.fallback.name if switch.fallback else None


# Whoever is asked again for a version that never was here is answered from memory too.
_pins: Bounded[tuple[UUID, int, str, str], Pin | None] = Bounded(
    lambda pin: 2000 + 3 * len(pin.served.rendered) if pin else 300, most=16 * 1024 * 1024
)


def read_version(*, feed: Feed, name: str, version: str | None, now: datetime) -> Served:
    """The served version of a skill, or a pinned one that was live here in the last 30 days.

    Raises Unknown for a skill that the caller is not served, Gone for a version that never
    was live here, has not been for 30 days, or was revoked, and SwitchedOff for one of a skill that is.
    """
    served = as_told(_find_version(feed, name, version, now), feed.served)
    if served.switch is not None:
        raise SwitchedOff(served.name, served.switch, feed.environment)
    return served


def _find_version(feed: Feed, name: str, version: str | None, now: datetime) -> Served:
    folder = folder_of(name)
    served = feed.served.get(folder)
    if version is None or (served is not None and version == served.version):
        return feed.get(name)
    told = (feed.environment_id, feed.revision, folder[:100], version[:300])
    pin = _pins.get(told, lambda: _find_pin(feed.snapshot, folder, version))
    if pin and feed.limits.allow(pin.served) and (pin.ended_at is None or now - pin.ended_at <= READABLE):
        return pin.served
    if served is None:
        return feed.get(name)
    raise Gone(f"Version {version[:100]} of {served.name} is not served in {feed.environment}.")


def _find_pin(snapshot: Snapshot, folder: str, version: str) -> Pin | None:
    """The last release of the version that was served; each change of one gives a new revision."""
    releases = Release.objects.filter(
        environment_id=snapshot.environment_id,
        skill__folder=folder,
        skill__deleted_at=None,
        version__version=version,
        version__revoked_at=None,
        transitions__to_state__in=SERVED,
    )
    release = with_parts(releases).order_by("-changed_at").first()
    if release is None:
        return None
    served = serve(release, snapshot.around)
    return Pin(served, None if release.state in SERVED else release.changed_at)
