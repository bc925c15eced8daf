"""Whether a bundle loads in each agent runtime, with what loss, or why it fails (spec 1.8).

Each runtime is judged by its own rules, written down below from its documents and, for the two
that are Python packages, held against the package in the tests. What is judged is what a client
gets: SKILL.md has its right name. The folder is the one the bundle came in, since an archive with
a flat root does not bring one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

from catalog.bundles import linewise
from catalog.bundles.bundle import Bundle, Frontmatter
from catalog.bundles.files import File
from catalog.bundles.frontmatter_keys import OPEN_KEYS
from catalog.bundles.yamlfaults import shown
from catalog.bundles.yamlflow import flow_line
from catalog.bundles.yamltext import Mapping, Scalar, Sequence, as_text, read_yaml

RUNTIMES = ("spec", "raf", "awaken", "maf")
MAX_DESCRIPTION_CHARS = 1024
MAX_COMPATIBILITY_CHARS = 500

_RAF_FOLDERS = ("references/", "assets/", "scripts/")
_MAF_RESOURCES = (".md", ".json", ".yaml", ".yml", ".csv", ".xml", ".txt")
_MAF_DEPTH = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """`loads`, `loss` (loads, but loses what `notes` say) or `fails` (for the reasons in `notes`)."""

    verdict: Literal["loads", "loss", "fails"]
    notes: tuple[str, ...] = ()


def judge(bundle: Bundle) -> dict[str, Verdict]:
    """The verdict of each runtime, by its key in `RUNTIMES`; never raises.

    A refused bundle fails everywhere, for it is not served. A tool skill is served with a generated
    SKILL.md of name and description, so that only its description's length can matter.
    """
    if bundle.refused:
        return dict.fromkeys(RUNTIMES, Verdict("fails", ("The catalog refuses the bundle.",)))
    file = bundle.tree.get("SKILL.md") or bundle.tree.get("skill.md")
    if file is None or bundle.frontmatter is None:
        return _tool_skill(bundle)
    skill = _Skill(bundle, bundle.frontmatter, file.content.decode("utf-8", "replace"))
    return {
        "spec": _open_specification(skill),
        "raf": _raf(skill),
        "awaken": _awaken(skill),
        "maf": _agent_framework(skill),
    }


@dataclass(frozen=True, slots=True)
class _Skill:
    """A bundle with SKILL.md and its text as the runtimes read it, BOM included."""

    bundle: Bundle
    frontmatter: Frontmatter
    text: str

    @property
    def name(self) -> str:
        """The name in SKILL.md, which a manifest's name agrees with."""
        return self.bundle.folder

    @property
    def source(self) -> str:
        """The frontmatter's YAML, with LF line ends."""
        return linewise.frontmatter(self.python_text.removeprefix("\ufeff"))

    @property
    def python_text(self) -> str:
        """The text with the line ends that Python's text mode gives it."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n")

    def wrong_folder(self) -> list[str]:
        """The note where the folder the bundle came in has not the name of the skill."""
        folder = self.bundle.tree.folder
        if not folder or folder == self.name:
            return []
        return [f'The folder is called "{folder}"; unpack the skill into a folder called "{self.name}".']

    def others(self) -> list[File]:
        """The files beside SKILL.md and manifest."""
        own = ("SKILL.md", "skill.md", "manifest.yaml")
        return [file for file in self.bundle.tree.files if file.path not in own]


def _verdict(fails: list[str], losses: list[str], notes: tuple[str, ...] = ()) -> Verdict:
    if fails:
        return Verdict("fails", tuple(fails))
    return Verdict("loss" if losses else "loads", (*losses, *notes))


def _tool_skill(bundle: Bundle) -> dict[str, Verdict]:
    too_long = _too_long(bundle.description)
    limited = _verdict(too_long, [])
    return {"spec": limited, "raf": Verdict("loads"), "awaken": Verdict("loads"), "maf": limited}


def _too_long(description: str) -> list[str]:
    if len(description) <= MAX_DESCRIPTION_CHARS:
        return []
    return [f"The description has {len(description):,} characters, more than {MAX_DESCRIPTION_CHARS:,}."]


def _compatibility_too_long(frontmatter: Frontmatter) -> list[str]:
    length = len(frontmatter.compatibility or "")
    if length <= MAX_COMPATIBILITY_CHARS:
        return []
    return [f"The compatibility has {length} characters, more than {MAX_COMPATIBILITY_CHARS}."]


def _open_specification(skill: _Skill) -> Verdict:
    """The reference validator, skills-ref 0.1.1: strict YAML, six keys, and a split at any `---`."""
    if skill.text.startswith("\ufeff"):
        return Verdict("fails", ("SKILL.md begins with a byte order mark.",))
    source = skill.python_text.split("---", 2)[1]
    document = read_yaml(source, path="SKILL.md")
    if not isinstance(document.root, Mapping) or any(f.severity == "error" for f in document.findings):
        return Verdict("fails", ("A --- inside the frontmatter ends it early, and the rest is no YAML.",))
    fails = []
    if (line := flow_line(source)) is not None:
        fails.append(f"Line {line} of SKILL.md is a list or mapping in brackets, which strict YAML refuses.")
    keys = [key for key in document.root.entries if key not in OPEN_KEYS]
    if keys:
        fails.append(
            f"The keys {', '.join(shown(key, 80) for key in sorted(keys))} are not in the specification."
        )
    for key in ("compatibility", "description", "name"):
        value = document.root.entries.get(key)
        if (
            value is not None
            and (not isinstance(value, Scalar) or not value.text.strip())
            and key != "compatibility"
        ):
            fails.append(f"The {key} is not text.")
    if isinstance(document.root.entries.get("compatibility"), Mapping | Sequence):
        fails.append("The compatibility is not text.")
    fails += [*skill.wrong_folder(), *_too_long(skill.bundle.description)]
    fails += _compatibility_too_long(skill.frontmatter)
    read = {key: as_text(node) for key, node in document.root.entries.items()}
    missing = [key for key in ("name", "description") if key not in read]
    fails += [f"A --- inside the frontmatter ends it before the {key}." for key in missing]
    cut = str(read.get("description", "")).strip() != skill.bundle.description
    return _verdict(fails, ["A --- inside the description cuts it there."] if cut else [])


def _raf(skill: _Skill) -> Verdict:
    """RAF's AgentSkillsProvider: frontmatter by lines, three folders, resources as UTF-8."""
    fields = linewise.raf_fields(skill.text)
    if fields is None:
        return Verdict("fails", ("RAF finds no frontmatter that begins with --- and ends with it.",))
    fails = [f"RAF reads no {key}." for key in ("name", "description") if not fields.get(key)]
    losses = [] if fails else _misread(skill, fields, ("name", "description", "license", "compatibility"))
    losses += _ignored(skill, ("allowed-tools", *_extensions(skill)))
    outside = [file.path for file in skill.others() if not file.path.startswith(_RAF_FOLDERS)]
    if outside:
        losses.append(f"Files outside references/, assets/ and scripts/ cannot be reached: {_few(outside)}.")
    binary = [f.path for f in skill.others() if f.path.startswith(_RAF_FOLDERS[:2]) and not _is_utf8(f)]
    if binary:
        losses.append(f"Resources that are not UTF-8 cannot be read: {_few(binary)}.")
    return _verdict(fails, losses)


