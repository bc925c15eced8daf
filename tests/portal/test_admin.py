"""Django's admin shows everything to staff and changes nothing."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.test import Client
from django.urls import reverse

from catalog.models import Token, User
from tests import make

pytestmark = pytest.mark.django_db

MODELS = sorted(admin.site._registry, key=lambda model: model._meta.label)


@pytest.fixture
def staff(client: Client) -> Client:
    """A superuser, signed in."""
    cast = make.cast()
    cast.ada.is_staff = cast.ada.is_superuser = True
    cast.ada.save()
    release = make.release(make.version(cast=cast), "production", cast=cast)
    assert release.pk
    make.token(agent=make.agent(team=cast.payments))
    client.force_login(cast.ada)
    return client


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model._meta.label)
def test_every_table_is_listed_and_none_is_changed(staff: Client, model: type) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"  # type: ignore[attr-defined]
    assert staff.get(reverse(f"{name}_changelist")).status_code == 200
    assert staff.get(reverse(f"{name}_add")).status_code == 403
    row = model.objects.order_by("pk").first()  # type: ignore[attr-defined]
    if row is None:
        return
    assert staff.get(reverse(f"{name}_change", args=[row.pk])).status_code == 200
    assert staff.post(reverse(f"{name}_change", args=[row.pk]), {}).status_code == 403
    assert staff.post(reverse(f"{name}_delete", args=[row.pk]), {"post": "yes"}).status_code == 403
    staff.post(reverse(f"{name}_changelist"), {"action": "delete_selected", "_selected_action": row.pk})
    assert model.objects.filter(pk=row.pk).exists()  # type: ignore[attr-defined]


def test_no_digest_of_a_token_and_no_password_is_shown(staff: Client) -> None:
    token = Token.objects.get()
    page = staff.get(reverse("admin:catalog_token_change", args=[token.pk])).content.decode()
    assert token.prefix in page
    assert token.sha256 not in page
    user = User.objects.get(username="ada")
    page = staff.get(reverse("admin:catalog_user_change", args=[user.pk])).content.decode()
    assert user.password not in page


def test_who_is_not_staff_stays_outside(client: Client) -> None:
    cast = make.cast()
    client.force_login(cast.ada)
    answer = client.get(reverse("admin:catalog_token_changelist"))
    assert answer.status_code == 302
    assert "/login/" in answer["Location"]
