from django.http import HttpRequest, HttpResponse


def trace_list(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)


def trace_detail(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)
