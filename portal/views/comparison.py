"""What changed between two versions of a skill."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from catalog.bundles.reading import HEADS
from catalog.comparison import Comparison, bump_of, compare, compare_declared
from catalog.models import Version
from portal.comparing import choose_versions
from portal.diffs import Diff, diff_change
from portal.fragments import render_part, wants_part
from portal.frames import skill_frame

MOST_NUMBERS = 100


@require_safe
def version_compare(request: HttpRequest, name: str) -> HttpResponse:
    """`?from=` and `?to=` name the versions, `?file=` the file whose lines are shown."""
    before, after = choose_versions(request, name)
    skill = after.skill
    numbers = skill.versions.order_by("-precedence").values_list("version", flat=True)[:MOST_NUMBERS]
    context: dict[str, Any] = {
        **skill_frame(request, skill, "versions"),
        "before": before,
        "after": after,
        "numbers": list(numbers),
        "unified": request.GET.get("view") == "unified",
    }
    if before is not None:
        reach = compare(before, after)
        context |= {"reach": reach, "diff": _diff(reach, before, request.GET.get("file", ""))}
        if wants_part(request) and request.headers.get("HX-Target") == "diff":
            return render(request, "versions/diff.html", context)
        context |= {"declared": compare_declared(before, after), "bump": bump_of(before, after)}
    return render_part(request, "versions/version_compare.html", "tab", context)


def _diff(reach: Comparison, before: Version, path: str) -> Diff | None:
    """The lines of the file that was asked for, else of the one that says most."""
    changes = {file.path: file.change for file in reach.files}
    if path not in changes:
        heads = (head for head in HEADS if changes.get(head) == "changed")
        path = next(heads, "") or next((one for one in changes if changes[one] == "changed"), "")
        path = path or next(iter(changes), "")
    return diff_change(before, reach.after, path, changes[path]) if path else None
