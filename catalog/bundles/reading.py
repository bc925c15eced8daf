"""A tree of files read as a bundle: SKILL.md, manifest, guidance, safety scan and digest."""

from __future__ import annotations

from dataclasses import replace

from catalog.bundles import checks
from catalog.bundles.bundle import Bundle, Manifest, Risk
from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import File, Limits, Tree
from catalog.bundles.findings import Finding, advice, error, in_order, warning
from catalog.bundles.listing import listed
from catalog.bundles.manifest import ManifestFields, read_manifest
from catalog.bundles.names import folder_name
from catalog.bundles.safety import is_understated, scan_file, suggested_risk
from catalog.bundles.skillmd import SkillMd, read_skill_md
from catalog.bundles.texts import decode

SKILL_MD = ("SKILL.md", "skill.md")
MANIFEST = ("manifest.yaml", "manifest.yml")
# A thousand scripts can hold twenty thousand findings of one kind; nobody reads so many, and each is a row.
MAX_EACH = 200
# The files that say what a skill is, in the order in which they are looked for.
HEADS = (*SKILL_MD, *MANIFEST)


def read_bundle(tree: Tree, *, limits: Limits) -> Bundle:
    """Read a tree as one skill and tell all of its problems; never raises on what the files hold.

    The name is the manifest's where there is one (`web.search`), and the description SKILL.md's.
    `findings` holds the tree's own ones too.
    """
    skill_file, manifest_file = _first(tree, SKILL_MD), _first(tree, MANIFEST)
    skill = read_skill_md(skill_file, max_version_chars=limits.max_version_chars) if skill_file else None
    fields, manifest_findings = (
        read_manifest(manifest_file, tree, limits=limits) if manifest_file else (None, ())
    )
    findings: list[Finding] = [*tree.findings, *manifest_findings, *_of_each_file(tree)]
    if skill and skill_file:
        findings += [*skill.findings, *checks.check_skill_md(skill, skill_file, tree)]
    if skill and skill_file and fields and manifest_file:
        findings += _agreement(skill, fields, skill_file.path, manifest_file.path)
    if not skill_file and not manifest_file:
        findings += _nothing_to_read(tree)
    path = skill_file.path if skill_file else manifest_file.path if manifest_file else ""
    findings += _of_the_whole(skill, fields, tree, path)
    return _joined(skill, fields, tree, tuple(findings))


def _of_each_file(tree: Tree) -> list[Finding]:
    """What the scan and the guidance find file by file, so that one text at a time is in memory."""
    scanned: list[Finding] = []
    guidance: list[Finding] = []
    for file in tree.files:
        text = decode(file)
        scanned += scan_file(file, text)
        guidance += checks.check_file(file, text, tree)
    return [*in_order(scanned), *guidance]


def _first(tree: Tree, paths: tuple[str, ...]) -> File | None:
    return next((file for path in paths if (file := tree.get(path))), None)


def _joined(
    skill: SkillMd | None, fields: ManifestFields | None, tree: Tree, found: tuple[Finding, ...]
) -> Bundle:
    name = _name(skill, fields)
    manifest = fields.manifest if fields else None
    risk = suggested_risk((manifest.permissions if manifest else None) or (), found)
    findings = _without_secrets(_without_doubles((*found, *_understated(manifest, risk, found))))
    return Bundle(
        tree=tree,
        name=name,
        folder=folder_name(name),
        description=(skill.description if skill else "") or (fields.description if fields else ""),
        version=(fields.version if fields else None) or (skill.version if skill else None),
        version_text=(fields.version_text if fields else "") or (skill.version_text if skill else ""),
        frontmatter=skill.frontmatter if skill else None,
        manifest=manifest,
        body=skill.body if skill else "",
        suggested_risk=risk,
        bundle_sha256=bundle_digest(tree.files),
        findings=listed(findings, each=MAX_EACH),
    )


