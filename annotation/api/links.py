"""Links to studies in the API: invitations, and links for people of recruiting platforms.

A link is in the answer alone: only a digest of it is stored. So an answer is not kept for requests
that are sent again; revoke on the study's page what was made twice.
"""

from typing import Any, Literal

from django.db import transaction
from django.http import HttpRequest
from django.urls import reverse
from ninja import Router, Schema, Status
from pydantic import Field

from annotation.access import fetch_managed_study
from annotation.models import Membership
from annotation.people.invitations import (
    LONGEST_DAYS,
    LONGEST_LABEL,
    USUAL_DAYS,
    make_invite,
    make_place_links,
)
from annotation.plans.study_plan import MOST_ANNOTATORS
from annotation.recruiting.forms import LONGEST_SCREENING, RecruitingLinkForm
from annotation.recruiting.services import make_recruiting_link
from annotation.recruiting.views import recruiting_url
from annotation.studies.selectors import study_sizes
from benchmarks.api.errors import ApiError, refusals
from benchmarks.api.requests import Strict

router = Router(tags=["Studies"])


class NewInvitations(Strict):
    """Whom links are made for."""

    to: Literal["people", "lists", "everybody"] = Field(
        "people",
        description="`people`: a link for each of `labels`. `lists`: one to each free list that "
        "has none. `everybody`: one for all who come to sessions without named players.",
    )
    role: str = Field("annotator", description="Of `people`; the others are annotators.")
    labels: list[str] = Field(
        [""], min_length=1, max_length=MOST_ANNOTATORS,
        description=f"For whom each is, at most {LONGEST_LABEL} characters; managers alone see it.",
    )  # fmt: skip
    days: int = Field(USUAL_DAYS, ge=1, le=LONGEST_DAYS, description="How long links are valid.")


class LinkOut(Schema):
    """A link, which cannot be read again."""

    label: str
    url: str


class NewRecruitingLink(Strict):
    """A link for the participants of one platform; fields are those of the page."""

    platform: str
    places: int = Field(description="How many may join.")
    items_each: int | None = Field(None, description="For studies with a pool.")
    days: int = 14
    code: str = Field("", description="The completion code of Prolific.")
    review_code: str = ""
    screened_code: str = ""
    screening: str = Field(
        "", max_length=LONGEST_SCREENING,
        description="A question a line, with its answers after `|`; a star lets somebody in.",
    )  # fmt: skip
    return_url: str = ""


@router.post(
    "/{int:study_id}/invitations", response={201: list[LinkOut], **refusals(400, 404, 409, 413)}
)
def make_invitations(request: HttpRequest, study_id: int, wanted: NewInvitations) -> Status[Any]:
    """Make invitation links, all or none; for the study's managers."""
    access = fetch_managed_study(request, study_id)
    common: dict[str, Any] = {"study": access.study, "days": wanted.days, "by": access.user}
    annotator = Membership.Role.ANNOTATOR
    with transaction.atomic():
        if wanted.to == "lists":
            links = make_place_links(**common)
        elif wanted.to == "everybody":
            label = "everybody who comes"
            links = [(label, make_invite(role=annotator, label=label, shared=True, **common))]
        else:
            names = list(dict.fromkeys(wanted.labels))
            links = [(name, make_invite(role=wanted.role, label=name, **common)) for name in names]
    at = [request.build_absolute_uri(reverse("annotation:join_link", args=[t])) for _, t in links]
    return Status(
        201, [{"label": link[0], "url": url} for link, url in zip(links, at, strict=True)]
    )


@router.post(
    "/{int:study_id}/recruiting-links", response={201: LinkOut, **refusals(400, 404, 409, 413)}
)
def make_link_for_platform(
    request: HttpRequest, study_id: int, wanted: NewRecruitingLink
) -> Status[Any]:
    """Make a link for people of a platform such as Prolific; for the study's managers."""
    access = fetch_managed_study(request, study_id)
    items = study_sizes([access.study])[access.study.pk].items
    form = RecruitingLinkForm(wanted.model_dump(), study=access.study, items=items)
    if not form.is_valid():
        field, errors = next(iter(form.errors.items()))
        raise ApiError(422, str(errors[0]), "" if field == "__all__" else field)
    token = make_recruiting_link(study=access.study, by=access.user, **form.cleaned_data)
    url = recruiting_url(request, token, wanted.platform)
    return Status(201, {"label": wanted.platform, "url": url})
