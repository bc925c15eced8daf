"""`python -m tests.fuzz READER --with hypothesis|atheris --minutes 10`: feed a reader hostile bytes.

Ends with 1 at the first input that raises, takes over two seconds or grows the process by 200 MB;
the input is kept beside the figures.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import time
from pathlib import Path
from tempfile import gettempdir

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.fuzz.readers import READERS, seeds

MOST_SECONDS = 2.0
MOST_GROWTH_MB = 200.0
OURS = ("catalog.bundles", "governance.otlp")


class Watch:
    """Runs a reader and keeps the figures; raises AssertionError at what must not be.

    Time is the process's own, so that a busy machine is no fault of the reader.
    """

    def __init__(self, reader: str) -> None:
        self.name, self.read = reader, READERS[reader]
        self.runs, self.slowest = 0, 0.0
        for seed in seeds(reader):
            self.read(seed)
        self.start = _megabytes()

    def __call__(self, data: bytes) -> None:
        kept = Path(gettempdir()) / f"fuzz-{self.name}.bin"
        begun = time.process_time()
        try:
            self.read(data)
            took = time.process_time() - begun
            self.runs, self.slowest = self.runs + 1, max(self.slowest, took)
            assert took <= MOST_SECONDS, f"{took:.1f} s"
            assert self.growth <= MOST_GROWTH_MB, f"{self.growth:.0f} MB more than at the start"
        except BaseException:
            kept.write_bytes(data)
            raise

    @property
    def growth(self) -> float:
        """Megabytes by which the process's peak has grown since the seeds were read."""
        return _megabytes() - self.start

    def report(self, fuzzer: str, seconds: float) -> str:
        """The figures in a line."""
        return (
            f"{self.name} with {fuzzer}: {self.runs} inputs in {seconds:.0f} s, "
            f"slowest {self.slowest:.2f} s, peak +{self.growth:.0f} MB"
        )


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def with_hypothesis(watch: Watch, seconds: float) -> None:
    """Bytes at random, and seeds with some of their bytes cut, doubled or replaced."""
    known = seeds(watch.name)
    edits = st.lists(
        st.tuples(st.integers(0, 1 << 16), st.integers(0, 40), st.binary(max_size=24)), max_size=6
    )

    def edited(seed: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
        for place, cut, put in changes:
            at = place % (len(seed) + 1)
            seed = seed[:at] + put + seed[at + cut :]
        return seed

    inputs = st.one_of(st.builds(edited, st.sampled_from(known), edits), st.binary(max_size=4096))
    until = time.monotonic() + seconds

    @settings(
        max_examples=500,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.target],
        suppress_health_check=list(HealthCheck),
    )
    @given(inputs)
    def feed(data: bytes) -> None:
        if time.monotonic() < until:
            watch(data)

    while time.monotonic() < until:
        feed()


def with_atheris(watch: Watch, seconds: float) -> None:
    """Guided by coverage of our own modules; never returns."""
    import atheris

    folder = Path(gettempdir()) / f"fuzz-corpus-{watch.name}"
    folder.mkdir(exist_ok=True)
    for n, seed in enumerate(seeds(watch.name)):
        (folder / f"seed-{n}").write_bytes(seed)
    until = time.monotonic() + seconds
    begun = time.monotonic()

    def feed(data: bytes) -> None:
        if time.monotonic() >= until:
            print(watch.report("atheris", time.monotonic() - begun), flush=True)
            # The fuzzer takes every exception, SystemExit too, for a fault.
            os._exit(0)
        watch(data)

    for module in list(sys.modules):
        if module.startswith(OURS):
            for name, value in list(vars(sys.modules[module]).items()):
                if (
                    callable(value)
                    and getattr(value, "__module__", "") == module
                    and hasattr(value, "__code__")
                ):
                    setattr(sys.modules[module], name, atheris.instrument_func(value))
    watch.read = READERS[watch.name]
    limits = [
        "-verbosity=0",
        "-max_len=65536",
        "-rss_limit_mb=2048",
        "-timeout=20",
        f"-artifact_prefix={gettempdir()}/",
    ]
    atheris.Setup([sys.argv[0], str(folder), *limits], feed)
    atheris.Fuzz()


def main() -> None:
    """Read the words of the command line and fuzz."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("reader", choices=READERS)
    parser.add_argument("--with", dest="fuzzer", choices=("hypothesis", "atheris"), default="hypothesis")
    parser.add_argument("--minutes", type=float, default=10.0)
    asked = parser.parse_args()
    watch = Watch(asked.reader)
    begun = time.monotonic()
    if asked.fuzzer == "atheris":
        with_atheris(watch, asked.minutes * 60)
    with_hypothesis(watch, asked.minutes * 60)
    print(watch.report(asked.fuzzer, time.monotonic() - begun), flush=True)


if __name__ == "__main__":
    main()
