"""Our verdicts on runtimes beside those of the two packages that can be asked: skills-ref for the open
specification, agent-framework-core for its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import skills_ref  # type: ignore[import-untyped]
from agent_framework import FileSkillsSource, SkillsSourceContext

from catalog.bundles.bundle import Bundle
from catalog.bundles.files import File, Limits
from catalog.bundles.layout import tree_of
from catalog.bundles.reading import read_bundle
from catalog.bundles.runtimes import judge
from tests.chromium import run

SAMPLES = Path(__file__).parents[3] / "catalog" / "samples" / "skills"
ORACLES = {"spec": "skills-ref", "maf": "agent-framework-core"}


@dataclass(frozen=True)
class Opinion:
    """Whether a skill loads in one runtime, by our word and by the package's; and why they differ."""

    skill: str
    runtime: str
    ours: bool
    theirs: bool
    why: str = ""


def read_folder(folder: Path, name: str = "") -> Bundle:
    """The skill in a folder, as if the folder had its name or the given one."""
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    files = [File(path.relative_to(folder).as_posix(), path.read_bytes()) for path in paths]
    return read_bundle(tree_of(name or folder.name, files, Limits()), limits=Limits())


def sample_skills() -> list[Bundle]:
    """The sample skills that have a SKILL.md, each version in a folder of its own; their names are right."""
    folders = sorted(path.parent for path in SAMPLES.rglob("SKILL.md"))
    return [read_folder(folder, folder.parent.name) for folder in folders]


def written(bundle: Bundle, root: Path) -> Path:
    """The folder into which a bundle is unpacked below `root`; SKILL.md gets its right name."""
    folder = root / (bundle.tree.folder or bundle.folder)
    for file in bundle.tree.files:
        path = folder / ("SKILL.md" if file.path == "skill.md" else file.path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(file.content)
    return folder


def loads_by_specification(folder: Path) -> bool:
    """Whether skills-ref has nothing against the skill in a folder."""
    return not skills_ref.validate(folder)


def loads_in_agent_framework(root: Path) -> tuple[bool, set[str]]:
    """Whether the package loads the skill below a folder, and the files it sees."""
    skills: list[Any] = run(FileSkillsSource(root).get_skills(SkillsSourceContext(agent=MagicMock())))
    return bool(skills), {item.name for skill in skills for item in (*skill._resources, *skill._scripts)}


def opinions(bundle: Bundle, name: str, root: Path) -> Iterator[Opinion]:
    """What both sides say about a bundle, unpacked below the empty folder `root`."""
    folder = written(bundle, root)
    theirs = {"spec": loads_by_specification(folder), "maf": loads_in_agent_framework(root)[0]}
    for runtime, verdict in judge(bundle).items():
        if runtime in theirs:
            ours = verdict.verdict != "fails"
            why = _why(bundle) if ours != theirs[runtime] else ""
            yield Opinion(name, runtime, ours, theirs[runtime], why)


def _why(bundle: Bundle) -> str:
    """Why we may differ: what the catalog refuses it serves to nobody, whatever a runtime would take."""
    codes = sorted({finding.code for finding in bundle.findings if finding.severity == "error"})
    return f"the catalog refuses it: {', '.join(codes)}" if codes else ""


def matrix(found: Iterable[Opinion]) -> str:
    """The confusion matrix of each runtime, and each difference with its reason."""
    found = list(found)
    lines: list[str] = []
    for runtime, package in ORACLES.items():
        counts = Counter((one.ours, one.theirs) for one in found if one.runtime == runtime)
        lines.append(f"{runtime:<26} {package} loads  {package} fails")
        width = len(package)
        for ours, word in ((True, "loads"), (False, "fails")):
            cells = "  ".join(f"{counts[ours, theirs]:>{width + 6}}" for theirs in (True, False))
            lines.append(f"  we say {word:<17} {cells}")
    differing = [one for one in found if one.ours != one.theirs]
    lines.append(f"{len(differing)} of {len(found)} differ" + (":" if differing else "."))
    lines += [f"  {one.skill} ({one.runtime}): {one.why or 'UNEXPLAINED'}" for one in differing]
    return "\n".join(lines)
