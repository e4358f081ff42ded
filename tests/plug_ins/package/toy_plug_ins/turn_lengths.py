"""How long are the turns of each agent? A page of analysis outside PlanJury."""

from collections import defaultdict
from typing import NamedTuple

from django.db.models import Avg
from django.db.models.functions import Length

from analysis.figures.forest import ForestRows, forest
from analysis.filters.selection import ChosenRun
from analysis.kit import columns
from analysis.kit.empty import no_runs, nothing_finished
from analysis.kit.links import Link
from analysis.kit.page import Content, Page
from analysis.pages.catalogue import AnalysisPage
from analysis.reports.formatting import stated
from analysis.stats.results import Estimate
from benchmarks.models import Trajectory

INTERFACE = 1
PAGE = AnalysisPage("turn-lengths", "Turn lengths", "How much do agents write per turn?", ("runs",))


class Row(NamedTuple):
    run: ChosenRun
    length: Estimate


def content(page: Page) -> Content:
    if not page.runs:
        no_runs(page, "This page compares how much agents write.")
        return
    from analysis.stats.descriptive.trials import measure_mean  # loads pandas, only when asked for

    done = Trajectory.objects.filter(run__in=[run.pk for run in page.runs], status="done")
    means: dict[int, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    lengths = done.annotate(length=Avg(Length("turns__text"))).order_by("pk")
    for run, task, length in lengths.values_list("run", "task", "length"):
        if length is not None:  # a trajectory without turns
            means[run][task].append(length)
    rows = []
    for run in page.runs:
        tasks = [task for task, values in means[run.pk].items() for _ in values]
        values = [value for values in means[run.pk].values() for value in values]
        if values:
            rows.append(Row(run, measure_mean(values, tasks, rate=False)))
    if not rows:
        nothing_finished(page, "This page compares how much agents write.")
        return
    rows.sort(key=lambda row: (-(row.length.value or 0), row.run.label))
    words = [f"{row.run.label} {stated(row.length, 'number')}" for row in (rows[0], rows[-1])]
    page.answer(f"Characters per turn: {' to '.join(words[: len(rows)])}.")
    marks = [(row.run.label, row.length) for row in rows]
    urls = [page.url(runs=(row.run.pk,)) for row in rows]
    page.figure(
        "lengths",
        "Characters per turn",
        lambda: forest([ForestRows("Agents", marks, urls)], title="Characters", unit="number"),
    )
    head = columns.estimate("Characters per turn", lambda row: row.length, "number", show_n=True)
    agent = columns.agent(lambda row: row.run)
    page.table("lengths", "Lengths", rows, [agent, head], link=lambda row: Link((row.run.pk,)))
    yield
    page.how("Of each trajectory the mean length of its turns counts, with t intervals.")
    page.methods("Length is the mean number of characters of a turn.")
