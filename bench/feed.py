"""What the poll of a feed of 200 skills costs, beside a bare Django view under the same server, and nginx.

`.venv/bin/python bench/feed.py` starts its own servers on the loopback, over data of its own in a
temporary folder, asks them in turn for a few seconds each and prints the ratios of the medians. Nginx
(`apt-get install nginx`) is the limit; its line is left out where it is not installed. The client is a
Python process, which is itself slower than nginx: that ratio is a lower bound.
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench import served

SKILLS, ROUNDS, SECONDS, GOAL = 200, 5, 2.0, 1.5
FEED = "/api/v1/feed"
TOKEN = {"Authorization": f"Bearer {served.SECRET}"}


def main() -> None:
    """Print the figures and their ratios."""
    with TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        environ = served.make_instance(folder, skills=SKILLS, canaries=0)
        ours = stack.enter_context(served.granian("portal.wsgi:application", environ, folder / "ours.log"))
        status, headers, body = ours.fetch(FEED, TOKEN)
        assert status == 200
        etag = headers["etag"]
        (folder / "body").write_bytes(body)
        told = {"BENCH_BODY": str(folder / "body"), "BENCH_ETAG": etag}
        bare = stack.enter_context(served.granian("bench.bare:application", told, folder / "bare.log"))
        limit = stack.enter_context(served.nginx(folder, body, etag))
        match = {"If-None-Match": etag}
        assert ours.fetch(FEED, TOKEN | match)[0] == bare.fetch(FEED, match)[0] == 304
        assert bare.fetch(FEED, {})[2] == body
        print(f"{SKILLS} skills, {len(body) / 1e3:.0f} KB; medians of {ROUNDS} rounds of {SECONDS:.0f} s")
        for kind, more in (("whole feed", {}), ("304", match)):
            works = {
                "ours": _rate(ours, FEED, TOKEN | more),
                "bare view": _rate(bare, FEED, more),
            }
            if limit:
                works["nginx"] = _rate(limit, "/kept" if more else "/feed", more)
            tell(kind, measure(works))


def measure(works: dict[str, Callable[[], float]]) -> dict[str, list[float]]:
    """Answers a second of each, by round; they take turns, so that a slow moment meets all."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for round_ in range(ROUNDS + 1):
        for name, work in works.items():
            rate = work()
            if round_:
                found[name].append(rate)
    return found


def tell(kind: str, found: dict[str, list[float]], goal: float = GOAL) -> None:
    """Print how much longer ours takes than each of the others."""
    ours = found["ours"]
    print(f"  {kind:<28} ours {statistics.median(ours):8.0f}/s")
    for name, rates in found.items():
        if name != "ours":
            ratio = statistics.median(other / our for other, our in zip(rates, ours, strict=True))
            aim = f"  (goal {goal}x)" if name == "bare view" else ""
            print(f"  {'':<28} {name} {statistics.median(rates):8.0f}/s  ours takes {ratio:5.2f}x{aim}")


def _rate(server: served.Server, path: str, headers: dict[str, str]) -> Callable[[], float]:
    return lambda: served.rate(server, [server.ask(path, headers)], SECONDS)


if __name__ == "__main__":
    main()
