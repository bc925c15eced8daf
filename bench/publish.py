"""What reading a bundle costs beside the bare work that nobody can save: inflating and hashing.

`.venv/bin/python bench/publish.py` prints ratios of medians, measured in turn in one run, over a
bundle of 1,000 files and 10 MB.
"""

from __future__ import annotations

import io
import random
import statistics
import sys
import time
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from catalog.bundles.archives import read_upload
from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import Limits
from catalog.bundles.reading import read_bundle

FILES, SIZE, ROUNDS = 1000, 10_000, 15
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
]


def make_archive() -> bytes:
    """A zip of Markdown files in a skill folder, with the same text every time."""
    draw = random.Random(4)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        head = "---\nname: big-skill\ndescription: Holds many references. Use to measure; not to work.\n---\n\n# Big\n"
        archive.writestr("big-skill/SKILL.md", head)
        for n in range(FILES - 1):
            words = (draw.choice(WORDS) for _ in range(SIZE // 5))
            text = "\n".join(" ".join(line) for line in zip(*[iter(words)] * 12, strict=False))
            archive.writestr(f"big-skill/references/part-{n // 100}/{n:04}.md", text[:SIZE])
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


def validate(data: bytes) -> None:
    """Ours: all of that, and every check of the texts."""
    [tree] = read_upload(data, filename="big.zip", limits=Limits()).trees
    bundle = read_bundle(tree, limits=Limits())
    assert not bundle.refused, bundle.findings


def measure(works: dict[str, Callable[[bytes], None]], data: bytes) -> dict[str, float]:
    """The median of each in milliseconds; they take turns, so that a slow moment meets all."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for round_ in range(ROUNDS + 1):
        for name, work in works.items():
            begun = time.perf_counter()
            work(data)
            if round_:
                times[name].append(time.perf_counter() - begun)
    return {name: statistics.median(found) * 1000 for name, found in times.items()}


def main() -> None:
    """Print the figures and their ratios."""
    data = make_archive()
    found = measure({"bare": inflate_and_hash, "structure": read_structure, "validation": validate}, data)
    print(
        f"{FILES} files, {FILES * SIZE / 1e6:.0f} MB, {len(data) / 1e6:.1f} MB packed; medians of {ROUNDS} rounds"
    )
    print(f"inflate and hash, standard library  {found['bare']:7.1f} ms")
    for name, goal in (("structure", 1.7), ("validation", 5.0)):
        ratio = found[name] / found["bare"]
        print(f"{name:<35} {found[name]:7.1f} ms   {ratio:.2f}x (goal {goal}x)")


if __name__ == "__main__":
    main()
