"""The analysis pages: what each asks, which filters it has, and who writes its report.

A report is kept until something that it shows has changed: its key names the page, the filters as
they were resolved, and the version of every run and study behind it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from importlib import import_module

from django.contrib.auth.models import User
from django.core.cache import caches
from django.http import QueryDict

from analysis.filters import SHARED, Filters, read_filters
from analysis.filters.datasets import select_runs, with_published
from analysis.filters.judgings import with_beside
from analysis.filters.measures import with_measure
from analysis.filters.people import with_people
from analysis.filters.runs import is_judged
from analysis.filters.selection import Selection
from analysis.filters.studies import Fits, select_study
from analysis.filters.study_kinds import (
    asks_about_turns,
    asks_candidates,
    asks_dimensions,
    asks_marks,
    asks_scores,
)
from analysis.reports.content import Report
from analysis.reports.deferred import Params, Wanted, keep_later, report_maker
from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from benchmarks.core.registry import find_system
from benchmarks.models import Run
from benchmarks.source_digest import source_digest
from benchmarks.visibility import Visibility

# The shared filters that mean something for trajectories made elsewhere.
IMPORTED = ("dataset", "agents")
# Shared filters that are about runs.
RUN_FILTERS = SHARED[1:]
# Pages that show published figures as further rows, or lines, of those of runs.
BESIDE_PUBLISHED = ("leaderboard", "compare-models", "rubric", "conditions")
# What every page on people's answers has beside its own: whose answers count.
PEOPLE_FILTERS = ("simulated", "unblinded")
KEEP_SECONDS = 24 * 60 * 60


@dataclass(frozen=True)
class Page:
    """One page. ``report`` is the dotted path of the function that writes it, imported when asked:
    statistics are slow to import. ``later`` is the path of the one that writes what takes too long
    for a request, to be shown under the rest when it is ready; empty where there is none. It is
    folded under ``details``, where that names it.
    """

    name: str
    title: str
    question: str
    report: str
    filters: tuple[str, ...]
    later: str = ""
    details: str = ""
    of_study: bool = False
    imported: bool = False
    every_condition: bool = False
    beside_people: bool = False
    fits: Callable[[str], bool] | None = None
    asks: Fits | None = None
    about: Callable[[Run], bool] | None = None


def _page(
    name: str,
    title: str,
    question: str,
    *filters: str,
    imported: bool = False,
    every_condition: bool = False,
    beside_people: bool = False,
    fits: Callable[[str], bool] | None = None,
    asks: Fits | None = None,
    without: tuple[str, ...] = (),
    later: bool = False,
    details: str = "",
    about: Callable[[Run], bool] | None = None,
) -> Page:
    """``imported``: the page is about trajectories made elsewhere, which have no levels,
    conditions, experiments or judgings to choose from. ``every_condition``: it compares conditions.
    ``beside_people``: it shows what people said of the same trajectories.
    ``fits`` says of which systems it is, where not of all; ``asks`` of studies with which
    questions, ``about`` which runs it takes if there are any such. ``without``: shared filters that
    mean nothing there. ``later``: the report's module has a function ``NAME_later`` too.
    """
    of_study = asks is not None
    shared: tuple[str, ...] = ("study", *SHARED[1:]) if of_study else SHARED
    shared = tuple(word for word in shared if word not in without)
    if imported:
        shared = IMPORTED
    if every_condition:
        shared = tuple(word for word in shared if word != "condition")
    module = name.replace("-", "_")
    path = f"analysis.pages.{module}.page.{module}"
    return Page(
        name,
        title,
        question,
        f"{path}_report",
        (*shared, *filters, *(PEOPLE_FILTERS if of_study else ())),
        f"{path}_later" if later else "",
        details,
        of_study,
        imported,
        every_condition,
        beside_people,
        fits,
        asks,
        about,
    )


def _refined(run: Run) -> bool:
    return bool(run.settings.get(find_system(run.dataset.system).comparisons.refinement))


PAGES: Mapping[str, Page] = {
    page.name: page
    for page in (
        _page("leaderboard", "Leaderboard", "Which agent is better?", "published"),
        _page(
            "compare-models", "Compare models",
            "Which of these agents is better, and is that real?",
            "measure", "against", "published",
        ),
        _page(
            "rubric", "Rubric", "On which dimensions are agents good or bad?", "turns", "published",
            fits=is_judged,
        ),
        _page(
            "decline", "Decline", "Do plans get worse from turn to turn?", "align", "dimensions",
            fits=is_judged, later=True,
            details="Details: other estimates, and the same trajectories at every turn",
        ),
        _page(
            "agreement", "Agreement", "How far are the judges from people?", asks=asks_dimensions,
            later=True,
        ),
        _page(
            "judges", "Judges", "May the judges stand in for people?", "epsilon",
            asks=asks_dimensions,
        ),
        _page(
            "dispersion", "Dispersion", "How far do judges differ from each other?", "turns",
            fits=is_judged, later=True, beside_people=True,
        ),
        _page(
            "judgings", "Judgings", "Do judges say the same when they look again?",
            "beside", "turns", "mapped", fits=is_judged, later=True, beside_people=True,
        ),
        _page(
            "conditions", "Conditions", "What do conditions do to accuracy?", "published",
            every_condition=True,
        ),
        _page(
            "effects", "Effects", "What do levels, ablations and other variations change?",
            "factor", "measure", "published",
            fits=lambda system: bool(find_system(system).comparisons.factors), beside_people=True,
        ),
        _page(
            "refinement", "Refinement", "What do extra turns with feedback on the rubric bring?",
            "among", "published",
            fits=lambda system: bool(find_system(system).comparisons.refinement), about=_refined,
        ),
        _page(
            "sweeps", "Thresholds", "Does the order of the agents depend on the threshold τ?",
            "counted", "published", fits=is_judged, later=True,
        ),
        _page(
            "tools", "Tools", "How do agents search, call tools, and fail?",
            fits=lambda system: find_system(system).comparisons.tool_use is not None,
        ),
        _page(
            "verdicts", "Verdicts", "Do judges see what people saw in recorded answers?",
            fits=is_judged,
        ),
        _page(
            "outcomes", "Outcomes", "What rewards did agents get elsewhere, and how reliably?",
            imported=True,
        ),
        _page(
            "ratings", "Ratings", "What do people say, and do they agree with each other?",
            asks=asks_scores,
        ),
        _page(
            "turn-scores", "Turn scores", "Do people see plans get worse where judges do?",
            "align", asks=asks_about_turns, later=True,
        ),
        _page(
            "violation-check", "Violation check", "Do judges find the violations that people find?",
            asks=asks_marks, without=("judging",),
        ),
        _page(
            "filter-check", "Filter check", "Does the checker remove what people would remove?",
            asks=asks_candidates, without=RUN_FILTERS,
        ),
    )
}  # fmt: skip


def pages_of(study: Study) -> list[Page]:
    """The pages that are about what a study asks."""
    questionnaire = load_questionnaire(study.questionnaire)
    return [page for page in PAGES.values() if page.asks is not None and page.asks(questionnaire)]


def select(page: Page, filters: Filters, user: User, seen: Visibility | None = None) -> Selection:
    """What the page is about; filters that it does not have count for nothing.

    ``seen``: what this person may see now, where that is known already.
    """
    known, seen = filters.only(page.filters), seen or Visibility.to(user)
    selection = (
        select_study(known, user, seen, page.asks)
        if page.of_study
        else select_runs(
            known,
            imported=page.imported,
            every_condition=page.every_condition,
            fits=page.fits,
            about=page.about,
            varied="factor" in page.filters,
            seen=seen,
        )
    )
    if "measure" in page.filters:
        selection = with_measure(selection)
    if "beside" in page.filters:
        selection = with_beside(selection)
    if "published" in page.filters:
        selection = with_published(selection, beside=page.name in BESIDE_PUBLISHED)
    if page.beside_people:
        selection = with_people(selection, user)
    return replace(selection, filters=selection.filters.only(page.filters))


def report_key(page: Page, selection: Selection) -> str:
    """Changes exactly when the report may change.

    Whoever annotates blind shares reports with those alone to whom the same runs are closed.
    """
    shown = {run.pk for run in selection.runs}
    return key_of(
        page.name,
        selection.filters.query(),
        selection.study_version,
        *(run.version for run in selection.runs),
        *(f"family {run.version}" for run in selection.family if run.pk not in shown),
        *selection.left_out,
        *selection.notes,
        *(f"closed {pk}" for pk in sorted(selection.closed)),
        *(f"closed task {pk}" for pk in sorted(selection.closed_tasks)),
    )


def make_report(page: Page, selection: Selection, key: str) -> Report:
    """The page's report, kept where it was written before."""

    return keep_report(key, lambda: _write(page.report, selection))


