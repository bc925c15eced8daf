#!/usr/bin/env python3
"""Refunds an order over the payment service; reads the call as JSON from standard input."""

from __future__ import annotations

import hashlib
import http.client
import json
import os
import sys
import time
from typing import Any

LIMIT_MINOR = 50_000
STATUS_CODES = {404: "order_unknown", 409: "amount_exceeds_paid", 410: "order_too_old"}


class RefundError(Exception):
    """The refund was not made; the message is one of the codes of the manifest."""


def idempotency_key(order_id: str, amount_minor: int, reason: str) -> str:
    """The same refund always has the same key."""
    return hashlib.sha256(f"{order_id}\n{amount_minor}\n{reason}".encode()).hexdigest()


def refund(
    order_id: str, amount_minor: int, reason: str, notify_customer: bool = True, note: str = ""
) -> dict[str, Any]:
    """Make the refund, or find that it was made before (`state` is then `duplicate`)."""
    if not 1 <= amount_minor <= LIMIT_MINOR:
        raise RefundError("amount_exceeds_paid")
    body = {
        "order_id": order_id,
        "amount_minor": amount_minor,
        "reason": reason,
        "notify": notify_customer,
        "note": note,
    }
    headers = {
        "Content-Type": "application/json",
        "Idempotency-Key": idempotency_key(order_id, amount_minor, reason),
    }
    started = time.monotonic()
    connection = http.client.HTTPSConnection(os.environ["PAYMENTS_HOST"], timeout=15)
    try:
        connection.request("POST", "/refunds", json.dumps(body), headers)
        response = connection.getresponse()
        answer: dict[str, Any] = json.loads(response.read() or b"{}")
    except OSError as problem:
        raise RefundError("payment_timeout") from problem
    finally:
        connection.close()
    if response.status >= 400:
        raise RefundError(STATUS_CODES.get(response.status, "payment_unavailable"))
    took = round((time.monotonic() - started) * 1000)
    return {**answer, "meta": {"source": "payments", "duration_ms": took, "tokens": 0}}


if __name__ == "__main__":
    try:
        json.dump(refund(**json.load(sys.stdin)), sys.stdout)
    except RefundError as failure:
        json.dump({"error": str(failure)}, sys.stdout)
        raise SystemExit(1) from failure
