"""The expected files: reports of all pages and what commands accept and print, as text."""

import io
import json
import logging
from argparse import ArgumentParser
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command, get_commands, load_command_class
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from analysis.browser.groups.failure_groups import choose, read_group_options
from analysis.filters import Filters
from analysis.filters.selection import Selection
from analysis.models import RatingTable
from analysis.pages.catalogue import PAGES, AnalysisPage, load_reports, select
from analysis.pages.reports import deferred_request, make_report, report_key, write_deferred
from analysis.reports.content import Report
from analysis.tables.selectors import shown
from annotation.models import Study
from annotation.remarks.label_sets import add_label_set, file_text
from annotation.remarks.services import put_label
from benchmarks.branches.services import answers_in, branch_with_answer, replay_every_turn
from benchmarks.experiments.selectors import experiment_matrix, experiment_runs
from benchmarks.models import Dataset, Experiment, Run, Trajectory
from benchmarks.visibility import Visibility
from tests.factories.benchmarks import play, save_sample_dataset, start_sample_runs
from tests.golden.lines import canonical, report_lines
from tests.golden.recording import restore_world

APPS = ("config", "benchmarks", "annotation", "analysis", "devtools")
# Filters of one page alone are tried with so many of their values each.
MOST_VALUES = 2
SHARED_TRIED = ("tasks", "judging", "simulated")


def write(folder: Path, only: Collection[str] = ()) -> None:
    """Write files about the recorded world into a folder: all, or those of these names."""
    logging.disable(logging.INFO)
    restore_world(settings.DATA_DIR / "planjury.sqlite3")
    load_reports()
    user = User.objects.get(username="admin")
    _put_labels(user)
    written = {f"pages/{page.key}": _page_lines(page, user) for page in PAGES.values()}
    written |= {"pages/other": _other_lines(user), "pages/groups": _groups_lines(user)}
    written["commands"] = _command_lines()
    # Last: it plays trajectories, which pages and commands would count.
    written["pages/branches"] = _branches_lines(user)
    for name, lines in written.items():
        if not only or name.rpartition("/")[2] in only:
            path = folder / f"{name}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def _put_labels(user: User) -> None:
    """Have two people label six trajectories of each dataset with a shipped set of labels."""
    add_label_set(text=file_text("mast@1"), by=user)
    keys = ("mast_derailment", "mast_premature_end", "mast_none")
    second, _ = User.objects.get_or_create(username="golden-labeller")
    for dataset in Dataset.objects.order_by("pk"):
        rows = Trajectory.objects.filter(run__dataset=dataset, status="done").order_by("pk")[:6]
        for number, row in enumerate(rows):
            put_label(trajectory=row, key=keys[number % 3], by=user)
            put_label(trajectory=row, key=keys[number % 2], by=second)


def _page_lines(page: AnalysisPage, user: User) -> Iterator[str]:
    """Report a page on every dataset or study, and with its filters one at a time."""
    rows: list[Any] = list((Study if page.of_study else Dataset).objects.order_by("pk"))
    name = "study" if page.of_study else "dataset"
    seen = set()
    for row in rows:
        value: dict[str, Any] = {name: str(row.pk)}
        first = select(page, Filters(**value), user)
        for selection in (first, *_varied(page, first, value, user)):
            address = selection.filters.query()
            if address in seen:
                continue
            seen.add(address)
            yield f"## {page.key}?{address}"
            try:
                report, deferred = _written(page, selection)
            except ValueError as error:  # judges who looked twice have halves of scores
                yield f"# fails: {error}"
                continue
            yield from report_lines(report)
            if deferred is not None:
                yield "# computed by a job"
                yield from report_lines(deferred)
            if report.empty is not None:
                break


def _varied(
    page: AnalysisPage, first: Selection, value: dict[str, Any], user: User
) -> Iterator[Selection]:
    for name in (*page.own_filters, *SHARED_TRIED):
        if name not in page.filters or name == "runs":
            continue
        for option in first.options.get(name, ())[:MOST_VALUES]:
            given = (option.value,) if name == "dimensions" else option.value
            yield select(page, Filters(**{**value, name: given}), user)


def _written(page: AnalysisPage, selection: Selection) -> tuple[Report, Report | None]:
    """Return a page's report and the part that takes longer, which comes first: answers wait."""
    wanted = deferred_request(page, selection)
    deferred = write_deferred(page, selection, wanted) if wanted is not None else None
    return make_report(page, selection, report_key(page, selection)), deferred


