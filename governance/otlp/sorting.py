"""A decoded payload sorted into calls, context and what cannot be read."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from governance.otlp.activations import Digest, activation_of, is_activation
from governance.otlp.acts import acting_spans, find_act
from governance.otlp.calls import call_of, context_of
from governance.otlp.records import Batch, Odd, Refused, Sent, SentLog
from governance.times import FURTHEST_AHEAD

AHEAD = "it began more than a day ahead of the server's time; set the agent's clock"


def sort_spans(found: Iterable[Sent | Refused], *, now: datetime) -> Batch:
    """Calls of skills, and all other spans as context; raises what reading them raises."""
    everything = list(found)
    sent = [one for one in everything if isinstance(one, Sent)]
    refused = [one for one in everything if isinstance(one, Refused)]
    acting = acting_spans(sent)
    calls, labels, spans = [], [], []
    for one in sent:
        act = find_act(one, acting)
        if act is not None:
            # The contract refuses a call from tomorrow itself.
            calls.append(call_of(one, act, now))
            labels.append(one.span_id)
            continue
        span = context_of(one, now)
        if span.started_at > now + FURTHEST_AHEAD:
            refused.append(Refused(one.span_id, AHEAD))
        else:
            spans.append(span)
    return Batch(tuple(calls), tuple(labels), tuple(spans), tuple(refused))


def sort_records(found: Iterable[SentLog | Refused], *, now: datetime, digest: Digest) -> Batch:
    """Skills that were activated; all other records are counted and let go."""
    calls, labels, refused, left = [], [], [], 0
    for index, one in enumerate(found):
        if isinstance(one, Refused):
            refused.append(one)
        elif not is_activation(one):
            left += 1
        else:
            try:
                calls.append(activation_of(one, now, digest))
                labels.append(one.span_id or f"number {index + 1}")
            except Odd as fault:
                refused.append(Refused(one.span_id or f"number {index + 1}", str(fault)))
    return Batch(tuple(calls), tuple(labels), (), tuple(refused), left)
