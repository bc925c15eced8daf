"""What exists and what is served, as rows."""

from catalog.models.agents import Agent, Session, Token
from catalog.models.appeals import Appeal, Scan
from catalog.models.people import Delegation, Grant, Role, Team, User
from catalog.models.record import IdempotencyKey, JobRun, JournalEntry, JournalHead
from catalog.models.releases import (
    SERVED,
    Approval,
    Confirmation,
    Degradation,
    Environment,
    Override,
    Release,
    Revision,
    State,
    Transition,
)
from catalog.models.skills import (
    Blob,
    BundleFile,
    Dependency,
    Risk,
    Skill,
    SkillSet,
    SkillTag,
    Stability,
    Version,
    VersionFinding,
)

__all__ = [
    "SERVED",
    "Agent",
    "Appeal",
    "Approval",
    "Blob",
    "BundleFile",
    "Confirmation",
    "Degradation",
    "Delegation",
    "Dependency",
    "Environment",
    "Grant",
    "IdempotencyKey",
    "JobRun",
    "JournalEntry",
    "JournalHead",
    "Override",
    "Release",
    "Revision",
    "Risk",
    "Role",
    "Scan",
    "Session",
    "Skill",
    "SkillSet",
    "SkillTag",
    "Stability",
    "State",
    "Team",
    "Token",
    "Transition",
    "User",
    "Version",
    "VersionFinding",
]
