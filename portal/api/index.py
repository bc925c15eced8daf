"""The root of the API: where it is described."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import reverse
from django.views.decorators.http import require_safe


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    """The address of the OpenAPI document, whoever asks."""
    return JsonResponse({"schema": reverse("api-schema")})
