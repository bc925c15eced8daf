from django.http import HttpRequest, HttpResponse


def sign_in(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def sign_out(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def profile(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def environment_choose(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)
