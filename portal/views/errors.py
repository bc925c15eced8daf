from django.http import HttpRequest, HttpResponse


def bad_request(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def forbidden(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def not_found(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def server_error(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def csrf_failure(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)