def _other_lines(user: User) -> Iterator[str]:
    """Report what has pages of its own: answers' quality, replicates, tables, pairs of runs."""
    # Statistics are slow to import: only where reports are written.
    from analysis.pages.quality.page import quality_report
    from analysis.pages.replicates.page import replicates_report

    seen = Visibility.to(user)
    for study in Study.objects.order_by("pk"):
        yield f"## quality {study.pk}"
        yield from report_lines(quality_report(study))
    for experiment in Experiment.objects.order_by("pk"):
        runs = experiment_runs(experiment, seen)
        system = runs[0].dataset.system if runs else ""
        matrix = experiment_matrix(experiment, [r for r in runs if r.dataset.system == system])
        yield f"## replicates {experiment.pk}"
        yield from report_lines(replicates_report(matrix.groups, system, published=True))
    for table in RatingTable.objects.order_by("pk"):
        for part in (0, 1, 2):
            report = shown(table, part).deferred.report
            yield f"## table {table.pk}, part {part}"
            yield from report_lines(report or Report())
    client = Client(headers={"host": "localhost"})
    client.force_login(user)
    for a, b in _pairs():
        address = f"{reverse('analysis:compare_runs')}?a={a.pk}&b={b.pk}"
        context = client.get(address).context
        report, pair = context["report"], context["pair"]
        yield f"## {address}"
        notices = [notice.text for notice in report.notices]
        yield from _texts(report.sentence, *report.how, *notices, dict(pair.counts))


def _groups_lines(user: User) -> Iterator[str]:
    """Report groups of failures: of all trajectories and of a run, in each way of grouping."""
    from analysis.browser.groups.report import groups_report
    from analysis.trajectory_index.listing import listing

    seen, run = Visibility.to(user), Run.objects.filter(status=Run.Status.DONE).earliest("pk")
    for query in (
        "", f"run={run.pk}", f"run={run.pk}&among=all&texts=plan", "groups=3&texts=feedback&seed=2",
        f"run={run.pk}&accurate=yes",
    ):  # fmt: skip
        asked = read_group_options(QueryDict(query))
        yield f"## groups?{query}"
        chosen = choose(listing(QueryDict(asked.query), seen), asked)
        # The true key is another after every change of a source file.
        yield from report_lines(groups_report(asked, chosen, "key"))


def _branches_lines(user: User) -> Iterator[str]:
    """Report forks of a failed trajectory whose agent draws lots, and which turn decided it."""
    from analysis.pages.branches.views import read_report

    # Played now: branches are not continued by scripts of the version that was recorded.
    sample = save_sample_dataset(8)
    (played,) = start_sample_runs("coin-flipper", dataset=sample, level="high", seed=5)
    play(played)
    failed = played.trajectories.filter(metrics__accurate=0, turn_count__gte=2).earliest("pk")
    later = answers_in(failed, 2)[0].given.text
    other = {"trajectory": failed, "turn": 1, "text": later, "by": user, "seed": 5}
    for name, run in (
        ("another answer", branch_with_answer(**other, replays=3)),
        ("compared", branch_with_answer(**other, replays=5, compare=True)),
        ("every turn", replay_every_turn(trajectory=failed, by=user, replays=5, seed=5)),
    ):
        play(run)
        yield f"## branches, {name}"
        yield from report_lines(read_report(run))


def _pairs() -> Iterator[tuple[Run, Run]]:
    for dataset in Dataset.objects.order_by("pk"):
        runs = list(Run.objects.filter(dataset=dataset, status=Run.Status.DONE).order_by("pk")[:2])
        if len(runs) == 2:
            yield runs[0], runs[1]


def _texts(*values: object) -> Iterator[str]:
    for value in values:
        # Folders of a checkout differ from machine to machine.
        text = json.dumps(value, ensure_ascii=False, default=str)
        yield text.replace(f"{settings.BASE_DIR}/", "")


def _command_lines() -> Iterator[str]:
    """Yield what each command accepts, and the JSON of those that print any."""
    for name, app in sorted(get_commands().items()):
        if not isinstance(app, str) or app not in APPS:
            continue
        parser: ArgumentParser = load_command_class(app, name).create_parser("manage.py", name)
        yield f"## {name}"
        yield from _texts(parser.description)
        for action in parser._actions:
            if set(action.option_strings) & BASE:
                continue
            yield from _texts([
                *action.option_strings, action.dest, action.metavar, action.nargs, action.help,
                action.default, sorted(map(str, action.choices or ())), action.required,
            ])  # fmt: skip
    first = Run.objects.filter(status=Run.Status.DONE).earliest("pk")
    for words in (("metrics", first.pk), ("verify", first.pk)):
        out = io.StringIO()
        call_command(*words, "--json", stdout=out)
        yield f"## {words} as JSON"
        printed = json.loads(out.getvalue(), object_hook=_without_time)
        yield json.dumps(canonical(printed), sort_keys=True, indent=1)


def _without_time(value: dict[str, Any]) -> dict[str, Any]:
    return {name: one for name, one in value.items() if name != "seconds"}


# Options that every command of Django has.
BASE = {
    "-h", "--version", "-v", "--settings", "--pythonpath", "--traceback", "--no-color",
    "--force-color", "--skip-checks",
}  # fmt: skip
