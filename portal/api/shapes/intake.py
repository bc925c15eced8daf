"""What came in from agents, as it is read."""

from __future__ import annotations

from portal.api.shapes.words import BOOLEAN, INTEGER, MOMENT, TEXT, listed, maybe, one_of, record

COUNTS = record(
    accepted=INTEGER,
    duplicates=INTEGER,
    rejected=INTEGER,
    unknown=INTEGER,
    spans=INTEGER,
    dropped=INTEGER,
    masked=INTEGER,
)
INTAKE = record(
    reports=listed(
        record(
            agent=TEXT,
            team=TEXT,
            environment=TEXT,
            last_at=MOMENT,
            clock=maybe(TEXT),
            sources=listed(record(source=one_of("rest", "otlp", "logs"), day=COUNTS, week=COUNTS)),
        )
    ),
    silent=listed(record(agent=TEXT, team=TEXT, reads=BOOLEAN)),
    more=BOOLEAN,
)
