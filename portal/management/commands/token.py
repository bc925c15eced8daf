"""`manage.py token user|agent NAME --scopes …`: print a new token, and nothing else, on standard output."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from catalog.agents import ensure_agent
from catalog.grants import Wanted, give_grant
from catalog.journal import Actor
from catalog.models import Environment, Role
from catalog.people import ensure_user
from catalog.teams import ensure_team
from catalog.tokens import AGENT_SCOPES, DAYS, USER_SCOPES, BadToken, issue_token
from portal.management.origin import origin_of

DEFAULT_TEAM = "agents"


class Command(BaseCommand):
    """Makes a token, and the account, role, team or agent that it needs and that is missing."""

    help = "Print a new token of a user or an agent; what it needs and is missing is made."

    def add_arguments(self, parser: ArgumentParser) -> None:
        """The words of the command line."""
        kinds = parser.add_subparsers(dest="kind", required=True)
        user = kinds.add_parser("user", help="A token that acts with a user's rights, cut to its scopes.")
        user.add_argument("--role", choices=Role.values, help="Grant this role as well.")
        agent = kinds.add_parser("agent", help="A token of an agent in one environment.")
        agent.add_argument("--environment", required=True)
        for kind, scopes in ((user, USER_SCOPES), (agent, AGENT_SCOPES)):
            kind.add_argument("name")
            kind.add_argument("--team", default="")
            kind.add_argument("--scopes", nargs="+", required=True, help=", ".join(scopes))
            kind.add_argument("--days", type=int, default=DAYS)

    def handle(self, *args: Any, **options: Any) -> None:
        """Make and print the token; raises CommandError for what cannot be."""
        scopes = [scope for word in options["scopes"] for scope in word.split(",") if scope]
        actor = Actor.system(origin_of("command"))
        make = self._user_token if options["kind"] == "user" else self._agent_token
        try:
            with transaction.atomic():
                secret = make(actor, scopes, options)
        except (BadToken, ValueError) as fault:
            raise CommandError(str(fault)) from fault
        self.stdout.write(secret)

    def _user_token(self, actor: Actor, scopes: list[str], options: dict[str, Any]) -> str:
        now, slug = timezone.now(), options["team"]
        team = ensure_team(slug=slug, actor=actor, now=now) if slug else None
        user = ensure_user(username=options["name"], actor=actor, now=now)
        if options["role"]:
            role = Role(options["role"])
            # An administrator is one of the whole instance, whatever team is named beside.
            team = None if role == Role.ADMIN else team
            give_grant(user=user, wanted=Wanted(role, team), actor=actor, now=now)
        _, secret = issue_token(
            actor=actor, user=user, scopes=scopes, name="command line", days=options["days"], now=now
        )
        return secret

    def _agent_token(self, actor: Actor, scopes: list[str], options: dict[str, Any]) -> str:
        now = timezone.now()
        environment = Environment.objects.filter(name=options["environment"]).first()
        if environment is None:
            known = ", ".join(Environment.objects.values_list("name", flat=True))
            raise CommandError(f"There is no environment {options['environment']}; there are {known}.")
        agent = ensure_agent(name=options["name"], team=options["team"] or DEFAULT_TEAM, actor=actor, now=now)
        _, secret = issue_token(
            actor=actor,
            agent=agent,
            environment=environment,
            scopes=scopes,
            name="command line",
            days=options["days"],
            now=now,
        )
        return secret
