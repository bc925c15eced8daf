"""What `load_skill` answers: the instructions of a version, and its whole SKILL.md (spec 5.1)."""

from __future__ import annotations

from io import BytesIO
from sys import getsizeof
from zipfile import ZipFile

from catalog import blobs
from catalog.bundles.files import File
from catalog.bundles.reading import SKILL_MD
from catalog.bundles.skillmd import read_skill_md
from catalog.caches import Bounded
from catalog.snapshots import Served

_texts: Bounded[str, tuple[str, str]] = Bounded(
    lambda texts: sum(getsizeof(text) for text in texts), most=32 * 1024 * 1024
)


def instructions_of(served: Served) -> tuple[str, str]:
    """The body after the frontmatter, and the whole text; `$ARGUMENTS` is left as it stands.

    A tool skill's are those of the SKILL.md that its artifact holds.
    """
    head = next((file.sha256 for file in served.files if file.path in SKILL_MD), "")
    return _texts.get(head or served.artifact, lambda: _read(head, served.artifact))


def _read(head: str, artifact: str) -> tuple[str, str]:
    if head:
        content = blobs.read_blob(head)
    else:
        with ZipFile(BytesIO(blobs.read_blob(artifact))) as archive:
            content = archive.read("SKILL.md")
    read = read_skill_md(File("SKILL.md", content))
    return read.body.lstrip("\r\n"), content.decode("utf-8", "replace").removeprefix("\ufeff")
