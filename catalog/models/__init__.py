"""What exists and what is served, as rows."""

from catalog.models.agents import Agent, Session, Token
from catalog.models.people import Grant, Role, Team, User
from catalog.models.record import IdempotencyKey, JobRun, JournalEntry, JournalHead
from catalog.models.releases import Approval, Environment, Release, Revision, State, Transition
from catalog.models.skills import (
    Blob,
    BundleFile,
    Dependency,
    Skill,
    SkillSet,
    SkillTag,
    Version,
    VersionFinding,
)

__all__ = [
    "Agent",
    "Approval",
    "Blob",
    "BundleFile",
    "Dependency",
    "Environment",
    "Grant",
    "IdempotencyKey",
    "JobRun",
    "JournalEntry",
    "JournalHead",
    "Release",
    "Revision",
    "Role",
    "Session",
    "Skill",
    "SkillSet",
    "SkillTag",
    "State",
    "Team",
    "Token",
    "Transition",
    "User",
    "Version",
    "VersionFinding",
]
