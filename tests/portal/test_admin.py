"""Django's admin shows the tables to administrators and changes nothing."""

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
    """An administrator by her grant alone, signed in."""
    cast = make.cast()
    assert not cast.ada.is_staff
    assert not cast.ada.is_superuser
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


def test_payloads_of_calls_are_not_here() -> None:
    assert not {"governance.CallDetail", "governance.SubjectTag"} & {one._meta.label for one in MODELS}


def test_the_flag_of_django_opens_nothing(client: Client) -> None:
    cast = make.cast()
    cast.ravi.is_staff = True
    cast.ravi.save()
    client.force_login(cast.ravi)
    answer = client.get(reverse("admin:catalog_token_changelist"), follow=True)
    assert answer.status_code == 403
    assert "This part is for administrators." in answer.content.decode()
    assert client.get("/").status_code == 200
    assert reverse("admin:index") not in client.get("/").content.decode()


def test_signing_in_goes_by_the_one_form_that_counts_tries(client: Client) -> None:
    make.cast()
    page = reverse("admin:catalog_token_changelist")
    answer = client.get(page, follow=True)
    assert answer.redirect_chain[-1][0] == f"/sign-in/?next={page}"
    tried = client.post("/admin/login/", {"username": "ada", "password": make.PASSWORD})
    assert (tried.status_code, tried["Location"].partition("?")[0]) == (302, "/sign-in/")
    assert "_auth_user_id" not in client.session
    answer = client.post(
        "/sign-in/", {"username": "ada", "password": make.PASSWORD, "next": page}, follow=True
    )
    assert (answer.status_code, answer.redirect_chain) == (200, [(page, 302)])


@pytest.mark.parametrize("path", ["password_change/", "password_change/done/"])
def test_no_password_is_changed_past_the_journal(staff: Client, path: str) -> None:
    assert staff.get(f"/admin/{path}").status_code == 404
    fields = {
        "old_password": make.PASSWORD,
        "new_password1": "long-and-new-1",
        "new_password2": "long-and-new-1",
    }
    assert staff.post(f"/admin/{path}", fields).status_code == 404
    assert User.objects.get(username="ada").check_password(make.PASSWORD)


def test_signing_out_is_the_portals(staff: Client) -> None:
    page = staff.get("/admin/").content.decode()
    assert 'action="/sign-out/"' in page
    assert "/admin/password_change/" not in page
    assert staff.post("/admin/logout/").status_code == 404
