"""What times and durations that agents report may be, however they report them."""

from __future__ import annotations

from datetime import timedelta

# Ten years.
LONGEST_MS = 10 * 365 * 24 * 60 * 60 * 1000
# Clocks of agents may be off by hours; what is from tomorrow would stand above all else until then.
FURTHEST_AHEAD = timedelta(days=1)
