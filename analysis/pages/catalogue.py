"""The analysis pages: what each asks, which filters it has, and what it is about.

What a page computes and shows stands in its own folder, `analysis/pages/<key>/page.py`, as
``content``, written with `analysis.kit`. It is imported when a page is first asked for: statistics
are slow to import. The page of a plug-in is a module with ``PAGE`` and ``content``.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User

from analysis.filters import FILTERS, SHARED, Filters
from analysis.filters.datasets import select_runs, with_published
from analysis.filters.forms import unknown_values
from analysis.filters.judgings import with_beside
from analysis.filters.page_filters import (
    with_group,
    with_label_set,
    with_measure,
    with_people,
    with_profile,
    with_scores,
)
from analysis.filters.runs import is_judged
from analysis.filters.selection import Selection
from analysis.filters.studies import Fits, select_study
from analysis.filters.study_kinds import (
    asks_about_turns,
    asks_candidates,
    asks_dimensions,
    asks_marks,
    asks_pairs,
    asks_scores,
)
from analysis.registrations.marks import shows_registrations
from analysis.registrations.selectors import with_registrations
from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from benchmarks.core import plugins
from benchmarks.core.plugins import PlugIn, PlugInFault
from benchmarks.core.registry import find_system
from benchmarks.models import Run
from benchmarks.visibility import Visibility

if TYPE_CHECKING:
    from analysis.kit.page import Content, Page, WrittenPage


# The shared filters that mean something for trajectories made elsewhere.
IMPORTED_FILTERS = ("dataset", "agents")
# Shared filters that choose runs.
RUN_FILTERS = tuple(name for name in SHARED[1:] if name != "tasks")
# What every page on people's answers has beside its own: whose answers count.
PEOPLE_FILTERS = ("simulated", "unblinded")


# What frames, lists and tables load when they are first used.
HEAVY = (
    "numpy",
    "pandas",
    "scipy.stats",
    "analysis.trajectory_index.listing",
    "analysis.agreement.report",
)


@dataclass(frozen=True)
class AnalysisPage:
    """One page of analysis.

    ``own_filters`` come after those that all pages share, of which those in ``without`` mean
    nothing here. ``asks`` makes it a page about people's answers, for studies with such questions;
    it opens on one in which so many ``raters`` judged the same items, if there is any.
    ``fits`` says of which systems it is, where not of all; ``about`` which runs it takes, if there
    are any such. ``imported``: it is about trajectories made elsewhere, which have no levels,
    conditions, experiments or judgings. ``every_condition``: it compares conditions.
    ``by_user``: it compares who speaks for the user, over all runs that differ in nothing else.
    ``beside_people``: it shows what people said of the same trajectories, in studies with questions
    such as ``people_asked``, where not in all. ``beside_published``:
    published figures are further rows or lines of those of runs. ``cites``: its sentences and
    figures say what a paper reports, whichever of its tables are shown. ``deferred``: a part of it
    takes too long for a request; a job computes it. ``waits``: its answer waits for that job, so
    that it may not be kept. ``part_of``: the page that asks the wider question. ``plug_in``: what
    brings the page, if it does not ship with the product.
    """

    key: str
    title: str
    question: str
    own_filters: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    asks: Fits | None = None
    raters: int = 1
    fits: Callable[[str], bool] | None = None
    about: Callable[[Run], bool] | None = None
    imported: bool = False
    every_condition: bool = False
    by_user: bool = False
    beside_people: bool = False
    people_asked: Fits | None = None
    beside_published: bool = False
    cites: bool = False
    deferred: bool = False
    waits: bool = False
    part_of: str = ""
    plug_in: PlugIn | None = None

    @property
    def address(self) -> str:
        """The address of the page below `/analysis/`: a part lies below its page."""
        return f"{self.part_of}/{self.key}" if self.part_of else self.key

    @property
    def of_study(self) -> bool:
        """Return whether the page is about what people answered in a study."""
        return self.asks is not None

    @property
    def filters(self) -> tuple[str, ...]:
        """The names of all filters of the page, in the order of its form."""
        shared: tuple[str, ...] = ("study", *RUN_FILTERS) if self.of_study else SHARED
        if self.imported:
            shared = IMPORTED_FILTERS
        without = {*self.without, *(("condition",) if self.every_condition else ())}
        kept = (name for name in shared if name not in without)
        people = PEOPLE_FILTERS if self.of_study else ()
        deleted = ("deleted",) if shows_registrations(self.key) else ()
        return (*kept, *self.own_filters, *people, *deleted)

    @property
    def module(self) -> str:
        """The module that writes the page."""
        if self.plug_in is not None:
            return self.plug_in.module
        return f"analysis.pages.{self.key.replace('-', '_')}.page"

    @property
    def content(self) -> "WrittenPage":
        """The content of the page: what it computes and shows."""
        module = import_module(self.module)
        written: type[WrittenPage] = import_module("analysis.kit.page").WrittenPage
        content = (
            module.content if self.plug_in is None else _survived(module.content, self.plug_in)
        )
        return written(content, getattr(module, "deferred", None))


def _refined(run: Run) -> bool:
    return bool(run.settings.get(find_system(run.dataset.system).comparisons.refinement))


PAGES: dict[str, AnalysisPage] = {
    page.key: page
    for page in (
        AnalysisPage(
            "leaderboard", "Leaderboard", "Which agent is better?",
            ("scores", "published", "runs"), beside_published=True, beside_people=True,
        ),
        AnalysisPage(
            "compare-models", "Compare models",
            "Which of these agents is better, and is that real?",
            ("measure", "scores", "against", "published", "runs"), beside_published=True,
            beside_people=True,
            part_of="leaderboard",
        ),
        AnalysisPage(
            "failures", "Failures", "Why does this agent fail?",
            ("profile", "runs"), without=("agents",),
            fits=lambda system: bool(find_system(system).labels.headlines),
        ),
        AnalysisPage(
            "labels", "Labels", "Which failures do people see, and do they agree?",
            ("label_set", "runs"), fits=bool, part_of="failures",
        ),
        AnalysisPage(
            "rubric", "Rubric", "On which dimensions are agents good or bad?",
            ("scores", "turns", "published", "runs"), fits=is_judged, beside_published=True,
            beside_people=True, part_of="decline",
        ),
        AnalysisPage(
            "decline", "Decline", "Do plans get worse from turn to turn?",
            ("scores", "align", "dimensions", "runs"), fits=is_judged, deferred=True, waits=True,
            beside_people=True, people_asked=asks_about_turns,
        ),
        AnalysisPage(
            "agreement", "Agreement", "How far are the judges from people?",
            asks=asks_dimensions, deferred=True, cites=True,
        ),
        AnalysisPage(
            "judges", "Judges", "Which judge is off, and may one stand in for a person?",
            ("epsilon",), asks=asks_dimensions, raters=3,
            part_of="agreement",
        ),
        AnalysisPage(
            "dispersion", "Dispersion", "How far do judges differ from each other?",
            ("turns",), fits=is_judged, deferred=True, beside_people=True, cites=True,
        ),
        AnalysisPage(
            "judgings", "Judgings", "Do judges say the same when they look again?",
            ("beside", "turns", "mapped"), fits=is_judged, deferred=True, beside_people=True,
            part_of="dispersion",
        ),
        AnalysisPage(
            "conditions", "Conditions", "What do conditions do to accuracy?",
            ("published",), every_condition=True, beside_published=True,
        ),
        AnalysisPage(
            "breakdown", "Breakdown", "On which kinds of task do agents do well?",
            ("by",), every_condition=True,
            fits=lambda system: bool(find_system(system).comparisons.groups),
            part_of="conditions",
        ),
        AnalysisPage(
            "effects", "Effects", "What do levels, ablations and other variations change?",
            ("factor", "measure", "published"),
            fits=lambda system: bool(find_system(system).comparisons.factors), beside_people=True,
            part_of="conditions",
        ),
        AnalysisPage(
            "efficiency", "Efficiency", "What does a better result cost?",
            every_condition=True,
            fits=lambda system: bool(find_system(system).labels.costs),
            part_of="leaderboard",
        ),
        AnalysisPage(
            "uncertainty", "Uncertainty",
            "What makes intervals wide, and what would narrow them?",
            ("beside", "narrower", "hour", "runs"), fits=bool, deferred=True, beside_people=True,
            part_of="leaderboard",
        ),
        AnalysisPage(
            "asking", "Asking", "Which way of asking meets more of what people want?",
            ("published",), every_condition=True, beside_published=True,
            fits=lambda system: find_system(system).comparisons.asking is not None,
            part_of="leaderboard",
        ),
        AnalysisPage(
            "refinement", "Refinement", "What do extra turns with feedback on the rubric bring?",
            ("among", "published"),
            fits=lambda system: bool(find_system(system).comparisons.refinement), about=_refined,
            part_of="conditions",
        ),
        AnalysisPage(
            "sweeps", "Thresholds", "Does the order of the agents depend on the threshold τ?",
            ("counted", "published"), fits=is_judged, deferred=True,
            part_of="leaderboard",
        ),
        AnalysisPage(
            "tools", "Tools", "How do agents search, call tools, and fail?",
            fits=lambda system: find_system(system).comparisons.tool_use is not None,
            part_of="failures",
        ),
        AnalysisPage(
            "forgetting", "Forgetting", "Do agents keep what they were told?",
            fits=lambda system: find_system(system).disclosures is not None,
            part_of="failures",
        ),
        AnalysisPage(
            "verdicts", "Verdicts", "Do judges see what people saw in recorded answers?",
            fits=is_judged,
            part_of="agreement",
        ),
        AnalysisPage(
            "simulated-users", "Simulated users", "How real is your simulated user?",
            ("runs",), fits=lambda system: find_system(system).comparisons.user is not None,
            by_user=True, beside_people=True,
            part_of="agreement",
        ),
        AnalysisPage(
            "outcomes", "Outcomes", "What rewards did agents get elsewhere, and how reliably?",
            imported=True,
            part_of="leaderboard",
        ),
        AnalysisPage(
            "ratings", "Ratings", "What do people say, and do they agree with each other?",
            asks=asks_scores, raters=2,
        ),
        AnalysisPage(
            "turn-scores", "Turn scores", "Do people see plans get worse where judges do?",
            ("align",), asks=asks_about_turns, deferred=True, waits=True,
            part_of="decline",
        ),
        AnalysisPage(
            "violation-check", "Violation check", "Do judges find the violations that people find?",
            asks=asks_marks, without=("judging",),
            part_of="ratings",
        ),
        AnalysisPage(
            "filter-check", "Filter check", "Does the checker remove what people would remove?",
            asks=asks_candidates, without=RUN_FILTERS,
            part_of="ratings",
        ),
        AnalysisPage(
            "preferences", "Preferences", "Which agent do people prefer, two side by side?",
            asks=asks_pairs, raters=2, without=("judging",), part_of="ratings",
        ),
    )
}  # fmt: skip


def pages_of(study: Study) -> list[AnalysisPage]:
    """Return the pages that are about what a study asks."""
    questionnaire = load_questionnaire(study.questionnaire)
    return [page for page in PAGES.values() if page.asks is not None and page.asks(questionnaire)]


def select(
    page: AnalysisPage, filters: Filters, user: User, seen: Visibility | None = None
) -> Selection:
    """Return what the page is about; filters that it does not have count for nothing.

    ``seen``: what this person may see now, where that is known already.
    """
    if "profile" in page.filters and not filters.profile and len(filters.agents) == 1:
        filters = replace(filters, profile=filters.agents[0])  # from a page on that agent alone
    known, seen = filters.only(page.filters), seen or Visibility.to(user)
    selection = (
        select_study(known, user, seen, page.asks, page.raters)
        if page.of_study
        else select_runs(
            known,
            imported=page.imported,
            every_condition=page.every_condition,
            fits=page.fits,
            about=page.about,
            varied="factor" in page.filters,
            by_user=page.by_user,
            seen=seen,
        )
    )
    if "measure" in page.filters:
        selection = with_measure(selection)
    if "by" in page.filters:
        selection = with_group(selection)
    if "profile" in page.filters:
        selection = with_profile(selection)
    if "label_set" in page.filters:
        selection = with_label_set(selection)
    if "beside" in page.filters:
        selection = with_beside(selection)
    if "published" in page.filters:
        selection = with_published(selection, beside=page.beside_published)
    if page.beside_people:
        selection = with_people(selection, user, page.people_asked)
    if "scores" in page.filters:
        selection = with_scores(selection)
    if shows_registrations(page.key):
        selection = with_registrations(selection)
    notes = unknown_values(known, selection, page.filters) if selection.options else []
    return replace(
        selection,
        filters=selection.filters.only(page.filters),
        notes=(*notes, *selection.notes),
    )


def load_reports() -> None:
    """Import the modules of all reports, which takes seconds of CPU once per process.

    A server does so in a thread after its start, so that neither its first page nor its first
    report waits for it.
    """
    for name in (*HEAVY, *(page.module for page in PAGES.values())):
        import_module(name)


# Names of other addresses of analysis, which no page may take.
RESERVED = frozenset(
    (
        "branches",
        "clusters",
        "compare",
        "experiments",
        "index",
        "later",
        "moved",
        "of-study",
        "paper",
        "question",
        "registration",
        "registrations",
        "replicates",
        "tables",
        "trajectory",
    )
)


def _add(plug_in: PlugIn, page: object) -> None:
    """Register the page of a plug-in."""
    if not isinstance(page, AnalysisPage):
        raise PlugInFault(
            f"{plug_in.target} is of type {type(page).__name__}, not an AnalysisPage.",
            "Let it name an instance of analysis.pages.catalogue.AnalysisPage.",
        )
    taken = plug_in.name in (*PAGES, *RESERVED)
    plugins.check_name(plug_in, "[a-z][a-z0-9]*(-[a-z0-9]+)*", taken)
    if page.key != plug_in.name:
        raise PlugInFault(
            f"Its key is {page.key!r}.", f"Give it the key {plug_in.name!r}, as it is registered."
        )
    unknown = [name for name in page.filters if name not in FILTERS]
    if unknown:
        raise PlugInFault(
            f"It has unknown filters: {', '.join(unknown)}.", f"Choose from {', '.join(FILTERS)}."
        )
    wider = PAGES.get(page.part_of)
    if page.part_of and (wider is None or wider.part_of):
        whole = ", ".join(key for key, other in PAGES.items() if not other.part_of)
        raise PlugInFault(
            f"It is part of {page.part_of!r}, which is no page of its own.",
            f"Make it part of one of {whole}, or leave part_of empty.",
        )
    module = import_module(plug_in.module)
    needed = ("content", "deferred") if page.deferred else ("content",)
    lacking = [name for name in needed if not callable(getattr(module, name, None))]
    if lacking:
        raise PlugInFault(
            f"{plug_in.module} has no function {' and no function '.join(lacking)}.",
            "Write the page there with the kit.",
        )
    PAGES[page.key] = replace(
        page,
        plug_in=plug_in,
        asks=_asked(page.asks, plug_in),
        fits=_asked(page.fits, plug_in),
        about=_asked(page.about, plug_in),
    )


def _asked(question: Callable[[Any], bool] | None, plug_in: PlugIn) -> Callable[[Any], bool] | None:
    """Return a question of a plug-in that is answered no where it raises: all pages ask it."""

    def ask(subject: Any) -> bool:
        try:
            return bool(question(subject)) if question is not None else True
        except Exception as error:
            plugins.note_failure(plug_in, error)
            return False

    return ask if question is not None else None


def _survived(content: "Callable[[Page], Content]", plug_in: PlugIn) -> "Callable[[Page], Content]":
    """Return the content of a plug-in's page, which says where it fails instead of raising.

    Such a page waits for its author: it is not stored.
    """
    told = f"The plug-in “{plug_in.name}” failed. Administrators see why on the page Server."

    def written(page: "Page") -> "Content":
        try:
            parts = content(page)
            next(parts, None)
        except Exception as error:
            plugins.note_failure(plug_in, error)
            page.waits = True
            page.nothing("This page could not be written", told)
            return
        yield
        try:
            next(parts, None)
        except Exception as error:
            plugins.note_failure(plug_in, error)
            page.waits = True
            page.warning(told)

    return written


# The last line: a plug-in may import what stands above.
plugins.load("pages", _add)
