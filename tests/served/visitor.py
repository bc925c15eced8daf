"""Somebody who sends requests to a served instance, by page or by REST, without a browser."""

from __future__ import annotations

import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode

SECONDS = 60


@dataclass(frozen=True)
class Answer:
    """Status and text of an answer, and the address that it came from in the end."""

    status: int
    text: str
    url: str

    def json(self) -> Any:
        """The text as JSON."""
        return json.loads(self.text)


@dataclass
class Visitor:
    """Sends requests; keeps cookies, follows redirects, and takes any status for an answer."""

    url: str
    token: str = ""
    cookies: CookieJar = field(default_factory=CookieJar)

    def send(
        self,
        path: str,
        body: bytes | Iterable[bytes] | None = None,
        *,
        method: str = "",
        **headers: str,
    ) -> Answer:
        """Send a request; a body that is no bytes goes in chunks. Names of headers have `_` for `-`."""
        told = {name.replace("_", "-"): value for name, value in headers.items()}
        if self.token:
            told.setdefault("Authorization", f"Bearer {self.token}")
        request = urllib.request.Request(
            self.url + path, body, told, method=method or ("GET" if body is None else "POST")
        )
        opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(self.cookies))
        try:
            with opener.open(request, timeout=SECONDS) as answer:
                return Answer(answer.status, answer.read().decode(errors="replace"), answer.url)
        except urllib.error.HTTPError as refusal:
            with refusal:
                return Answer(refusal.code, refusal.read().decode(errors="replace"), refusal.url or "")

    def rest(self, path: str, body: Any = None, *, method: str = "", **headers: str) -> Answer:
        """JSON to the API."""
        content = None if body is None else json.dumps(body).encode()
        return self.send(
            f"/api/v1/{path}", content, method=method, Content_Type="application/json", **headers
        )

    def submit(self, path: str, fields: Mapping[str, Any], *, form: str = "", **headers: str) -> Answer:
        """Send a form as the page at `form` (else the same address) would."""
        page = self.send(form or path).text
        found = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', page)
        assert found, page[:2000]
        content = urlencode({"csrfmiddlewaretoken": found[1], **fields}, doseq=True).encode()
        kind = "application/x-www-form-urlencoded"
        return self.send(path, content, Content_Type=kind, Referer=self.url + path, **headers)

    def sign_in(self, name: str) -> Visitor:
        """As one of the sample accounts, whose password is its name."""
        answer = self.submit("/sign-in/", {"username": name, "password": name})
        assert answer.status == 200, answer.text[:2000]
        assert "/sign-in/" not in answer.url
        return self
