"""Writing a masked batch by `governance.store`, beside a bare executemany or COPY of the same rows.

Run by bench/ingest.py on an empty database, which DATABASE_URL names.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Sequence

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
django.setup()

from django.core.management import call_command  # noqa: E402 (after Django's setup)
from django.db import connection, models, transaction  # noqa: E402
from django.utils import timezone  # noqa: E402

from bench import rows as catalog_rows  # noqa: E402
from bench.spans import batches  # noqa: E402
from catalog.models import Agent, Environment  # noqa: E402
from governance import bulk, store  # noqa: E402
from governance.calls import read_call  # noqa: E402
from governance.masks import masker  # noqa: E402
from governance.models.traces import Source  # noqa: E402
from governance.otlp import read_traces  # noqa: E402
from governance.rows import mask_calls, mask_spans  # noqa: E402

SIZE, ROUNDS, GOAL = 1000, 15, 1.5


def main() -> None:
    """Print how much longer the store takes."""
    call_command("migrate", verbosity=0)
    catalog_rows.fill(skills=200, canaries=20)
    ours, bare = [], []
    for number, batch in enumerate(batches(2 * (ROUNDS + 1), size=SIZE, seed="inserts")):
        masked = mask(batch.body)
        if number % 2:
            begun = time.perf_counter()
            assert store.store(masked).accepted == batch.calls
            ours.append(time.perf_counter() - begun)
        else:
            bare.append(insert_bare(masked))
    ratio = statistics.median(our / other for our, other in zip(ours[1:], bare[1:], strict=True))
    rate, name = SIZE / statistics.median(ours[1:]), connection.vendor
    way = "COPY" if name == "postgresql" else "executemany"
    print(
        f"  insert alone on {name}: {rate:.0f} spans/s, takes {ratio:.2f}x a bare {way}  (goal {GOAL}x)",
        flush=True,
    )


def mask(body: bytes) -> store.Batch:
    """The batch as ingest masks it."""
    now, own = timezone.now(), masker()
    found = read_traces(body, now=now)
    calls = mask_calls([read_call(raw, now=now) for raw in found.calls], own)
    return store.Batch(
        agent_id=Agent.objects.get().pk,
        environment_id=Environment.objects.get(name="production").pk,
        source=Source.OTLP,
        calls={call.name: call for call in calls},
        spans={span.name: span for span in mask_spans(found.spans, own)},
        tasks=(),
        repeated=0,
        rejected=0,
        key_id=own.key_id,
        now=now,
    )


def insert_bare(batch: store.Batch) -> float:
    """Seconds of the same rows, ready as the driver takes them, without any question asked."""
    ready: list[tuple[type[models.Model], Sequence[str], list[bulk.Row]]] = []
    insert = bulk.insert
    bulk.insert = lambda model, columns, rows: ready.append((model, columns, list(rows)))
    try:
        with transaction.atomic():
            store.store(batch)
            transaction.set_rollback(True)
    finally:
        bulk.insert = insert
    if connection.vendor == "postgresql":
        begun = time.perf_counter()
        with transaction.atomic():
            for model, columns, rows in ready:
                insert(model, columns, rows)
        return time.perf_counter() - begun
    statements = [
        (
            f"INSERT INTO {model._meta.db_table} ({', '.join(columns)}) VALUES ({', '.join(['?'] * len(columns))})",
            list(bulk._as_sqlite_keeps(model, columns, rows)),
        )
        for model, columns, rows in ready
    ]
    begun = time.perf_counter()
    with transaction.atomic():
        for statement, rows in statements:
            connection.connection.executemany(statement, rows)
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
