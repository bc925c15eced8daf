"""Script in Markdown, HTML, SVG and file names of a bundle runs nowhere, in a real browser."""

from __future__ import annotations

import io
import json
import urllib.request
import zipfile

import pytest
from playwright.sync_api import Page

from tests.served.instance import Instance
from tests.served.test_main_job import sign_in

pytestmark = pytest.mark.browser

NAME = "markup-trap"
ROBBER = "window.robbed=1;document.title='robbed'"
SKILL_MD = f"""---
name: {NAME}
description: Shows <img src=x onerror="{ROBBER}"> and <b>bold</b>. Use never; not for anything.
metadata:
  version: "1.0.0"
  author: "<script>{ROBBER}</script>"
---

# Trap <script>{ROBBER}</script>

<script>{ROBBER}</script>
<img src=x onerror="{ROBBER}">
<div hx-get="/publish/" hx-trigger="load" onclick="{ROBBER}" id="main" style="position:fixed">markup</div>
<form action="/sign-out/" method="post"><button>Sign out</button></form>
<iframe srcdoc="<script>parent.robbed=1</script>"></iframe>

[click](javascript:{ROBBER}) [data](data:text/html,<script>1</script>) <javascript:{ROBBER}>
![track](https://tracker.example/pixel.png) [out](../../../etc/passwd) {{{{7*7}}}} {{% csrf_token %}}

```html
</code></pre><script>{ROBBER}</script>
```
"""
SVG = f'<svg xmlns="http://www.w3.org/2000/svg" onload="{ROBBER}"><script>{ROBBER}</script></svg>'
HTML = f"<!doctype html><title>x</title><script>{ROBBER}</script>"
FILES = {
    "SKILL.md": SKILL_MD,
    "assets/page.html": HTML,
    "assets/picture.svg": SVG,
    "references/{{7*7}}.md": "Text.\n",
    "references/a'onmouseover=alert(1)&quot;.md": "Text.\n",
    "references/notes.md": f"<script>{ROBBER}</script>\n",
    "scripts/x.js": f"{ROBBER} // </script><script>{ROBBER}</script>",
}


@pytest.fixture(scope="module")
def trap(served: Instance) -> Instance:
    """The instance, with the bundle published."""
    token = served.token("user", "publisher", "--scopes", "publish")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as bundle:
        for path, text in FILES.items():
            bundle.writestr(path, text)
    boundary = "frontier"
    body = (
        f'--{boundary}\r\nContent-Disposition: form-data; name="team"\r\n\r\nsupport\r\n'
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="trap.zip"\r\n'
        "Content-Type: application/zip\r\n\r\n"
    ).encode()
    request = urllib.request.Request(
        f"{served.url}/api/v1/publish",
        data=body + archive.getvalue() + f"\r\n--{boundary}--\r\n".encode(),
        headers={
            "Authorization": f"Bearer {token}",
            "Content-Type": f"multipart/form-data; boundary={boundary}",
        },
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        [result] = json.loads(answer.read())["results"]
    assert result["status"] == "published", result
    return served


PAGES = [
    f"/?q={NAME}",
    f"/search/?q={NAME}",
    f"/skills/{NAME}/",
    f"/skills/{NAME}/versions/",
    f"/skills/{NAME}/versions/1.0.0/",
    f"/skills/{NAME}/files/",
    *(f"/skills/{NAME}/versions/1.0.0/files/{path}" for path in FILES),
    f"/skills/{NAME}/releases/propose/",
]


@pytest.mark.parametrize("path", PAGES)
def test_nothing_runs_on(path: str, trap: Instance, page: Page) -> None:
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    sign_in(page, trap, "publisher")
    answer = page.goto(trap.url + path)
    assert answer is not None
    assert answer.status == 200, path
    page.wait_for_load_state("networkidle")
    for element in page.locator("main :is(h1, h2, p, td, code, .prose)").all()[:60]:
        element.dispatch_event("mouseover")
    assert page.evaluate("window.robbed") is None
    assert page.title() != "robbed"
    policy = answer.headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy
    assert "script-src 'self'" in policy
    assert not [url for url in sent if not url.startswith((trap.url, "data:"))]
    prose = page.locator(".prose")
    hostile = "script, iframe, form, img, svg, style, object, [style], [id], [onclick], [onerror]"
    assert prose.locator(hostile).count() == 0
    assert (
        prose.locator(
            "[hx-get], [hx-trigger], [data-hx-get], a[href^='javascript:'], a[href^='data:']"
        ).count()
        == 0
    )
    assert "robbed=1" not in (page.locator("main a[href]").evaluate_all("all => all.map(a => a.href).join()"))
    assert ">49<" not in page.content()


@pytest.mark.parametrize("path", ["assets/page.html", "assets/picture.svg", "scripts/x.js"])
def test_a_download_is_an_attachment(path: str, trap: Instance, page: Page) -> None:
    sign_in(page, trap, "reader")
    answer = page.request.get(f"{trap.url}/skills/{NAME}/versions/1.0.0/files/{path}?download=1")
    assert answer.status == 200
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["content-security-policy"] == "default-src 'none'; sandbox"
    assert answer.body() == FILES[path].encode()


def test_the_bundle_is_an_attachment(trap: Instance, page: Page) -> None:
    sign_in(page, trap, "reader")
    answer = page.request.get(f"{trap.url}/skills/{NAME}/versions/1.0.0/bundle.zip")
    assert answer.headers["content-disposition"].startswith("attachment;")
    assert answer.headers["x-content-type-options"] == "nosniff"