def _awaken(skill: _Skill) -> Verdict:
    """Awaken's parse_skill_md: five keys, line by line, whatever their indentation."""
    fields = linewise.awaken_fields(skill.text)
    if fields is None:
        return Verdict("fails", ("Awaken finds no frontmatter that begins with --- and ends with it.",))
    fails = [f"Awaken reads no {key}." for key in ("name", "description") if not fields.get(key)]
    losses = [] if fails else _misread(skill, fields, ("name", "description", "when-to-use"))
    tools = skill.frontmatter.allowed_tools
    if tools is not None and linewise.awaken_tools(fields.get("allowed-tools", "")) != tools:
        read = linewise.awaken_tools(fields.get("allowed-tools", ""))
        losses.append(f"allowed-tools is read as {list(read)}; part the tools with commas.")
    hidden = fields.get("disable-model-invocation", "").lower() == "true"
    if hidden != skill.frontmatter.disable_model_invocation:
        losses.append(f"disable-model-invocation is read as {str(hidden).lower()}.")
    unread = [key for key in _extensions(skill) if key not in ("when-to-use", "disable-model-invocation")]
    return _verdict(fails, [*losses, *_ignored(skill, tuple(unread))])


def _agent_framework(skill: _Skill) -> Verdict:
    """Microsoft Agent Framework 1.23.0: `FileSkillsSource` with its defaults."""
    root = read_yaml(skill.source, path="SKILL.md").root
    entries = root.entries if isinstance(root, Mapping) else {}
    fails = [*skill.wrong_folder(), *_too_long(skill.bundle.description)]
    fails += _compatibility_too_long(skill.frontmatter)
    for key, node in entries.items():
        if key.lower() in OPEN_KEYS and key != key.lower():
            fails.append(f'The key "{key}" is spelled otherwise than {key.lower()}, so the skill is dropped.')
        elif key in OPEN_KEYS and key != "metadata" and not isinstance(node, Scalar):
            fails.append(f"The value of {key} is a list or a mapping, so the skill is dropped.")
    losses = _ignored(skill, _extensions(skill))
    metadata = skill.frontmatter.metadata
    nested = [key for key, value in metadata.items() if not isinstance(value, str)]
    if nested:
        losses.append(
            f"The metadata of {_few([shown(key, 80) for key in nested])} is skipped, for it is not text."
        )
    elif (
        "metadata" in entries
        and not isinstance(entries["metadata"], Mapping)
        and "metadata" in skill.frontmatter.extra
    ):
        losses.append("The metadata is skipped, for it is not a mapping.")
    unseen = [file.path for file in skill.others() if not _seen_by_agent_framework(file.path)]
    if unseen:
        losses.append(
            f"Files of other kinds, or below a second level of folders, are not seen: {_few(unseen)}."
        )
    scripts = any(
        file.path.endswith(".py") and _seen_by_agent_framework(file.path) for file in skill.others()
    )
    notes = ("Scripts run where the agent has a script runner.",) if scripts else ()
    return _verdict(fails, losses, notes)


