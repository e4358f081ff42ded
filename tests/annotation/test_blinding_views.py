"""No name of a model, agent or policy reaches an annotator: in no page, header, file or id."""

import json
import uuid
from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User
from django.http.response import HttpResponseBase
from django.test import Client

from annotation.desk.services import submit_assignment
from annotation.models import Assignment, Membership, Study
from annotation.ratings.services import record_rating
from tests.annotation.rows import SECRETS

pytestmark = pytest.mark.django_db


def told(answer: HttpResponseBase) -> str:
    """Everything that a browser gets to see of an answer."""
    body = b"".join(answer) if answer.streaming else answer.content  # type: ignore[attr-defined]
    headers = " ".join(f"{name}: {value}" for name, value in answer.headers.items())
    return f"{headers} {body.decode()}"


def everything(client: Client, study: Study) -> Iterator[tuple[str, str]]:
    """Every answer an annotator can get out of a study, errors included."""
    home = f"/studies/{study.pk}/"
    for path in ("/", "/studies/", home, f"{home}annotate/", f"{home}export/",
                 f"{home}export/file/?format=csv", "/studies/new/", "/demo/progress/"):  # fmt: skip
        yield path, told(client.get(path))
    for position in (1, 2, 3):
        url = f"{home}annotate/{position}/"
        yield url, told(client.get(url))
        for body in ({"edits": []}, {"edits": [{"id": str(uuid.uuid4()), "question": "safety",
                                                 "value": 3}]}, {"edits": "?"}):  # fmt: skip
            answer = client.post(
                f"{url}answers/", data=json.dumps(body), content_type="application/json"
            )
            yield f"{url}answers/", told(answer)
        yield f"{url}submit/", told(client.post(f"{url}submit/"))
        for action in ("save", "submit", "skip", "undo", "reopen", "?"):
            yield f"{url} {action}", told(client.post(url, {"action": action}))
        yield url, told(client.get(url))


def test_annotators_never_learn_who_made_a_trajectory(study: Study, ann: User) -> None:
    client = Client()
    client.force_login(ann)
    for path, text in everything(client, study):
        found = [secret for secret in SECRETS if secret.lower() in text.lower()]
        assert not found, (path, found)


def test_desk_tells_no_database_id_of_a_trajectory_or_run(
    study: Study, ann: User, item: Assignment
) -> None:
    from benchmarks.models import Trajectory

    # an id that occurs nowhere by chance
    Trajectory.objects.filter(pk=item.trajectory_id).update(seed=987654321)
    client = Client()
    client.force_login(ann)
    page = told(client.get(f"/studies/{study.pk}/annotate/1/"))
    assert "987654321" not in page
    assert "/trajectories/" not in page
    assert "/runs/" not in page


def test_a_manager_who_also_annotates_stays_blind_until_done(study: Study, ann: User) -> None:
    Membership.objects.create(study=study, user=ann, role="manager")
    client = Client()
    client.force_login(ann)
    url = f"/studies/{study.pk}/export/file/?format=csv"
    for item in study.assignments.filter(annotator=ann):
        for key in item.item.asked:
            record_rating(assignment=item, by=ann, question=key, value=3, client_id=uuid.uuid4())
        text = told(client.get(url))
        assert "safety" in text
        assert SECRETS[0] not in text
        assert "model" not in text.splitlines()[0]
        submit_assignment(assignment=item, by=ann)
    assert SECRETS[0] in told(client.get(url))
