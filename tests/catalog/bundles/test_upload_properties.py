"""What holds of every upload: nothing raises, and one tree has one digest in every container."""

from __future__ import annotations

import base64
import io
import re
import stat
import tarfile
import tempfile
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from catalog.bundles.characters import BIDI, CONTROL, SURROGATE
from catalog.bundles.digest import bundle_digest
from catalog.bundles.files import File, Upload
from catalog.bundles.findings import has_errors
from catalog.bundles.inline import tree_from_json
from tests.catalog.bundles.containers import (
    LIMITS,
    SKILL,
    Entry,
    all_findings,
    member,
    pax,
    plain_tgz,
    plain_zip,
    read,
    read_folders,
    tar_of,
    tgz,
    zip_of,
)
from tests.catalog.documented import DOCUMENTED

HIDDEN = re.compile("|".join(pattern.pattern for pattern in (CONTROL, BIDI, SURROGATE)))
NAMES = ["a.zip", "a.tar.gz", "a.tar", "SKILL.md", "a.yaml", "a", ""]
GOOD = {"SKILL.md": SKILL, "docs/a.md": b"text" * 30, "run.sh": b"#!/bin/sh\n", "über.md": b""}
SEEDS = [
    (plain_zip(GOOD), "a.zip"),
    (zip_of(Entry(b"a", flags=8, descriptor=bytes(12)), Entry(b"b/", b""), comment=b"note"), "a.zip"),
    (
        tar_of(
            pax({"path": "docs/a.md"}), member("a", b"x"), member("././@LongLink", b"b\0", b"L"), member("b")
        ),
        "a.tar",
    ),
    (plain_tgz(GOOD), "a.tgz"),
]


def holds(upload: Upload) -> None:
    """What every answer keeps to: trees, or documented findings that say why there are none."""
    assert (upload.trees == ()) is has_errors(upload.findings)
    for finding in all_findings(upload):
        assert finding.severity in DOCUMENTED[finding.code]
        assert finding.message
        assert finding.hint
        assert not HIDDEN.search(finding.path + finding.message)
        finding.message.encode()
    for tree in upload.trees:
        paths = [file.path.encode() for file in tree.files]
        assert paths == sorted(paths)
        assert len(paths) == len(set(paths)) or has_errors(tree.findings)
        assert not any(path.startswith(b"/") or b".." in path.split(b"/") for path in paths)


@settings(deadline=None)
@given(st.binary(max_size=600), st.sampled_from(NAMES))
def test_random_bytes_are_trees_or_told(data: bytes, name: str) -> None:
    holds(read(data, name))


@settings(deadline=None)
@given(
    st.sampled_from([b"PK\3\4", b"PK\5\6", b"\x1f\x8b\x08"]), st.binary(max_size=300), st.sampled_from(NAMES)
)
def test_bytes_that_start_as_an_archive_are_trees_or_told(magic: bytes, rest: bytes, name: str) -> None:
    holds(read(magic + rest, name))


@settings(deadline=None, max_examples=400)
@given(
    st.sampled_from(SEEDS),
    st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=6),
    st.integers(0, 40),
)
def test_mutated_archives_are_trees_or_told(
    seed: tuple[bytes, str], changes: list[tuple[int, int]], cut: int
) -> None:
    data, name = bytearray(seed[0]), seed[1]
    for at, value in changes:
        data[at % len(data)] = value
    holds(read(bytes(data[: len(data) - cut]), name))


@settings(deadline=None, max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 19), st.integers(0, 511), st.integers(0, 255)), max_size=4))
def test_mutated_tars_with_true_checksums_are_trees_or_told(changes: list[tuple[int, int, int]]) -> None:
    blocks = [bytearray(SEEDS[2][0][at : at + 512]) for at in range(0, len(SEEDS[2][0]), 512)]
    for number, at, value in changes:
        block = blocks[number % len(blocks)]
        block[at] = value
        block[148:156] = b"        "
        block[148:156] = b"%06o\0 " % sum(block)
    holds(read(tgz(b"".join(blocks)), "a.tgz"))


FIELD = st.sampled_from([0, 1, 8, 0xFFFF]) | st.integers(0, 0xFFFF)
LONG = st.sampled_from([0, 1, 0xFFFFFFFF]) | st.integers(0, 0xFFFFFFFF)
LIES = st.fixed_dictionaries(
    {},
    optional={
        "flags": FIELD, "method": FIELD, "crc": LONG, "packed": LONG, "size": LONG,
        "name": st.binary(max_size=20), "extra": st.binary(max_size=20),
    },
)  # fmt: skip


@settings(deadline=None)
@given(
    st.binary(max_size=12),
    LIES,
    LIES,
    FIELD,
    st.dictionaries(st.sampled_from(["here", "size", "offset"]), FIELD),
)
def test_lying_headers_are_trees_or_told(
    name: bytes, central: dict[str, int], local: dict[str, int], mode: int, end: dict[str, int]
) -> None:
    entry = Entry(name, mode=mode, central=central, local=local)
    holds(read(zip_of(entry, Entry(b"b", central=local), end=end)))


