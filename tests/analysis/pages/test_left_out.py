"""Pages say which submissions they leave out: voided ones, and those that were sent back."""

import pytest
from django.test import Client

from annotation.models import Assignment
from annotation.ratings.selectors import left_out
from annotation.submissions.services import send_back, void_submission
from benchmarks.runs.selectors import run_metrics
from tests.analysis.human_rows import answer, make_item, make_kind_study, make_people
from tests.analysis.rows import (
    flat,
    make_dataset,
    make_member,
    make_person,
    make_run,
    make_trajectory,
)

pytestmark = pytest.mark.django_db
VOIDED, BACK = "1 submission that a manager voided", "1 submission sent back to the annotator"


def test_what_was_voided_or_sent_back_is_counted_and_said() -> None:
    study = make_kind_study("ten_questions@1")
    talk = make_trajectory(make_run(make_dataset(), "ada"), 1, scores=[flat(4)])
    item = make_item(study, trajectory=talk, asked=["safety"])
    for user in make_people("ann", "bob", "cid", "dan"):
        answer(item, user, {"safety": 4})
        people = {"number": user.pk, "assigned": 1, "submitted": 1}
        study.participants.update_or_create(user=user, defaults=people)
    study.items.update(wanted=4, given=4, done=4)
    rita = make_person("rita", "view_results")
    make_member(study, rita, "manager")
    reader, pages = Client(), ("agreement", "ratings")
    reader.force_login(rita)

    def said() -> list[str]:
        at = [f"/analysis/{page}/?study={study.pk}&simulated=all" for page in pages]
        return [reader.get(address, follow=True).content.decode() for address in at]

    assert not any("Left out of" in page for page in said())
    ann, bob, *_ = Assignment.objects.filter(study=study).order_by("pk")
    void_submission(assignment=ann, by=rita, reason="All ones.")
    send_back(assignment=bob, by=rita, note="Look again.")
    assert left_out(study).words == f"{VOIDED} and {BACK}"
    for page in said():
        assert f"{VOIDED} and {BACK}." in page
    export = reader.get(f"/studies/{study.pk}/export/").content.decode()
    assert "1 voided submission is in the files" in export


def test_trajectories_that_failed_are_left_out_and_counted(reader: Client) -> None:
    run = make_run(make_dataset(), "ada")
    make_trajectory(run, 1)
    make_trajectory(run, 2, status="failed")
    make_trajectory(run, 3, status="decision")
    metrics = run_metrics(run)["metrics"]["accurate"]
    reasons = {"failed for technical reasons": 1, "waits for a decision": 1}
    assert metrics["n"] == 1 and metrics["excluded"] == reasons
    page = reader.get("/analysis/leaderboard/", follow=True).content.decode()
    assert "Trajectories that failed are not counted: 2 (Ada)." in page
