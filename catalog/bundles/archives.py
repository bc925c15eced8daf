"""From the bytes of an upload to the trees of files in it.

The order is that of every reader of hostile input here: the size cap, what kind of container it
is, the structural walk, then inflating, then the layout. Nothing is written anywhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from catalog.bundles.characters import shown
from catalog.bundles.contents import Contents, file_too_large, refused
from catalog.bundles.files import File, Limits, Tree, Upload
from catalog.bundles.findings import Finding, error, has_errors
from catalog.bundles.layout import LEVELS, arrange, is_junk, tree_of
from catalog.bundles.listing import listed
from catalog.bundles.paths import collisions, problems
from catalog.bundles.streams import Gunzip, Plain
from catalog.bundles.tar_headers import BLOCK, is_header
from catalog.bundles.tars import read_tar
from catalog.bundles.zips import read_zip

_FORMS = "Upload a .zip, a .tar.gz, or a single SKILL.md or manifest.yaml."
_KINDS = (
    (re.compile(r"\.(?:zip|skill)$", re.IGNORECASE), "zip"),
    (re.compile(r"\.(?:tar\.gz|tgz)$", re.IGNORECASE), "tar.gz"),
    (re.compile(r"\.tar$", re.IGNORECASE), "tar"),
    (re.compile(r"\.(?:md|markdown)$", re.IGNORECASE), "SKILL.md"),
    (re.compile(r"\.ya?ml$", re.IGNORECASE), "manifest.yaml"),
)
_TEXTS = ("SKILL.md", "manifest.yaml")
_FOREIGN = (
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!\x1a\x07", "a RAR archive"),
    (b"\xfd7zXZ\0", "an xz file"),
    (b"BZh", "a bzip2 file"),
    (b"\x28\xb5\x2f\xfd", "a Zstandard file"),
    (b"MSCF", "a Windows cabinet"),
    (b"%PDF-", "a PDF document"),
    (b"<", "a web page or XML"),
)


def read_upload(data: bytes, *, filename: str, limits: Limits) -> Upload:
    """The trees of files in an uploaded zip, tar, tar.gz, SKILL.md or manifest.yaml.

    `filename` is the name the sender gave; it is compared with what the bytes are, and a single
    text may have any name that ends in .md, .markdown, .yaml or .yml. Never raises: what is wrong
    with the upload as a whole is in its findings, and then it holds no trees.
    """
    contents = _container(data, filename, limits)
    if isinstance(contents, Tree):
        return Upload((contents,))
    if has_errors(contents.findings):
        return Upload((), listed([*contents.findings, *_name_problems(contents, limits)]))
    upload = arrange(contents, limits)
    trees = tuple(replace(tree, findings=listed(tree.findings)) for tree in upload.trees)
    return Upload(trees, listed(upload.findings))


def _name_problems(contents: Contents, limits: Limits) -> Iterator[Finding]:
    """What else is wrong with the names in an archive that is refused already."""
    # Which folder is the skill's is not known here: allow for those around it.
    around = replace(limits, max_depth=limits.max_depth + LEVELS + 1)
    paths = [file.path for file in contents.files if not is_junk(file.path)]
    for path in paths:
        yield from (finding for finding in problems(path, around) if finding.severity == "error")
    yield from collisions(paths, contents.folders)


def _container(data: bytes, filename: str, limits: Limits) -> Contents | Tree:
    if len(data) > limits.max_bundle_bytes:
        text = f"The upload has {len(data):,} bytes; the limit is {limits.max_bundle_bytes:,}."
        return refused(error("archive-too-large", text, "Leave out what the skill does not need."))
    if not data:
        return refused(error("archive-empty", "The upload is empty.", _FORMS))
    named = next((kind for pattern, kind in _KINDS if pattern.search(filename)), "")
    actual = _kind(data, named)
    if named in _TEXTS and not actual:
        if len(data) > limits.max_file_bytes:
            return refused(file_too_large(named, len(data), limits))
        return tree_of("", [File(named, data)], limits)
    if not actual:
        what = next((what for magic, what in _FOREIGN if data.startswith(magic)), "neither zip nor tar")
        text = f'"{shown(filename)}" is {what}, which cannot be read.'
        return refused(error("archive-not-recognised", text, _FORMS))
    if named and named != actual:
        text = f'"{shown(filename)}" is named as {named} and is {actual}.'
        return refused(error("archive-type-mismatch", text, "Give the file the name that fits its format."))
    if actual == "zip":
        return read_zip(data, limits)
    if actual == "tar":
        return read_tar(Plain(data), limits)
    return _gunzipped(data, filename, limits)


def _gunzipped(data: bytes, filename: str, limits: Limits) -> Contents:
    start = Gunzip(data, limits)
    block = start.read(BLOCK)
    if block.strip(b"\0") and not is_header(block) and not start.fault:
        text = f'"{shown(filename)}" is a gzip file without a tar archive in it.'
        return refused(error("archive-not-recognised", text, _FORMS))
    return read_tar(Gunzip(data, limits), limits)


def _kind(data: bytes, named: str) -> str:
    """What the bytes are, by their magic: zip, tar, tar.gz or ""."""
    if data.startswith((b"PK\3\4", b"PK\5\6")):
        return "zip"
    if data.startswith(b"\x1f\x8b"):
        return "tar.gz"
    if is_header(data[:BLOCK]) or (named == "tar" and not data[:BLOCK].strip(b"\0")):
        return "tar"
    # A zip behind other bytes still unpacks; its reader says what is wrong with it.
    if named in ("zip", "") and b"PK\5\6" in data[-65_557:]:
        return "zip"
    return ""