PART = st.text("abcdeéü永Ж ", min_size=1, max_size=6).map(str.strip).filter(bool)
TREES = st.dictionaries(
    st.lists(PART, min_size=1, max_size=3).map("/".join),
    st.binary(max_size=60) | st.just(b"#!/bin/sh\n"),
    max_size=6,
)


def digest(upload: Upload) -> str:
    """The digest of the only tree of an upload without errors."""
    (tree,) = upload.trees
    assert not has_errors(all_findings(upload))
    return bundle_digest(tree.files)


@settings(deadline=None)
@given(TREES, st.randoms(use_true_random=False), st.sampled_from(["", "demo/", "top/demo/"]))
def test_one_tree_has_one_digest_in_every_container(tree: dict[str, bytes], random: Random, top: str) -> None:
    files = {"SKILL.md": SKILL, **tree}
    expected = tree_from_json({}, "", {p: {"base64": base64.b64encode(c).decode()} for p, c in files.items()})
    if has_errors(expected.findings):  # names that collide
        return
    wanted = bundle_digest(File(path, content) for path, content in files.items())
    assert bundle_digest(expected.files) == wanted
    items = list(files.items())
    random.shuffle(items)
    packed = {top + path: content for path, content in items}
    assert digest(read(shuffled_zip(packed, random))) == wanted
    for form in (tarfile.PAX_FORMAT, tarfile.GNU_FORMAT):
        assert digest(read(plain_tgz(packed, form, random.choice([0o644, 0o755, 0o777])), "a.tgz")) == wanted
    with tempfile.TemporaryDirectory() as folder:
        for path, content in packed.items():
            place = Path(folder) / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(content)
        assert digest(read_folders(Path(folder), LIMITS)) == wanted


def shuffled_zip(files: dict[str, bytes], random: Random) -> bytes:
    """A zip with times, methods and modes at random."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for path, content in files.items():
            info = zipfile.ZipInfo(path, (random.randint(1980, 2040), 1, 2, 3, 4, 6))
            info.external_attr = random.choice([0, (stat.S_IFREG | 0o777) << 16])
            archive.writestr(info, content, random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))
    return buffer.getvalue()


def names(pattern: str, count: int) -> dict[str, bytes]:
    return {pattern + str(number): b"" for number in range(count)}


COSTLY: dict[str, Callable[[], tuple[bytes, str]]] = {
    "combining marks": lambda: (plain_zip(names("\u0316\u0301" * 125, 5000), 0), "a.zip"),
    "expanding characters": lambda: (plain_zip(names("\ufdfa" * 160, 5000), 0), "a.zip"),
    "percents": lambda: (plain_zip(names("%25" * 160, 5000), 0), "a.zip"),
    "deep names": lambda: (plain_zip(names("a/" * 240, 5000), 0), "a.zip"),
    "very long names": lambda: (plain_zip(names("a" * 9000, 3000), 0), "a.zip"),
    "extra fields": lambda: (zip_of(*(Entry(b"%d" % n, extra=b"up\1\0\0" * 13_000) for n in range(300))), "a.zip"),
    "pax records": lambda: (tgz(tar_of(pax({str(n): "" for n in range(5000)}) * 400)), "a.tgz"),
    "zeros at the end": lambda: (tgz(tar_of(end=bytes(90 << 20))), "a.tgz"),
    "large files": lambda: (plain_tgz({"SKILL.md": SKILL} | {str(n): bytes(range(256)) * 4096 for n in range(9)}), "a.tgz"),
    "event handlers": lambda: (plain_zip({"SKILL.md": SKILL, "a.svg": (b' onaa' + b" " * 98) * 90_000}, 0), "a.zip"),
    "open tags": lambda: (plain_zip({"SKILL.md": SKILL, "a.svg": b"<a" * 4_900_000}, 0), "a.zip"),
    "end records": lambda: (b"PK\3\4" + (b"PK\5\6" + bytes(18)) * 3000, "a.zip"),
}  # fmt: skip


@pytest.mark.parametrize("case", COSTLY)
def test_nothing_takes_more_than_two_seconds(case: str) -> None:
    data, name = COSTLY[case]()
    started = time.process_time()
    holds(read(data, name))
    assert time.process_time() - started < 2


@pytest.mark.parametrize(
    "case", ["very long names", "zeros at the end", "large files", "open tags", "end records"]
)
def test_nothing_takes_more_memory_than_a_batch_may_hold(case: str) -> None:
    data, name = COSTLY[case]()
    tracemalloc.start()
    try:
        read(data, name)
        assert tracemalloc.get_traced_memory()[1] < 150 << 20
    finally:
        tracemalloc.stop()
