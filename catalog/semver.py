"""Order and arithmetic of versions by Semantic Versioning 2.0.0 (semver.org)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

from semver import Version

Part = Literal["major", "minor", "patch"]

_PRE_RELEASE_END = b"\x00"
_NUMERIC = b"\x01"
_ALPHANUMERIC = b"\x02"
_RELEASE = b"\xff"


def parse(version: str) -> Version:
    """The parsed version; raises ValueError where the text is not strict SemVer 2.0.0."""
    # The library's pattern lets digits of other scripts and a last line feed through.
    if not version.isascii() or version != version.strip():
        raise ValueError("not a semantic version")
    return Version.parse(version)


def precedence_key(version: str) -> bytes:
    """Bytes that sort by SemVer precedence (semver.org, clause 11) when compared byte by byte.

    Both a BLOB of SQLite and a bytea of PostgreSQL compare so. Numbers keep their digits behind a
    four-byte length, thus none is too large; build metadata has no part in it. Raises ValueError
    where the text is not a semantic version.
    """
    parsed = parse(version)
    core = b"".join(_number(str(n)) for n in (parsed.major, parsed.minor, parsed.patch))
    if parsed.prerelease is None:
        return core + _RELEASE
    return core + b"".join(map(_identifier, parsed.prerelease.split("."))) + _PRE_RELEASE_END


def latest(versions: Iterable[str]) -> str | None:
    """The highest version that is no pre-release, or None where there is none (`manifest.md`)."""
    releases = [version for version in versions if parse(version).prerelease is None]
    return max(releases, key=precedence_key, default=None)


def satisfies(version: str, minimum: str) -> bool:
    """Whether a dependency on `minimum` is met: that or newer within the same major (spec 2.4).

    Major 0 is a major like any other, as the rule is written: 0.4.0 meets 0.3.0, and semver
    honesty holds below 1.0.0 too. A pre-release counts by precedence alone: 1.4.0-rc.1 meets
    1.3.0 but not 1.4.0, and 2.0.0-rc.1 is of major 2; whether an environment serves pre-releases
    is its policy's business. Raises ValueError where either text is not a semantic version.
    """
    same_major = parse(version).major == parse(minimum).major
    return same_major and precedence_key(version) >= precedence_key(minimum)


def bump(version: str, part: Part) -> str:
    """The next release that differs in `part`; raises ValueError where `version` is not SemVer.

    A pre-release is finished rather than passed over: 1.2.0-rc.1 bumped by a patch is 1.2.0.
    """
    return str(parse(version).next_version(part))


def _number(digits: str) -> bytes:
    """Digits behind their length, so that the longer number is the greater one."""
    return len(digits).to_bytes(4, "big") + digits.encode()


def _identifier(identifier: str) -> bytes:
    if identifier.isdigit():
        return _NUMERIC + _number(identifier)
    # The closing zero sorts below every allowed character: "alpha" stays below "alpha0".
    return _ALPHANUMERIC + identifier.encode() + b"\x00"
