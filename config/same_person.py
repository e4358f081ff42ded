"""What one person's page sends is never taken for another's."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse, JsonResponse

HEADER = "X-Answers-Of"
GetResponse = Callable[[HttpRequest], HttpResponse]


def same_person(get_response: GetResponse) -> GetResponse:
    """Middleware: refuse answers of a person when another one is signed in by now.

    A desk that stays open while somebody else signs in to the same browser would otherwise send its
    answers in their name: addresses name the item by its place, which both may have.
    """

    def answer(request: HttpRequest) -> HttpResponse:
        owner = request.headers.get(HEADER)
        if owner and request.user.is_authenticated and owner != str(request.user.pk):
            words = "somebody else is signed in here by now; sign in again, your answers are kept"
            return JsonResponse({"refused": words, "code": "signed_out"}, status=401)
        return get_response(request)

    return answer
