from django.http import HttpRequest, HttpResponse


def search(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
    return HttpResponse("", status=503)