def _write(path: str, selection: Selection) -> Report:
    module, _, name = path.rpartition(".")
    written: Callable[[Selection], Report] = getattr(import_module(module), name)
    lead: Callable[[Report, Selection], Report] = import_module("analysis.reports.leading").lead
    warn: Callable[[Report], Report] = import_module(
        "analysis.reports.few_clusters"
    ).with_few_clusters
    return warn(lead(written(selection), selection))


def later_of(page: Page, selection: Selection, key: str) -> Wanted | None:
    """What a page shows when it is ready, if it has such a thing and there is anything to show."""
    if not page.later or not selection.runs:
        return None
    params = {"page": page.name, "query": selection.filters.query()}
    return Wanted("page", params, key_of("later", key), f"{page.title}: what takes longer")


def write_later(page: Page, selection: Selection, wanted: Wanted) -> Report:
    """The long part of a page, kept where it was written before, else written now."""
    return keep_later(wanted.key, lambda: _write(page.later, selection))


@report_maker("page")
def make_page_later(params: Params, seen: Visibility) -> tuple[str, Callable[[], Report]]:
    """The long part of a page, as of now."""
    page, person = PAGES[params["page"]], seen.user
    assert person is not None
    selection = select(page, read_filters(QueryDict(params["query"])), person, seen)
    key = key_of("later", report_key(page, selection))
    return key, lambda: _write(page.later, selection)


def keep_report(key: str, write: Callable[[], Report]) -> Report:
    """The report of this key, kept where it was written before."""
    found = kept_report(key)
    if found is None:
        found = write()
        if found.waits:
            return found
        caches["reports"].set(f"analysis:{key}", found, KEEP_SECONDS)
    return found


def kept_report(key: str) -> Report | None:
    """The report of this key, if it was written before."""
    found: Report | None = caches["reports"].get(f"analysis:{key}")
    return found


def key_of(*parts: str) -> str:
    """Return the key of a report that today's source files make of these parts."""
    return sha256("\n".join([source_digest(), *parts]).encode()).hexdigest()[:32]
