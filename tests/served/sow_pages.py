"""Planted values in forms of pages, in addresses, searches and headers, and where a page refuses."""

from __future__ import annotations

from urllib.parse import quote, urlencode

from tests.served.planted import paragraph, plants
from tests.served.sow_record import ABOUT
from tests.served.sower import Sower, header_of
from tests.served.visitor import Visitor

SKILL_MD = f"""---
name: leak-page
description: {ABOUT}
metadata:
  version: "%s"
---

# Letters

By street.
"""
# Pages that look for what is asked for, and the fields by which.
SEARCHES = {
    "/": ("q",),
    "/search/": ("q",),
    "/traces/": ("q", "skill", "agent", "environment"),
    "/teams/": ("q",),
    "/people/": ("q", "state"),
    "/audit-log/": ("actor", "verb", "target", "before"),
    "/audit-log/export.jsonl": ("actor", "verb", "target"),
    "/notices/": ("before", "skill"),
    "/agents/": ("q",),
    "/publish/": ("notes", "version", "text"),
    "/skills/ticket-triage/releases/propose/": ("note", "version"),
    "/skills/ticket-triage/compare/": ("from", "to", "file"),
    "/admin/catalog/release/": ("q", "state__exact"),
    "/admin/governance/call/": ("q", "o"),
    "/admin/catalog/journalentry/": ("q",),
    "/sign-in/": ("next",),
    "/api/v1/skills": ("q", "tag", "team"),
    "/api/v1/traces": ("q", "skill", "since", "cursor"),
    "/api/v1/audit-log": ("actor", "verb", "since"),
    "/api/v1/people": ("q", "state"),
    "/api/v1/releases": ("skill", "environment", "cursor"),
    "/api/v1/feed": ("key", "fields"),
    "/masking/": ("q",),
    "/erasures/": ("q",),
}
# Addresses that end in what somebody typed.
ENDS = ("/", "/skills/", "/traces/", "/people/", "/agents/", "/releases/", "/admin/catalog/user/", "/static/", "/welcome/x/", "/api/v1/", "/api/v1/skills/", "/api/v1/traces/", "/api/v1/people/", "/api/v1/feed/skills/")  # fmt: skip


def fill(sower: Sower, publisher: Visitor, approver: Visitor) -> None:
    """Forms that keep what is typed."""
    for version in ("1.0.0", "1.1.0"):
        n = sower.place(f"notes of a page, {version}")
        fields = {
            "text": SKILL_MD % version + f"\nVersion {version}.\n",
            "team": "workplace",
            "notes": paragraph(n),
        }
        sower.took(n, publisher.submit("/publish/", fields))
    n = sower.place("note of a proposal by page")
    asked = {"version": "1.0.0", "environment": "staging", "note": paragraph(n)}
    made = sower.took(n, publisher.submit("/skills/leak-page/releases/propose/", asked))
    assert "/releases/" in made.url, made.text[:3000]
    path = made.url.removeprefix(publisher.url)
    n = sower.place("rejection by page")
    sower.took(n, approver.submit(f"{path}reject/", {"reason": paragraph(n)}, form=path))
    for action in ("deprecate", "yank"):
        n = sower.place(f"{action} by page")
        address = f"/skills/leak-page/versions/1.1.0/{action}/"
        sower.took(n, publisher.submit(address, {"reason": paragraph(n)}))
    n = sower.place("switch off by page")
    sent = {"environments": ["production"], "reason": paragraph(n)}
    sower.took(n, approver.submit("/skills/ticket-triage/switch-off/", sent))
    n = sower.place("restore by page")
    sower.took(n, approver.submit("/skills/ticket-triage/restore/", sent | {"reason": paragraph(n)}))
    n = sower.place("description of an agent by page")
    sent = {
        "name": "leak-page-agent",
        "team": "workplace",
        "highest_risk": "low",
        "description": paragraph(n),
    }
    sower.took(n, publisher.submit("/agents/new/", sent))
    n = sower.place("reason of a delegation by page")
    lent = {"taker": "reader", "ends_at": "2027-01-10T12:00", "reason": paragraph(n)}
    sower.took(n, approver.submit("/delegations/new/", lent))
    n = sower.place("end of an agent by page")
    sent = {"confirm": "leak-page-agent", "reason": paragraph(n)}
    sower.took(
        n, publisher.submit("/agents/leak-page-agent/retire/", sent, form="/agents/leak-page-agent/settings/")
    )


