from django.http import HttpRequest, HttpResponse


def publish(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def publish_check(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)
