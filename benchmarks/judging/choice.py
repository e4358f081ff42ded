"""Which judging of a run counts: one at a time, chosen by somebody, and changed back as easily."""

import json

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.db import transaction

from benchmarks.core.errors import CoreError
from benchmarks.judging.selectors import not_covered
from benchmarks.locks import lock_run
from benchmarks.models import Judging, Run
from benchmarks.runs.services import bump_data_version


class ChoiceRefused(CoreError):
    """A judging that cannot count for its run; the text says what to do."""


def choose_judging(*, run: Run, judging: Judging | None, by: User | None = None) -> None:
    """Let a judging count for its run; None for none, where nobody judged it live.

    Only one that looked at every ended trajectory can, so that no figure changes what it rests on
    without saying so. The change is noted in the administration's history.
    """
    if judging is not None and judging.run_id != run.pk:
        raise ChoiceRefused(f"“{judging.name}” is a judging of run {judging.run_id}, not of {run}")
    if run.kind not in (Run.Kind.MADE, Run.Kind.IMPORTED):
        raise ChoiceRefused(
            f"{run} tries no agent, so there is nothing that a judging could count for"
        )
    if judging is None and run.judgings.filter(made_by=None).exists():
        raise ChoiceRefused(f"{run} was judged live; choose that judging or another one")
    with transaction.atomic():
        lock_run(run.pk)
        run.refresh_from_db(fields=["primary_judging"])
        if judging is not None and judging.made_by_id and (left := not_covered(judging)):
            raise ChoiceRefused(
                f"“{judging.name}” has not looked at {left} of the run's ended trajectories; "
                "let it finish, or judge all of them"
            )
        before = run.primary_judging
        if before == judging:
            return
        Run.objects.filter(pk=run.pk).update(primary_judging=judging)
        bump_data_version(run.pk)
        if by is not None:
            names = [one.name if one else "none" for one in (before, judging)]
            LogEntry.objects.create(
                user=by,
                content_type=ContentType.objects.get_for_model(Run),
                object_id=str(run.pk),
                object_repr=str(run),
                action_flag=CHANGE,
                change_message=json.dumps(f"Judging that counts: {names[0]} → {names[1]}"),
            )
    run.refresh_from_db()