def fail(sower: Sower, publisher: Visitor, admin: Visitor) -> None:
    """Forms that refuse what is typed."""
    for path, fields, form in (
        ("/publish/", ("text", "team", "notes", "version", "risk_level", "tags"), ""),
        ("/publish/check/", ("text", "team", "notes", "version"), "/publish/"),
        ("/agents/new/", ("name", "team", "skills", "description", "template", "tags"), ""),
        (
            "/skills/ticket-triage/releases/propose/",
            ("version", "environment", "note", "steps", "agents"),
            "",
        ),
        ("/tokens/issue/", ("name", "scopes", "days"), "/tokens/"),
        ("/environment/", ("environment",), "/"),
    ):
        n = sower.place(f"refused at {path}")
        answer = publisher.submit(path, dict.fromkeys(fields, paragraph(n)), form=form)
        assert answer.status < 500, (path, answer.text[-2000:])
    for path, fields in (
        ("/people/invite/", ("username", "name", "email", "role")),
        ("/teams/new/", ("slug",)),
        ("/environments/new/", ("name", "title", "permissions")),
    ):
        n = sower.place(f"refused at {path}")
        answer = admin.submit(path, dict.fromkeys(fields, paragraph(n)))
        assert answer.status < 500, (path, answer.text[-2000:])
    n = sower.place("a form without its token")
    sower.refused(
        n,
        publisher.send(
            "/publish/",
            urlencode({"notes": paragraph(n)}).encode(),
            Content_Type="application/x-www-form-urlencoded",
        ),
    )
    n = sower.place("the check of the audit log")
    assert admin.submit("/audit-log/verify/", {"anchor": paragraph(n)[:100]}, form="/audit-log/").status < 500


def sign_in_wrongly(sower: Sower) -> None:
    """Secrets as user names and as passwords."""
    n = sower.place("user name of a sign-in")
    for plant in plants()[::2]:
        stranger = Visitor(sower.served.url)
        answer = stranger.submit("/sign-in/", {"username": plant.at(n), "password": plant.at(n)})
        assert answer.status in {422, 429}, answer.text[-2000:]


def ask(sower: Sower, publisher: Visitor, admin: Visitor) -> None:
    """Searches, addresses that are none, and headers."""
    rest = sower.user("admin")
    for path, names in SEARCHES.items():
        n = sower.place(f"search at {path}")
        for one in (rest,) if path.startswith("/api/") else (admin, publisher):
            for value in (paragraph(n), plants()[0].at(n)):
                answer = one.send(f"{path}?{urlencode(dict.fromkeys(names, value))}")
                assert answer.status < 500, (path, answer.text[-2000:])
    for path in ENDS:
        n = sower.place(f"address below {path}")
        for plant in plants()[n % 4 :: 4]:
            one = rest if path.startswith("/api/") else admin
            answer = one.send(f"{path}{quote(plant.at(n), safe='')}/")
            assert answer.status < 500, (path, answer.text[-2000:])
    n = sower.place("headers")
    value = header_of(n)
    told = dict.fromkeys(
        (
            "User_Agent",
            "Referer",
            "X_Forwarded_For",
            "Accept_Language",
            "X_Request_Id",
            "HX_Target",
            "HX_Prompt",
            "If_None_Match",
        ),
        value,
    )
    for path in ("/", "/traces/", "/api/v1/skills", "/healthz", "/sign-in/"):
        assert publisher.send(path, **told).status < 500
        assert Visitor(sower.served.url).send(path, Cookie=f"{value}; sessionid={value}", **told).status < 500
        assert Visitor(sower.served.url).send(path, Authorization=value).status < 500
        assert Visitor(sower.served.url, value).send(path).status < 500
        assert Visitor(sower.served.url).send(path, Host=plants()[0].at(n)).status < 500


def sow(sower: Sower) -> None:
    """All of it."""
    names = ("publisher", "approver", "admin")
    publisher, approver, admin = (Visitor(sower.served.url).sign_in(name) for name in names)
    fill(sower, publisher, approver)
    fail(sower, publisher, admin)
    ask(sower, publisher, admin)
    sign_in_wrongly(sower)
