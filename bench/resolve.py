"""What it costs to work out a caller's own set: 2,000 skills, of which 200 are gray releases.

`.venv/bin/python bench/resolve.py` starts its own servers on the loopback over data of its own, and
prints ratios of medians, taken in turn: the feed for keys that were never seen (each key another set),
and for the same key again, beside a bare Django view that answers the same bytes from memory.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import served
from bench.feed import FEED, TOKEN, measure, tell

SKILLS, CANARIES, SECONDS, GOAL = 2000, 200, 2.0, 2.0
# More than are asked for in so many seconds.
KEYS = 5000


def main() -> None:
    """Print the figures and their ratios."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        environ = served.make_instance(folder, skills=SKILLS, canaries=CANARIES)
        ours = stack.enter_context(served.granian("portal.wsgi:application", environ, folder / "ours.log"))
        answers = [ours.fetch(f"{FEED}?key=caller-{n}", TOKEN) for n in range(8)]
        assert {status for status, _, _ in answers} == {200}
        assert len({headers["etag"] for _, headers, _ in answers}) == 8
        body = answers[0][2]
        (folder / "body").write_bytes(body)
        told = {"BENCH_BODY": str(folder / "body"), "BENCH_ETAG": answers[0][1]["etag"]}
        bare = stack.enter_context(served.granian("bench.bare:application", told, folder / "bare.log"))
        assert bare.fetch(FEED, {})[2] == body
        print(f"{SKILLS} skills with {CANARIES} canaries, {len(body) / 1e6:.1f} MB")
        lists = {"ours": _new_keys(ours), "bare view": _new_keys(bare)}
        tell("a new key each time", measure(lists), GOAL)
        lists = {"ours": _same_key(ours), "bare view": _same_key(bare)}
        tell("the same key again", measure(lists), GOAL)


def _new_keys(server: served.Server) -> Callable[[], float]:
    rounds = itertools.count()

    def work() -> float:
        told = f"{FEED}?key=round-{next(rounds)}-"
        return served.rate(server, [server.ask(f"{told}{n}", TOKEN) for n in range(KEYS)], SECONDS)

    return work


def _same_key(server: served.Server) -> Callable[[], float]:
    return lambda: served.rate(server, [server.ask(f"{FEED}?key=caller-0", TOKEN)], SECONDS)


if __name__ == "__main__":
    main()