def _seen_by_agent_framework(path: str) -> bool:
    suffix = PurePosixPath(path).suffix.lower()
    return suffix in (*_MAF_RESOURCES, ".py") and len(PurePosixPath(path).parts) <= _MAF_DEPTH


def _misread(skill: _Skill, fields: dict[str, str], keys: tuple[str, ...]) -> list[str]:
    """What a reader of lines makes of values that YAML reads otherwise."""
    meant = {
        "name": skill.name,
        "description": skill.bundle.description,
        "license": skill.frontmatter.license or "",
        "compatibility": skill.frontmatter.compatibility or "",
        "when-to-use": skill.frontmatter.when_to_use or "",
    }
    return [
        f'The {key} is read as "{shown(fields.get(key, ""), 60)}"; write it in one line, above metadata.'
        for key in keys
        if fields.get(key, "") != meant[key]
    ]


def _extensions(skill: _Skill) -> tuple[str, ...]:
    """The extension keys that change what an agent does, where the skill gives them."""
    frontmatter = skill.frontmatter
    given = {
        "when-to-use": frontmatter.when_to_use,
        "disable-model-invocation": frontmatter.disable_model_invocation,
        "paths": frontmatter.paths,
        "context": frontmatter.context == "fork",
        "arguments": frontmatter.arguments,
        "user-invocable": not frontmatter.user_invocable,
        "model": frontmatter.model,
    }
    return tuple(key for key, value in given.items() if value)


def _ignored(skill: _Skill, keys: tuple[str, ...]) -> list[str]:
    given = [key for key in keys if key != "allowed-tools" or skill.frontmatter.allowed_tools is not None]
    return [f"It does not know {', '.join(given)}."] if given else []


def _few(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _is_utf8(file: File) -> bool:
    try:
        file.content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
