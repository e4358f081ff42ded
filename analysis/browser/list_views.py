"""The list of trajectories: facets in the address, one page of rows at a time."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import TYPE_CHECKING, Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe

from analysis.browser.groups.failure_groups import failed_count
from analysis.pages.saved_views.selectors import TRAJECTORIES, saved_views
from analysis.reports import addresses
from analysis.search.services import unsearched
from analysis.search.snippets import Snippet, snippets
from analysis.trajectory_index.services import index_job, request_index
from annotation.access import person
from benchmarks.access import START, VIEW, allow, signed_in, visibility
from benchmarks.exports.downloads import (
    MOST,
    ONE_PER_RUN,
    ExportMenu,
    page_download,
    selected_parts,
)
from benchmarks.exports.selectors import in_portions
from benchmarks.lists.columns import ListColumn, column_choice, list_csv, wants_csv
from benchmarks.models import Trajectory
from benchmarks.paging import RowPage
from benchmarks.responses import clean_query, shown_url, wants_fragment
from benchmarks.trajectories import selectors as trajectories
from benchmarks.trajectories.selectors import TrajectoryColumns, TrajectoryLine
from benchmarks.visibility import Visibility

if TYPE_CHECKING:
    from analysis.trajectory_index.listing import Listing, ListPage

ROWS = 50
# Columns that the system of the rows brings, before their names; and those on judges and people.
VERDICT, MEASURE = "verdict:", "measure:"
JUDGED = {
    "violations": "Violations", "mean": "Mean score", "spread": "Spread", "gap": "Gap",
    "tokens": "Tokens",
}  # fmt: skip
# The list as a file: what every system has; the rest is in the formats of *Export trajectories*.
CSV_COLUMNS = [
    ListColumn(name, name, {name: path})
    for name, path in {
        "trajectory": "trajectory.pk", "task": "trajectory.task.external_id",
        "agent": "trajectory.run.agent.name", "dataset": "trajectory.run.dataset.name",
        "run": "trajectory.run_id", "level": "trajectory.run.level",
        "condition": "trajectory.run.condition", "attempt": "trajectory.attempt",
        "status": "trajectory.status", "ended": "trajectory.termination",
        "result": "result.title", "turns": "trajectory.turn_count", "violations": "violations",
        "mean_score": "scores.mean", "spread": "spread", "gap": "gap", "tokens": "tokens",
    }.items()
]  # fmt: skip
# What belongs to a page of the list or of a trajectory, not to the choice that the list shows.
PLACE = ("after", "before", "step", "turn", "from", "find", "stretch", "line", "message", "place")
# Chosen by links, and carried along by the form unseen.
CARRIED = (
    "task", "group", "ids", "similar", "dimension", "score_at_least", "score_at_most",
    "reached_turn",
)  # fmt: skip


@dataclass(frozen=True)
class ListedRow(TrajectoryLine):
    """A line of this list: beside what every list shows, how judges and people differ."""

    spread: float | None = None
    gap: float | None = None
    tokens: int | None = None
    violations: int | None = None
    snippet: Snippet | None = None


@signed_in
@require_safe
def trajectory_list(request: HttpRequest) -> HttpResponseBase:
    # Arrays are slow to import: not when the server starts.
    from analysis.trajectory_index.completions import completions
    from analysis.trajectory_index.listing import listing
    from analysis.trajectory_index.operators import OPERATORS
    from analysis.trajectory_index.query import MOST_WORDS, ORDERS

    allow(request, VIEW)
    seen = visibility(request)
    listed = listing(request.GET, seen)
    if wants_csv(request) and listed.count <= MOST:
        every = (row for ids in in_portions(listed.ids) for row in _rows(listed, ids, seen))
        return list_csv(TRAJECTORIES, CSV_COLUMNS, every)
    part = listed.page(request.GET, ROWS)
    rows = _rows(listed, part.ids, seen)
    table = trajectories.list_columns(row.trajectory.run.dataset.system for row in rows)
    judged = _judged_columns(rows, listed.knows_tokens)
    columns = column_choice(request, TRAJECTORIES, _columns(table, judged))
    rows, table = _without(rows, table, columns.hidden)
    shown = {order: value.title for order, value in ORDERS.items()}
    context = {
        "list": listed,
        "completions": completions(request.GET.get("q", "")[:MOST_WORDS], listed),
        "state": listed.state,
        "groups": _groups(listed),
        "active": listed.query.chips,
        "rows": rows,
        "grouping": addresses.failure_groups(failed_count(listed), list_query(request.GET)),
        "table": table,
        "judged": [name for name in judged if name not in columns.hidden],
        "columns": columns,
        "hidden": columns.hidden,
        "page": _page(request.GET, part, rows),
        "summary": f"{part.start + 1:,}–{part.start + len(rows):,} of {listed.count:,}, "
        + shown[listed.order].lower(),
        "orders": shown,
        "operators": OPERATORS,
        "order": listed.order,
        "carried": [
            (name, value)
            for name in CARRIED
            for value in request.GET.getlist(name)
            if value and name in listed.query.chosen
        ],
        "query": list_query(request.GET),
        "unsearched": unsearched(seen) if "q" in listed.query.chosen else 0,
        "saved": saved_views(
            page=TRAJECTORIES, query=list_query(request.GET), user=person(request), seen=seen
        ),
        "may_start": request.user.has_perm(START),
        "export": _export_menu(listed, list_query(request.GET)),
        "job": index_job() if listed.state.unread else None,
    }
    alone = wants_fragment(request)
    name = "analysis/_trajectory_answer.html" if alone else "analysis/trajectory_list.html"
    response = render(request, name, {**context, "alone": alone})
    patch_vary_headers(response, ["HX-Request"])
    response["HX-Push-Url"] = shown_url(request)
    return response


def _export_menu(listed: "Listing", query: str) -> ExportMenu | None:
    """Return the files of the listed trajectories; None if none of them has ended."""
    finished = int(listed.finished.sum())
    if finished > MOST:
        words = f"A download holds at most {MOST:,} trajectories, and these are {finished:,}."
        return ExportMenu(note=f"{words} Narrow the filters, or export whole runs.")
    url = reverse("analysis:trajectory_list_export")
    note = ONE_PER_RUN if listed.finished_runs > 1 else ""
    return ExportMenu(url, query, note) if finished else None


@signed_in
@require_safe
def search_completions(request: HttpRequest) -> HttpResponse:
    """Return how the search that is being typed may go on, as options of the search box."""
    from analysis.trajectory_index.completions import completions
    from analysis.trajectory_index.listing import listing
    from analysis.trajectory_index.query import MOST_WORDS

    allow(request, VIEW)
    typed = request.GET.get("q", "").replace("\x00", "")[:MOST_WORDS]
    offered = completions(typed, listing(QueryDict(), visibility(request)))
    return render(request, "analysis/_search_completions.html", {"completions": offered})


@signed_in
@require_safe
def trajectory_list_export(request: HttpRequest) -> HttpResponseBase:
    """Send the finished trajectories of the list as a file."""
    from analysis.trajectory_index.listing import listing

    allow(request, VIEW)
    seen, params = visibility(request), request.GET.copy()
    params.pop("format", None)
    query = list_query(params)
    return page_download(
        request,
        lambda: selected_parts(listing(params, seen).finished_ids, seen),
        "trajectories",
        f"{reverse('analysis:trajectory_list')}{'?' if query else ''}{query}",
    )


def _groups(listed: "Listing") -> list[dict[str, object]]:
    """Return the facets under their headings; rubric dimensions apart, as they make one table."""
    from analysis.trajectory_index.facets import RUBRIC

    groups: dict[str, dict[str, object]] = {}
    for facet in listed.facets:
        group = groups.setdefault(facet.group, {"title": facet.group, "facets": [], "rubric": []})
        kind = group["rubric" if facet.name.startswith(RUBRIC) else "facets"]
        assert isinstance(kind, list)
        kind.append(facet)
    return list(groups.values())


def _rows(listed: "Listing", ids: Sequence[int], seen: Visibility) -> list[ListedRow]:
    """Return the lines of a page in its order; what was deleted meanwhile is not among them."""
    columns, gaps = listed.index.columns, listed.annotations.gap
    rows = seen.of(Trajectory.objects.filter(pk__in=ids))
    by_id = {row.pk: row for row in trajectories.with_row_relations(rows)}
    there = [by_id[pk] for pk in ids if pk in by_id]
    (words,) = listed.query.chosen.get("q", ("",))
    marked = snippets(words=words, trajectory_ids=[row.pk for row in there])
    lines = []
    for row in trajectories.trajectory_rows(there):
        place = listed.place_of(row.trajectory.pk)
        tokens = int(columns.tokens[place])
        lines.append(
            ListedRow(
                row.trajectory, row.end, row.result, row.verdicts, row.metrics, row.scores,
                _defined(columns.spread[place]),
                # Two decimals are shown, and none of them as minus zero.
                None if (gap := _defined(gaps[place])) is None else round(gap, 2) + 0.0,
                tokens if tokens >= 0 else None,
                _violations(row.trajectory, int(columns.violations[place])),
                marked.get(row.trajectory.pk),
            )
        )  # fmt: skip
    return lines


def _violations(row: Trajectory, count: int) -> int | None:
    """Return how many violations a trajectory has; None where nobody looked for any."""
    looked = trajectories.is_scored(row.run.dataset.system) and row.turn_count > 0
    return count if count or looked else None


def _columns(table: TrajectoryColumns, judged: Sequence[str]) -> list[ListColumn]:
    """Return the columns that this page of the list can show."""
    names = [
        ("agent", "Agent", True), ("dataset", "Dataset", False), ("run", "Run", False),
        ("result", "Result", True), ("turns", "Turns", True),
        *((VERDICT + name, title, True) for name, title in table.verdicts.items()),
        *((MEASURE + name, measure.title, True) for name, measure in table.metrics.items()),
        *((name, JUDGED[name], True) for name in judged),
    ]  # fmt: skip
    return [ListColumn(key, title, {}, usual) for key, title, usual in names]


def _without(
    rows: list[ListedRow], table: TrajectoryColumns, hidden: Collection[str]
) -> tuple[list[ListedRow], TrajectoryColumns]:
    """Return the rows and columns without the hidden verdicts and measures."""
    verdicts = [VERDICT + name not in hidden for name in table.verdicts]
    measures = [MEASURE + name not in hidden for name in table.metrics]
    if all(verdicts) and all(measures):
        return rows, table
    kept = [
        replace(
            row,
            verdicts=tuple(compress(row.verdicts, verdicts)),
            metrics=tuple(compress(row.metrics, measures)),
        )
        for row in rows
    ]
    return kept, replace(
        table,
        verdicts=dict(compress(table.verdicts.items(), verdicts)),
        metrics=dict(compress(table.metrics.items(), measures)),
    )


def _judged_columns(rows: list[ListedRow], knows_tokens: bool) -> list[str]:
    """Return the columns on judges, people and tokens in which a row of this page has a value."""
    given = {
        "violations": any(row.violations is not None for row in rows),
        "mean": any(row.scores.mean is not None for row in rows),
        "spread": any(row.spread is not None for row in rows),
        "gap": any(row.gap is not None for row in rows),
        "tokens": knows_tokens,
    }
    return [name for name, shown in given.items() if shown]


def _defined(value: float) -> float | None:
    return float(value) if value == value else None


def _page(params: QueryDict, part: "ListPage", rows: list[ListedRow]) -> RowPage[Trajectory]:
    def beside(name: str, row: Trajectory) -> str:
        changed = params.copy()
        for old in PLACE:
            changed.pop(old, None)
        changed[name] = str(row.pk)
        return "?" + clean_query(changed)

    trajectories = [row.trajectory for row in rows]
    return RowPage(
        trajectories,
        beside("before", trajectories[0]) if trajectories and part.before else "",
        beside("after", trajectories[-1]) if trajectories and part.after else "",
    )


@signed_in
@require_POST
def read_facts(request: HttpRequest) -> HttpResponse:
    """Have trajectories read that the list does not know yet."""
    allow(request, VIEW)
    from analysis.trajectory_index.table import current_index

    if unread := current_index().unread:
        request_index(trajectories=sum(run.trajectories for run in unread))
    if wants_fragment(request):
        return _progress(request)
    return redirect("analysis:trajectory_list")


@signed_in
@require_safe
def facts_progress(request: HttpRequest) -> HttpResponse:
    """Show how far the reading is; when it is over, the page comes anew."""
    allow(request, VIEW)
    return _progress(request)


def _progress(request: HttpRequest) -> HttpResponse:
    job = index_job()
    if job is None:
        response = HttpResponse(status=204)
        response["HX-Refresh"] = "true"
        return response
    return render(request, "analysis/_facts_progress.html", {"job": job})


def in_list(request: HttpRequest, trajectory: Trajectory) -> dict[str, Any]:
    """Return the neighbours in the list that the reader comes from; its choice is in the
    address.
    """
    query, seen = list_query(request.GET), visibility(request)
    if not query:
        rows = seen.of(trajectories.trajectory_list({}))
        beside = trajectories.neighbours(rows, trajectory.pk)
        return {"query": query, "previous": beside.newer, "next": beside.older}
    from analysis.trajectory_index.listing import listing

    near = listing(request.GET, seen).neighbours(trajectory.pk)
    return {
        "query": query,
        "previous": near.previous,
        "next": near.next,
        "place": near.place,
        "of": near.count,
    }


def list_query(params: QueryDict) -> str:
    """Return the choice of a list as a query string, for the links that lead out of it."""
    kept = params.copy()
    for name in PLACE:
        kept.pop(name, None)
    return clean_query(kept)
