"""One run as what a page is about: for the report of that run."""

from dataclasses import replace

from analysis.filters import Filters
from analysis.filters.datasets import in_words_of, with_dimensions
from analysis.filters.selection import Selection, narrow
from analysis.pages.catalogue import PAGES, Page
from benchmarks.models import Run
from benchmarks.visibility import Visibility

# The pages that say something about a run by itself; others compare runs, or ask people.
ABOUT_A_RUN = ("leaderboard", "rubric", "decline", "dispersion", "tools", "verdicts", "outcomes")


def pages_of_run(run: Run) -> list[Page]:
    """The pages that are about what a run's system records."""
    system = run.dataset.system
    return [
        page
        for name in ABOUT_A_RUN
        if (page := PAGES[name]).imported == (run.kind == Run.Kind.IMPORTED)
        and (page.fits is None or page.fits(system))
    ]


def select_run(run: Run, page: Page, seen: Visibility) -> Selection:
    """The run alone; published rows are left out, because nothing here is compared with them."""
    filters = Filters(
        dataset=str(run.dataset_id),
        level=run.level,
        condition=run.condition,
        agents=(run.agent.name,),
        published="hide",
    )
    narrowed = narrow(filters, [run], [], one_each=True)
    system = run.dataset.system
    selection = in_words_of(with_dimensions(narrowed, system), system)
    return replace(
        selection,
        dataset=run.dataset,
        filters=selection.filters.only(page.filters),
        closed=seen.closed,
        closed_tasks=seen.tasks,
    )
