"""What the check before a deployment says."""

from __future__ import annotations

from django.core.checks import Tags, run_checks
from pytest_django import Settings


def told() -> set[str | None]:
    return {one.id for one in run_checks(tags=[Tags.security], include_deployment_checks=True)}


def test_a_short_masking_key_is_warned_of(settings: Settings) -> None:
    settings.MASKING_KEY = "k" * 31
    assert "portal.W001" in told()
    settings.MASKING_KEY = "k" * 32
    assert "portal.W001" not in told()
