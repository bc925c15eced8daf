"""Which version a publication becomes, and whether that number is honest (spec 2.5, `manifest.md`)."""

from __future__ import annotations

from catalog import honesty, semver
from catalog.bundles.bundle import Bundle
from catalog.bundles.characters import shown
from catalog.bundles.files import Limits
from catalog.bundles.findings import Finding, advice, error
from catalog.bundles.names import read_version
from catalog.comparison import promised_by
from catalog.models import Skill, Version


def choose_version(
    bundle: Bundle, sent: str | None, skill: Skill | None, promised: honesty.Declared, limits: Limits
) -> tuple[str, list[Finding]]:
    """The bundle's own version, else the one sent, else that of the same bytes, else the next honest one.

    "" where the text that was sent is no version. `skill` is the one to which the version would belong.
    """
    read, found = read_version(sent, max_chars=limits.max_version_chars) if sent else (None, ())
    if bundle.version:
        unused = bool(sent) and read != bundle.version
        return bundle.version, [_not_used(bundle.version, sent or "")] if unused else []
    if sent:
        return (read, list(found)) if read else ("", [_not_a_version(sent)])
    return _same_bytes(bundle, skill) or _next(skill, promised), []


def judge_honesty(version: str, skill: Skill | None, promised: honesty.Declared) -> list[Finding]:
    """Findings of `version` beside the nearest lower release; pre-releases promise nothing (semver.org, 9)."""
    below = _nearest_release(skill, below=version)
    if below is None:
        return []
    return list(honesty.check_honesty(version, below.version, promised_by(below), promised))


def promised_in(bundle: Bundle, permissions: tuple[str, ...]) -> honesty.Declared:
    """What callers will rely on in the bundle, once it is a version with these permissions."""
    manifest, front = bundle.manifest, bundle.frontmatter
    return honesty.Declared(
        input_schema=manifest.input_schema if manifest else None,
        output_schema=manifest.output_schema if manifest else None,
        permissions=permissions,
        allowed_tools=front.allowed_tools if front else None,
    )


def _same_bytes(bundle: Bundle, skill: Skill | None) -> str | None:
    same = Version.objects.filter(skill=skill, bundle_sha256=bundle.bundle_sha256) if skill else None
    return same.order_by("-precedence").values_list("version", flat=True).first() if same else None


def _next(skill: Skill | None, promised: honesty.Declared) -> str:
    """The least honest bump over the highest version; 1.0.0 for the first."""
    highest = skill.versions.order_by("-precedence").first() if skill else None
    if highest is None:
        return "1.0.0"
    release = _nearest_release(skill)
    found = honesty.changes(promised_by(release), promised) if release else ()
    return semver.bump(highest.version, honesty.least_bump(found))


def _nearest_release(skill: Skill | None, *, below: str | None = None) -> Version | None:
    """The highest version that is no pre-release, or the highest one below the number."""
    releases = Version.objects.filter(skill=skill, prerelease=False) if skill else Version.objects.none()
    if below is not None:
        releases = releases.filter(precedence__lt=semver.precedence_key(below))
    return releases.order_by("-precedence").first()


def _not_used(version: str, sent: str) -> Finding:
    return advice(
        "version-from-bundle",
        f"The bundle names version {version}; the version sent, {shown(sent)}, is not used.",
        "Change the version in the bundle, or send none.",
    )


def _not_a_version(text: str) -> Finding:
    return error(
        "version-invalid",
        f"The version sent, {shown(text)}, is no semantic version.",
        "Send three numbers such as 1.2.0, or none.",
    )
