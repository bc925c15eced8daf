"""Accounts: made by an invitation or a command, and opened to their person by a link that works once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.contrib.auth.tokens import default_token_generator
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.http import urlsafe_base64_decode, urlsafe_base64_encode

from catalog import access, journal
from catalog.grants import Wanted, give_grant, lock_accounts
from catalog.journal import Actor
from catalog.models import User

LONGEST_NAME, LONGEST_EMAIL = 150, 254
# Pages that stand beside those of people, and what no address can end with.
RESERVED = frozenset({"invite", ".", ".."})
REFUSAL = "People are managed by administrators."


class BadAccount(ValueError):
    """An account cannot be made so; `field` names what is wrong, the text says why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class AccountTaken(Exception):
    """Another account has the name."""


class LinkUsed(Exception):
    """A link was used, is too old, or never was one: nothing tells these apart."""

    def __init__(self) -> None:
        super().__init__("The link was used, or is too old; an administrator makes a new one.")


@dataclass(frozen=True, slots=True)
class Link:
    """The two parts of the address that lets a person choose a password."""

    uid: str
    token: str


def ensure_user(*, username: str, actor: Actor, now: datetime, password: str | None = None) -> User:
    """The account of this name, made where it is missing; without a password nobody can sign in to it.

    Raises BadAccount for what is no user name.
    """
    _check_username(username)
    with transaction.atomic():
        user = User.objects.filter(username=username).first()
        if user is None:
            user = User.objects.create_user(username=username, password=password)
            _tell(user, "user.create", actor, now)
    return user


def invite(
    *,
    username: str,
    actor: Actor,
    now: datetime,
    name: str = "",
    email: str = "",
    grants: Sequence[Wanted] = (),
) -> User:
    """Make an account without a password, and its first grants.

    Raises NotAllowed for all but administrators, BadAccount, BadGrant, and AccountTaken also for a name
    that differs from another in capitals alone.
    """
    _check_username(username)
    title, address = _clean_name(name), _clean_email(email)
    with transaction.atomic():
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        # Two invitations at once come one after the other.
        journal.lock_head()
        if User.objects.filter(username__iexact=username).exists():
            raise AccountTaken(f"There is an account {username} already.")
        person = User.objects.create_user(username=username, email=address, first_name=title)
        _tell(person, "user.create", actor, now, {"name": title} if title else None)
        for wanted in grants:
            give_grant(user=person, wanted=wanted, actor=actor, now=now)
    return person


def make_link(*, person: User, actor: Actor, now: datetime) -> Link:
    """A link by which the person chooses a password, once, within a week (`PASSWORD_RESET_TIMEOUT`).

    An earlier link of somebody who has no password yet ends with it. Raises NotAllowed for all but
    administrators, and BadAccount for a closed account.
    """
    with transaction.atomic():
        fresh = lock_accounts([person])[person.pk]
        access.require(actor, lambda powers: powers.is_admin, REFUSAL)
        if not fresh.is_active:
            raise BadAccount("username", f"The account of {fresh.username} is closed; open it first.")
        told = _told_of_password(fresh)
        if not fresh.has_usable_password():
            fresh.set_unusable_password()
            fresh.save(update_fields=["password"])
        _tell(fresh, "user.link", actor, now, told)
    uid = urlsafe_base64_encode(str(fresh.pk).encode())
    return Link(uid, default_token_generator.make_token(fresh))


def read_link(link: Link) -> User:
    """Whose link it is; raises LinkUsed."""
    uid = _read_uid(link.uid)
    person = User.objects.filter(pk=uid, is_active=True).first() if uid else None
    if person is None or not default_token_generator.check_token(person, link.token):
        raise LinkUsed
    return person


def choose_password(*, link: Link, password: str, origin: str, now: datetime) -> User:
    """Set the password of the link's person, which ends the link; raises LinkUsed.

    The caller has validated the password.
    """
    with transaction.atomic():
        lock_accounts([read_link(link)])
        person = read_link(link)
        told = _told_of_password(person)
        person.set_password(password)
        person.save(update_fields=["password"])
        _tell(person, "user.password", Actor(user=person, origin=origin), now, told)
    return person


def people_who(*, text: str = "", state: str = "") -> QuerySet[User]:
    """The accounts whose name or address holds the text, in a state: active, waiting or closed."""
    people = User.objects.order_by("username")
    if text:
        people = people.filter(
            Q(username__icontains=text)
            | Q(first_name__icontains=text)
            | Q(last_name__icontains=text)
            | Q(email__icontains=text)
        )
    without = Q(password__startswith=UNUSABLE_PASSWORD_PREFIX)
    states = {"active": Q(is_active=True) & ~without, "waiting": Q(is_active=True) & without}
    return people.filter({**states, "closed": Q(is_active=False)}.get(state, Q()))


def state_of(person: User) -> str:
    """Whether somebody can sign in: active, waiting (no password yet) or closed."""
    if not person.is_active:
        return "closed"
    return "active" if person.has_usable_password() else "waiting"


def _told_of_password(person: User) -> dict[str, str]:
    """Whether a link is to the first password, or replaces one."""
    return {"password": "replaced" if person.has_usable_password() else "first"}


def _read_uid(uid: str) -> UUID | None:
    try:
        return UUID(urlsafe_base64_decode(uid).decode("ascii"))
    except ValueError:
        return None


def _check_username(username: str) -> None:
    try:
        User._meta.get_field("username").run_validators(username)
    except ValidationError as fault:
        message = f"{username} is no user name: {' '.join(fault.messages)}"
        raise BadAccount("username", message) from fault
    if not username or username.lower() in RESERVED:
        raise BadAccount("username", f"{username!r} is no user name; choose another one.")


def _clean_name(text: str) -> str:
    name = " ".join(text.split())
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise BadAccount("name", f"A name has at most {LONGEST_NAME} characters, all of them printable.")
    return name


def _clean_email(text: str) -> str:
    address = text.strip()
    if not address:
        return ""
    try:
        validate_email(address)
    except ValidationError as fault:
        raise BadAccount("email", f"{address[:80]!r} is no e-mail address.") from fault
    if len(address) > LONGEST_EMAIL:
        raise BadAccount("email", f"An e-mail address has at most {LONGEST_EMAIL} characters.")
    return address


def _tell(person: User, verb: str, actor: Actor, now: datetime, after: dict[str, str] | None = None) -> None:
    journal.append(actor=actor, verb=verb, target=f"user {person.username}", after=after, now=now)
