"""A database that goes away while a call is under way: its reply is stored when it is back."""

from typing import Any

import pytest
from django.db import OperationalError

from benchmarks.models import Exchange, Run, Trajectory
from benchmarks.runs import log, worker
from tests.benchmarks.runs.test_process_ends import run  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)


def test_a_reply_waits_until_the_database_is_back(
    run: Run,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(log, "PAUSE_SECONDS", 0.0)
    release, failures = log.release_cost, iter(range(3))

    def away(*given: Any) -> None:
        for _ in failures:
            raise OperationalError("connection to server lost")
        release(*given)

    monkeypatch.setattr(log, "release_cost", away)
    # Only replies of endpoints are written patiently: what was not sent yet costs nothing.
    monkeypatch.setattr(log.DatabaseLog, "record_sent", record_sent_with(release))
    worker.work_on_run(run_id=run.pk, owner="patient")
    assert run.trajectories.get().status == Trajectory.Status.DONE
    calls = Exchange.objects.filter(role="agent")
    assert {call.state for call in calls} == {"answered"}
    assert next(failures, None) is None

    monkeypatch.setattr(log, "PATIENCE_SECONDS", -1.0)

    def gone() -> None:
        raise OperationalError("connection to server lost")

    with pytest.raises(OperationalError):
        log.keep_trying(gone)


def record_sent_with(release: Any) -> Any:
    """``record_sent`` as it is, on a database that is there."""
    usual = log.DatabaseLog.record_sent

    def record_sent(self: log.DatabaseLog, *given: Any) -> None:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(log, "release_cost", release)
            usual(self, *given)

    return record_sent