def _understated(manifest: Manifest | None, risk: Risk, found: tuple[Finding, ...]) -> list[Finding]:
    """The warning for a declared risk below what the scan calls for; permissions alone are judged before."""
    code = "risk-level-understated"
    declared = manifest.risk_level if manifest else None
    if declared is None or not is_understated(declared, risk) or any(f.code == code for f in found):
        return []
    message = f"risk_level is {declared}, but the findings of the scan call for {risk}."
    return [warning(code, message, f"Write risk_level: {risk}.", path=MANIFEST[0])]


def _name(skill: SkillMd | None, fields: ManifestFields | None) -> str:
    return (fields.name if fields else "") or (skill.name if skill else "")


def _of_the_whole(
    skill: SkillMd | None, fields: ManifestFields | None, tree: Tree, path: str
) -> list[Finding]:
    """Guidance that needs what both files say."""
    name = _name(skill, fields)
    description = (skill.description if skill else "") or (fields.description if fields else "")
    lines = skill.lines if skill else {}
    findings = [
        *checks.check_folder(name, tree, path=path, line=lines.get("name")),
        *checks.check_advertisement(name, description, path=path, line=lines.get("description")),
    ]
    if skill:
        manifest = fields.manifest if fields else None
        findings += checks.check_workflow(skill.body, manifest, path=path, body_line=skill.body_line)
    return findings


def _agreement(skill: SkillMd, fields: ManifestFields, skill_path: str, path: str) -> list[Finding]:
    """Name and version of both files must agree; a differing description is advice (spec 1.1)."""
    findings: list[Finding] = []
    where = f"{skill_path} and {path}"
    if skill.name and fields.name and skill.name != folder_name(fields.name):
        message = f'{where} name two skills, "{skill.name[:80]}" and "{fields.name[:80]}".'
        hint = f"Write name: {folder_name(fields.name)[:80]} in {skill_path}."
        findings.append(error("manifest-name-mismatch", message, hint, path=path))
    if skill.version and fields.version and skill.version != fields.version:
        message = f"{where} name two versions, {skill.version_text} and {fields.version_text}."
        hint = f"Write one version, or leave it out of {skill_path}."
        findings.append(error("manifest-version-mismatch", message, hint, path=path))
    if skill.description and fields.description and skill.description != fields.description.strip():
        message = f"{where} describe the skill differently; the description of {skill_path} is advertised."
        findings.append(advice("description-differs", message, "Write the same one in both.", path=path))
    return findings


def _nothing_to_read(tree: Tree) -> list[Finding]:
    """The error for a tree without SKILL.md and manifest, unless the layout has told it already."""
    if any(finding.code in ("skill-md-missing", "skill-md-wrong-case") for finding in tree.findings):
        return []
    message = "The bundle has neither a SKILL.md nor a manifest.yaml at its root."
    return [error("skill-md-missing", message, "Add a SKILL.md; the name is spelled in capitals.")]


def _without_doubles(findings: tuple[Finding, ...]) -> list[Finding]:
    """One finding a code, file and line; a comment that addresses the model is not told twice."""
    hidden = {(f.path, f.line) for f in findings if f.code == "hidden-html-comment"}
    kept: dict[tuple[str, str, int | None, str], Finding] = {}
    for finding in findings:
        if finding.code == "html-comment" and (finding.path, finding.line) in hidden:
            continue
        detail = "" if finding.code in ("active-content", "html-comment") else finding.message
        kept.setdefault((finding.code, finding.path, finding.line, detail), finding)
    return list(kept.values())


def _without_secrets(findings: list[Finding]) -> list[Finding]:
    """A message may quote the line it is about; where that line holds a secret it must not."""
    secret = {(f.path, f.line) for f in findings if f.code.startswith("secret-")}
    return [
        replace(
            finding,
            message=f"Line {finding.line} of {finding.path} is at fault.",
            hint="Remove the secret first.",
        )
        if (finding.path, finding.line) in secret and not finding.code.startswith("secret-")
        else finding
        for finding in findings
    ]
