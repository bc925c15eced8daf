"""The tokens of the user."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from catalog.models import Token
from catalog.tokens import digest_of
from tests import make
from tests.portal.answers import secret_in, text_of

pytestmark = pytest.mark.django_db


def test_own_tokens(ines: Client, cast: make.Cast) -> None:
    make.token(user=cast.sven)
    text = text_of(ines.get("/tokens/"))
    assert "No token yet" in text
    assert 'value="admin"' not in text
    answer = ines.post("/tokens/issue/", {"name": "CI", "scopes": ["read", "publish"], "days": "30"})
    assert "no-store" in answer["Cache-Control"]
    token = Token.objects.get(user=cast.ines)
    assert token.sha256 == digest_of(secret_in(text_of(answer)))
    assert token.agent is None
    assert timedelta(days=29) < token.expires_at - timezone.now() < timedelta(days=31)
    assert ines.post("/tokens/issue/", {"scopes": ["admin"], "days": "30"}).status_code == 422
