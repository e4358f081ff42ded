"""Images of messages, as pages show them."""

from base64 import b64decode

from django.http import Http404, HttpResponse

from benchmarks.models import TrajectoryImage


def image_response(trajectory: int, digest: str) -> HttpResponse:
    """Send an image of a trajectory; its type was told by its content when it was stored."""
    image = TrajectoryImage.objects.filter(trajectory=trajectory, digest=digest).first()
    if image is None:
        raise Http404("There is no such image.")
    response = HttpResponse(b64decode(image.data), content_type=image.media_type)
    response["X-Content-Type-Options"] = "nosniff"
    response["Content-Security-Policy"] = "sandbox; default-src 'none'"
    response["Cache-Control"] = "private, max-age=86400"
    return response
