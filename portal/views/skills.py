"""The catalog and the overview of a skill."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Page, Paginator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.html import escape
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from catalog import blobs
from catalog.bundles.files import File
from catalog.bundles.reading import SKILL_MD
from catalog.bundles.skillmd import read_skill_md
from catalog.models import Skill, Version, VersionFinding
from catalog.resolution import folder_of
from catalog.visibility import visible_skills
from portal import access
from portal.fragments import render_part, wants_part
from portal.frames import skill_frame
from portal.lanes import Lane, lanes_of
from portal.listing import PARAMETERS, Asked, Listing, read_asked
from portal.markdown import render_markdown
from portal.outages import switching_of
from portal.schemas import describe_schema
from portal.shell import Shell, shell_of

PAGE_SIZE = 50
FINDINGS_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Row:
    """A skill of the list, with a lane for each environment."""

    skill: Skill
    lanes: Sequence[Lane]


@require_safe
def skill_list(request: HttpRequest) -> HttpResponse:
    """The catalog, narrowed and sorted by the query; for htmx the rows and the counts beside them."""
    shell, asked = shell_of(request), read_asked(request.GET)
    seen = visible_skills(access.powers(request))
    listing = Listing(seen, asked, environment=shell.environment, now=timezone.now())
    skills = listing.skills().select_related("team", "owner", "latest")
    page = Paginator(skills, PAGE_SIZE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "asked": asked,
        "page": page,
        "rows": _rows(page, shell),
        "facets": listing.facets(shell.environments),
        "environments": shell.environments,
        "environment": shell.environment,
    }
    if not page.object_list:
        # Nothing matches: say whether that is so everywhere, or in this environment alone.
        everywhere = Listing(seen, asked, environment=None, now=timezone.now())
        context |= {"elsewhere": everywhere.skills().count(), "empty": not seen.exists()}
    answer = render_part(request, "skills/skill_list.html", "rows", context)
    if wants_part(request):
        answer["HX-Push-Url"] = _address(asked, page.number)
    return answer


@require_safe
def skill_detail(request: HttpRequest, name: str) -> HttpResponse:
    """The overview: where the skill stands, its instructions, and what it says of itself."""
    skill = access.skill_read(request, name)
    context = skill_frame(request, skill, "overview")
    lanes = lanes_of([skill.pk], shell_of(request).environments)[skill.pk]
    context |= {
        "lanes": lanes,
        **switching_of(request, skill, lanes),
        "sets": skill.sets.all(),
        "maintainers": skill.maintainers.all(),
    }
    if skill.latest:
        context |= _about(skill, skill.latest, visible_skills(access.powers(request)))
    return render_part(request, "skills/skill_detail.html", "tab", context)


def _rows(page: Page[Skill], shell: Shell) -> list[Row]:
    skills = list(page.object_list)
    lanes = lanes_of([skill.pk for skill in skills], shell.environments)
    return [Row(skill, lanes[skill.pk]) for skill in skills]


def _address(asked: Asked, page: int) -> str:
    """The address of the list without the parameters that say nothing."""
    pairs = [("q", asked.text)] if asked.text else []
    pairs += [(name, value) for key, name in PARAMETERS.items() for value in asked.of(key)]
    pairs += [("sort", asked.sort)] if asked.sort else []
    pairs += [("page", str(page))] if page > 1 else []
    query = urlencode(pairs)
    return reverse("skill-list") + (f"?{query}" if query else "")


def _about(skill: Skill, version: Version, visible: QuerySet[Skill]) -> dict[str, Any]:
    """What the latest version says of itself."""
    files = list(version.files.values_list("path", "blob_id"))
    findings = list(_worst_first(version))
    return {
        "version": version,
        "body": _body(skill, version, dict(files)),
        "findings": findings[:FINDINGS_SHOWN],
        "findings_more": len(findings) - FINDINGS_SHOWN,
        **_relations(version, visible),
        "input_fields": describe_schema(version.fields.get("input_schema")),
        "output_fields": describe_schema(version.fields.get("output_schema")),
    }


def _relations(version: Version, visible: QuerySet[Skill]) -> dict[str, Any]:
    """What it depends on and what stands in for it, each with its skill where the user may see one; two queries."""
    needed = list(version.dependencies.order_by("folder"))
    others = [str(name) for name in version.fields.get("alternatives") or ()]
    folders = {one.folder for one in needed} | {folder_of(name) for name in others}
    known = {skill.folder: skill for skill in visible.filter(folder__in=folders)} if folders else {}
    return {
        "dependencies": [(one, known.get(one.folder)) for one in needed],
        "alternatives": [(name, known.get(folder_of(name))) for name in others],
    }


def _worst_first(version: Version) -> list[VersionFinding]:
    order = {"error": 0, "warning": 1, "advice": 2}
    return sorted(
        version.findings.all(), key=lambda one: (order.get(one.severity, 3), one.path, one.line or 0)
    )


def _body(skill: Skill, version: Version, files: dict[str, str]) -> SafeString | None:
    """The instructions as HTML; None for a tool, which has none."""
    head = next((path for path in SKILL_MD if path in files), None)
    if head is None:
        return None

    def link_file(path: str) -> str | None:
        if path not in files:
            return None
        return reverse("version-file", args=[skill.folder, version.version, path])

    try:
        content = blobs.read_blob(files[head])
    except FileNotFoundError:
        return escape(_("The store has lost its bytes. Tell an administrator."))
    return render_markdown(read_skill_md(File(head, content)).body, link_file=link_file)
