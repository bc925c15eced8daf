"""Who calls the API: a bearer token of an agent or a user, and the scope that a call needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils import timezone
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import (
    AuthenticationFailed,
    MethodNotAllowed,
    NotAuthenticated,
    PermissionDenied,
)
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from catalog.journal import Actor
from catalog.models import Team, User
from catalog.tokens import Bearer, read_token
from portal import access

if TYPE_CHECKING:
    from rest_framework.views import APIView


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer qm_…` (RFC 6750); an unknown, expired or revoked token is 401."""

    def authenticate(self, request: Request) -> tuple[User | None, Bearer] | None:
        """The user, for a token of a user, and whom the token speaks for."""
        secret = secret_of(get_authorization_header(request).decode("latin-1"))
        if not secret:
            return None
        bearer = read_token(secret, now=timezone.now())
        if bearer is None:
            raise AuthenticationFailed("The token is unknown, expired or revoked; ask for a new one.")
        if bearer.user_id is None:
            return None, bearer
        user = User.objects.filter(pk=bearer.user_id, is_active=True).first()
        if user is None:
            raise AuthenticationFailed("The account of this token was closed.")
        return user, bearer

    def authenticate_header(self, request: Request) -> str:
        """What a 401 asks for."""
        return 'Bearer realm="quartermaster"'


class HasScope(BasePermission):
    """The view says what scope each method needs; a view that says nothing is closed."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """Whether the token has the scope; raises NotAuthenticated, MethodNotAllowed, PermissionDenied."""
        bearer = request.auth
        if not isinstance(bearer, Bearer):
            raise NotAuthenticated("This address needs a token: Authorization: Bearer qm_…")
        needed = getattr(view, "scopes", {}).get(request.method)
        if needed is None:
            raise MethodNotAllowed(str(request.method))
        if not bearer.scopes.intersection(needed):
            raise PermissionDenied(f"The token lacks the scope {' or '.join(needed)}.")
        return True


class BearerScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the API's document describes the tokens."""

    target_class = "portal.api.authentication.TokenAuthentication"
    name = "bearer"

    def get_security_definition(self, auto_schema: Any) -> dict[str, str]:
        """An HTTP bearer scheme."""
        return {"type": "http", "scheme": "bearer", "bearerFormat": "qm_…"}


def secret_of(header: str) -> str:
    """The token in an Authorization header; "" where it holds none.

    OpenTelemetry's variables write a space as `%20`, and not every sender undoes that.
    """
    kind, _, secret = header.replace("%20", " ", 1).partition(" ")
    return secret.strip() if kind.lower() == "bearer" else ""


def bearer_of(request: Request) -> Bearer:
    """Whom the request's token speaks for."""
    if not isinstance(request.auth, Bearer):
        raise NotAuthenticated
    return request.auth


def ask_scope(request: Request, *teams: Team) -> None:
    """For what publishers of a team and administrators may do: the token must hold the right that its owner has.

    Raises PermissionDenied for a token of an administrator without `admin`, unless it holds `publish`
    and its owner publishes for each team. Who has no right at all hears that from the catalog.
    """
    powers, scopes = access.powers(request), bearer_of(request).scopes
    for team in teams:
        ways = {"publish": powers.may_publish(team), "admin": powers.is_admin}
        needed = [scope for scope, has_right in ways.items() if has_right]
        if needed and not scopes.intersection(needed):
            raise PermissionDenied(f"The token lacks the scope {' or '.join(needed)}.")


def actor_of(request: Request) -> Actor:
    """Who acts, for the journal."""
    user = request.user if isinstance(request.user, User) else None
    return Actor(user=user, origin=f"api {request.META.get('REMOTE_ADDR', '')}".strip())
