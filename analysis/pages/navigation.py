"""The menu of the analysis pages: each under the question that it helps to answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from django.urls import reverse

from analysis.filters import KEPT, SHARED, Filters, with_query
from analysis.filters.selection import Selection
from analysis.pages.catalogue import PAGES, AnalysisPage, pages_of
from benchmarks.core.registry import EXTERNAL

OWN = "own"


@dataclass(frozen=True)
class PageGroup:
    """Pages that answer one question; ``beside`` are addresses of other pages about it, by name,
    with title and words.
    """

    key: str
    title: str
    words: str
    pages: tuple[str, ...] = ()
    beside: tuple[tuple[str, str, str], ...] = ()


GROUPS: tuple[PageGroup, ...] = (
    PageGroup(
        "better",
        "Which agent is better?",
        "Who is ahead, by how much, whether chance alone could explain it, and under which "
        "conditions it holds.",
        ("leaderboard", "compare-models", "conditions", "effects", "efficiency", "asking",
         "refinement",
         "sweeps", "outcomes"),
        (("analysis:compare_runs", "Two runs, task by task",
          "On which tasks does one run succeed and the other not?"),),
    ),
    PageGroup(
        "fail",
        "Where do agents fail?",
        "On which dimensions and at which turn plans get worse, and what failures look like.",
        ("failures", "breakdown", "rubric", "decline", "tools"),
        (
            ("analysis:trajectory_list", "Trajectories",
             "Which trajectories have this outcome, violation or text?"),
            ("analysis:trajectory_groups", "Groups of failures",
             "What do failed trajectories have in common?"),
            ("analysis:failure_labels", "Failure labels",
             "How did people label the failures that they read?"),
        ),
    ),
    PageGroup(
        "judges",
        "Can judges stand in for people?",
        "How far judges are from people and from each other, and how far people agree.",
        ("agreement", "judges", "dispersion", "judgings", "verdicts", "ratings", "turn-scores",
         "violation-check", "filter-check"),
    ),
    PageGroup(
        OWN,
        "Your own table",
        "The same about people and judges, of ratings that were made elsewhere.",
        (),
        (("analysis:table_list", "Your own table",
          "May judges stand in for people, in ratings that you upload?"),),
    ),
)  # fmt: skip


@dataclass(frozen=True)
class PageLink:
    """A page with its address; ``current`` is the value of aria-current, or empty."""

    title: str
    words: str
    url: str
    current: str = ""


# So many questions of a group are shown on the first page; the others are folded.
SHOWN_FIRST = 3


@dataclass(frozen=True)
class PageLinkGroup:
    """A group with the addresses of its pages; ``url`` is that of the first that can answer."""

    title: str
    words: str
    url: str
    pages: tuple[PageLink, ...]
    beside: tuple[PageLink, ...]
    current: str = ""

    @property
    def first(self) -> tuple[PageLink, ...]:
        """The questions to begin with."""
        return (*self.pages, *self.beside)[:SHOWN_FIRST]

    @property
    def more(self) -> tuple[PageLink, ...]:
        return (*self.pages, *self.beside)[SHOWN_FIRST:]


def places_from(found: AnalysisPage, selection: Selection) -> list[PageLinkGroup]:
    """Return all pages, seen from one of them: with the filters that mean the same there."""
    kept, chosen = _kept(found, selection.filters), selection.filters
    same = pages_of(selection.study) if selection.study is not None else []

    def query(other: AnalysisPage) -> str:
        if other in same:
            return Filters(study=chosen.study, unblinded=chosen.unblinded).query()
        return kept.query() if not other.of_study and answers(other, selection.system) else ""

    here = {page.key for page in PAGES.values() if answers(page, selection.system)}
    return _groups(query, here, found.key)


def all_places(current: str = "", filters: Filters | None = None) -> list[PageLinkGroup]:
    """Return all pages, with shared filters or without any; ``current``: the key of a group."""
    shared = filters.only(SHARED).query() if filters is not None else ""
    return _groups(lambda page: "" if page.of_study else shared, set(PAGES), current)


def answers(page: AnalysisPage, system: str) -> bool:
    """Return whether a page has anything to say of the runs of a system."""
    if page.of_study or not system:
        return True
    if page.imported or system == EXTERNAL:
        return page.imported == (system == EXTERNAL)
    return page.fits is None or page.fits(system)


def _kept(found: AnalysisPage, chosen: Filters) -> Filters:
    if found.of_study:
        return Filters(dataset=chosen.dataset, agents=chosen.agents)
    return chosen.only(KEPT)


def _groups(
    query: Callable[[AnalysisPage], str], here: set[str], current: str
) -> list[PageLinkGroup]:
    groups = []
    for group in GROUPS:
        pages = {
            name: PageLink(
                PAGES[name].title,
                PAGES[name].question,
                with_query(reverse(f"analysis:{name}"), query(PAGES[name])),
                "page" if name == current else "",
            )
            for name in group.pages
        }
        beside = tuple(PageLink(title, words, reverse(name)) for name, title, words in group.beside)
        first = _first(pages, here) or beside[0]
        mine = group.key == current or any(page.current for page in pages.values())
        groups.append(
            PageLinkGroup(
                group.title,
                group.words,
                first.url,
                tuple(pages.values()),
                beside,
                ("true" if pages else "page") if mine else "",
            )
        )
    return groups


def _first(pages: Mapping[str, PageLink], here: set[str]) -> PageLink | None:
    """Return the first page that can answer, or the first."""
    known = [place for name, place in pages.items() if name in here]
    return next(iter([*known, *pages.values()]), None)
