"""What reading a bundle costs beside the bare work that nobody can save: inflating and hashing.

`.venv/bin/python bench/publish.py` prints ratios of medians, measured in turn in one run, over two
bundles of 1,000 files and 10 MB: lines of common words, and paragraphs of real Markdown.
"""

from __future__ import annotations

import io
import random
import statistics
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from catalog.bundles.archives import read_upload
from catalog.bundles.checks import check_files
from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import Limits
from catalog.bundles.reading import read_bundle
from catalog.bundles.safety import scan

FILES, SIZE, ROUNDS = 1000, 10_000, 7
ROOT = Path(__file__).resolve().parents[1]
WORDS = [
    "the",
    "skill",
    "reads",
    "each",
    "order",
    "and",
    "writes",
    "one",
    "line",
    "for",
    "what",
    "is",
    "due",
    "then",
    "asks",
    "who",
    "can",
    "help",
    "it",
]


def plain_texts() -> Iterator[str]:
    """Lines of common words, the same every time."""
    draw = random.Random(4)
    while True:
        words = (draw.choice(WORDS) for _ in range(SIZE // 4))
        yield "\n".join(" ".join(line) for line in zip(*[iter(words)] * 12, strict=False))[:SIZE]


def written_texts() -> Iterator[str]:
    """Paragraphs of the project's own documents and sample skills, drawn at random: real Markdown
    with code, tables and links."""
    paths = (*ROOT.glob("docs/**/*.md"), *ROOT.glob("catalog/samples/skills/**/*.md"), ROOT / "README.md")
    parts = [part for path in sorted(paths) for part in path.read_text(encoding="utf-8").split("\n\n")]
    draw = random.Random(4)
    while True:
        text = ""
        while len(text) < SIZE:
            text += draw.choice(parts) + "\n\n"
        yield text[:SIZE]


def make_archive(texts: Iterator[str]) -> bytes:
    """A zip of Markdown files in a skill folder."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        head = "---\nname: big-skill\ndescription: Holds many references. Use to measure; not to work.\n---\n\n# Big\n"
        archive.writestr("big-skill/SKILL.md", head)
        for n in range(FILES - 1):
            archive.writestr(f"big-skill/references/part-{n // 100}/{n:04}.md", next(texts))
    return out.getvalue()


def inflate_and_hash(data: bytes) -> None:
    """The bare cost by the standard library: every file inflated and its bytes hashed."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for entry in archive.infolist():
            sha256(archive.read(entry)).hexdigest()


def read_structure(data: bytes) -> None:
    """Ours: structural walk, inflation, layout, file digests and the digest of the tree."""
    [tree] = read_upload(data, filename="big.zip", limits=Limits()).trees
    for file in tree.files:
        assert file.sha256
    assert bundle_digest(tree.files)


def scan_texts(data: bytes) -> None:
    """Ours: structure, and the safety scan of each file."""
    [tree] = read_upload(data, filename="big.zip", limits=Limits()).trees
    scan(tree)


def guide(data: bytes) -> None:
    """Ours: structure, and the guidance on each file."""
    [tree] = read_upload(data, filename="big.zip", limits=Limits()).trees
    check_files(tree)


def validate(data: bytes) -> None:
    """Ours: all of that, and the digest."""
    [tree] = read_upload(data, filename="big.zip", limits=Limits()).trees
    assert read_bundle(tree, limits=Limits()).bundle_sha256


def measure(works: dict[str, Callable[[bytes], None]], data: bytes) -> dict[str, float]:
    """The median of each in milliseconds of this process; they take turns, so that a slow moment meets all."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for round_ in range(ROUNDS + 1):
        for name, work in works.items():
            begun = time.process_time()
            work(data)
            if round_:
                times[name].append(time.process_time() - begun)
    return {name: statistics.median(found) * 1000 for name, found in times.items()}


STAGES: dict[str, tuple[Callable[[bytes], None], float | None]] = {
    "structure": (read_structure, 1.7),
    "structure and scan": (scan_texts, None),
    "structure and guidance": (guide, None),
    "validation": (validate, 5.0),
}


def main() -> None:
    """Print the figures and their ratios."""
    for name, texts in (("common words", plain_texts()), ("real Markdown", written_texts())):
        data = make_archive(texts)
        found = measure(
            {"bare": inflate_and_hash, **{stage: work for stage, (work, _) in STAGES.items()}}, data
        )
        size = f"{FILES} files, {FILES * SIZE / 1e6:.0f} MB, {len(data) / 1e6:.1f} MB packed"
        print(f"{name}: {size}; medians of {ROUNDS} rounds")
        print(f"  {'inflate and hash (stdlib)':<26} {found['bare']:7.1f} ms")
        for stage, (_, goal) in STAGES.items():
            aim = f"  (goal {goal}x)" if goal else ""
            print(f"  {stage:<26} {found[stage]:7.1f} ms  {found[stage] / found['bare']:5.2f}x{aim}")


if __name__ == "__main__":
    main()
