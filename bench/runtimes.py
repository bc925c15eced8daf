"""How often our verdicts on runtimes are those of the runtimes' own packages.

`.venv/bin/python bench/runtimes.py [FOLDER…]` prints the matrix over the sample skills and over every
skill below the given folders. Ends with 1 where a difference has no reason.
"""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from catalog.bundles.bundle import Bundle
from tests.catalog.bundles.oracles import Opinion, matrix, opinions, read_folder, sample_skills


def named_skills(folders: list[Path]) -> list[tuple[str, Bundle]]:
    """The samples and the skills below the folders, with names to tell them by."""
    named = [(f"{bundle.name} {bundle.version}", bundle) for bundle in sample_skills()]
    for folder in folders:
        # A skill inside another one belongs to it.
        found = sorted({path.parent for path in folder.rglob("*") if path.name.lower() == "skill.md"})
        outer = [path for path in found if not any(other in path.parents for other in found)]
        named += [(path.relative_to(folder).as_posix(), read_folder(path)) for path in outer]
    return named


def main() -> int:
    """Print the matrix."""
    # The packages tell each skill that they drop; the matrix does too.
    logging.disable(logging.ERROR)
    skills = named_skills([Path(word) for word in sys.argv[1:]])
    found: list[Opinion] = []
    for name, bundle in skills:
        with TemporaryDirectory() as root:
            found += opinions(bundle, name, Path(root))
    print(f"{len(skills)} skills")
    print(matrix(found))
    return int(any(one.ours != one.theirs and not one.why for one in found))


if __name__ == "__main__":
    sys.exit(main())
