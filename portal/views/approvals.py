from django.http import HttpRequest, HttpResponse


def inbox(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)
