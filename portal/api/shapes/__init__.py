"""The shapes of the API's document: JSON Schemas of what is sent and answered. Plain data.

`tests/portal/api` holds every answer of its tests against them.
"""

from __future__ import annotations

from portal.api.shapes.agents import (
    AGENT,
    CHANGE_AGENT,
    ISSUE,
    ISSUED,
    MAKE_AGENT,
    ROTATE,
    TOKEN,
)
from portal.api.shapes.appeals import APPEAL, DECIDE, RESCAN
from portal.api.shapes.audit_log import ENTRY
from portal.api.shapes.cards import FILE
from portal.api.shapes.comparison import COMPARED
from portal.api.shapes.environments import CHANGE_ENVIRONMENT, ENVIRONMENT, NEW_ENVIRONMENT
from portal.api.shapes.feed import ADVERTISED, LOADED, SKILL_FIELDS, TOOLS
from portal.api.shapes.intake import INTAKE
from portal.api.shapes.masking import (
    MASKING_KIND,
    MASKING_RULE,
    MASKING_RULE_CHANGE,
    MASKING_RULE_NEW,
    MASKING_SWITCH,
    MASKING_TRIED,
    MASKING_TRY,
)
from portal.api.shapes.notices import NOTICE
from portal.api.shapes.people import (
    CLOSE,
    DELEGATION,
    GRANT,
    GRANT_NEW,
    INVITE,
    INVITED,
    LEND,
    LINK,
    PERSON_DETAIL,
    PERSON_FIELDS,
    TEAM_DETAIL,
    TEAM_FIELDS,
    TEAM_NEW,
)
from portal.api.shapes.publishing import FINDING, PUBLISH_FORM, PUBLISH_JSON, RESULT
from portal.api.shapes.releases import ACT, INBOX, PROPOSE, RELEASE, RELEASE_FIELDS
from portal.api.shapes.skills import (
    CATALOG_SKILL,
    DEGRADE,
    OWNERSHIP,
    RESTORE,
    SETTLE,
    VERSION,
    VERSION_FIELDS,
)
from portal.api.shapes.subjects import ERASE, ERASURE
from portal.api.shapes.traces import CALL_FIELDS, CONTEXT, DETAIL, REJECTED, REPORTED, TASK
from portal.api.shapes.words import (
    BOOLEAN,
    INTEGER,
    JSON,
    TEXT,
    TEXTS,
    Shape,
    listed,
    maybe,
    partly,
    record,
    ref,
)


def page(name: str) -> Shape:
    """A page of a list of things of that name."""
    return record(items=listed(ref(name)), next=maybe(TEXT))


SHAPES: dict[str, Shape] = {
    "Problem": partly(
        ("type", "title", "status", "detail", "code"),
        type=TEXT,
        title=TEXT,
        status=INTEGER,
        detail=TEXT,
        code=TEXT,
        errors=listed(JSON),
        near=TEXTS,
        fallback=maybe(TEXT),
    ),
    "Finding": FINDING,
    "File": FILE,
    "Publish": PUBLISH_JSON,
    "PublishForm": PUBLISH_FORM,
    "Published": record(results=listed(RESULT)),
    "FeedSkill": partly((), **SKILL_FIELDS),
    "Feed": record(environment=TEXT, revision=INTEGER, skills=listed(ref("FeedSkill"))),
    "LoadedSkill": LOADED,
    "Template": record(template=TEXT),
    "Advertised": ADVERTISED,
    "Tools": TOOLS,
    "Skill": CATALOG_SKILL,
    "SkillPage": page("Skill"),
    "VersionRow": record(**VERSION_FIELDS),
    "VersionPage": page("VersionRow"),
    "Version": VERSION,
    "Compared": COMPARED,
    "Ownership": OWNERSHIP,
    "Settle": SETTLE,
    "Degrade": DEGRADE,
    "Restore": RESTORE,
    "Transfer": record(team=TEXT, reason=TEXT),
    "Reason": record(reason=TEXT),
    "Nothing": record(),
    "Agent": AGENT,
    "AgentPage": page("Agent"),
    "MakeAgent": MAKE_AGENT,
    "ChangeAgent": CHANGE_AGENT,
    "Token": TOKEN,
    "TokenPage": page("Token"),
    "IssueToken": ISSUE,
    "IssuedToken": ISSUED,
    "RotateToken": ROTATE,
    "Appeal": APPEAL,
    "AppealPage": page("Appeal"),
    "Decide": DECIDE,
    "Rescan": RESCAN,
    "Propose": PROPOSE,
    "Act": ACT,
    "Release": RELEASE,
    "ReleaseRow": record(**RELEASE_FIELDS),
    "ReleasePage": page("ReleaseRow"),
    "Inbox": INBOX,
    "Environment": ENVIRONMENT,
    "EnvironmentPage": page("Environment"),
    "NewEnvironment": NEW_ENVIRONMENT,
    "ChangeEnvironment": CHANGE_ENVIRONMENT,
    "Team": record(**TEAM_FIELDS),
    "TeamPage": page("Team"),
    "TeamDetail": TEAM_DETAIL,
    "TeamNew": TEAM_NEW,
    "TeamRename": record(name=TEXT),
    "Grant": GRANT,
    "GrantPage": page("Grant"),
    "GrantNew": GRANT_NEW,
    "Person": record(**PERSON_FIELDS),
    "PersonPage": page("Person"),
    "PersonDetail": PERSON_DETAIL,
    "Invite": INVITE,
    "Invited": INVITED,
    "WelcomeLink": record(**LINK),
    "Close": CLOSE,
    "Delegation": DELEGATION,
    "DelegationPage": page("Delegation"),
    "Lend": LEND,
    "Report": partly((), calls=listed(REPORTED), tasks=listed(TASK)),
    "Ingested": partly(
        ("accepted", "duplicates", "rejected"),
        accepted=INTEGER,
        duplicates=INTEGER,
        rejected=REJECTED,
        rejected_tasks=REJECTED,
    ),
    "Call": record(**CALL_FIELDS),
    "CallPage": page("Call"),
    "Trace": record(trace_id=TEXT, calls=listed(record(**CALL_FIELDS, **DETAIL)), context=listed(CONTEXT)),
    "Intake": INTAKE,
    "Erase": ERASE,
    "Erasure": ERASURE,
    "ErasurePage": page("Erasure"),
    "MaskingRule": MASKING_RULE,
    "MaskingRulePage": page("MaskingRule"),
    "NewMaskingRule": MASKING_RULE_NEW,
    "ChangeMaskingRule": MASKING_RULE_CHANGE,
    "MaskingTry": MASKING_TRY,
    "MaskingTried": MASKING_TRIED,
    "MaskingKind": MASKING_KIND,
    "MaskingKinds": record(items=listed(ref("MaskingKind"))),
    "MaskingSwitch": MASKING_SWITCH,
    "AuditEntry": ENTRY,
    "AuditPage": page("AuditEntry"),
    "Notice": NOTICE,
    "NoticePage": page("Notice"),
    "NoticesRead": record(read=INTEGER),
    "Chain": record(
        intact=BOOLEAN,
        entries=INTEGER,
        broken_at=maybe(INTEGER),
        head=record(n=INTEGER, hash=TEXT),
    ),
}
