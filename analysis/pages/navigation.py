"""The menu of the analysis pages: each with its parts, under the question that they answer."""

from collections.abc import Callable
from typing import NamedTuple

from django.urls import reverse

from analysis.filters import KEPT, SHARED, Filters, with_query
from analysis.filters.selection import Selection
from analysis.pages.catalogue import PAGES, AnalysisPage, pages_of
from benchmarks.core.registry import EXTERNAL


class PageGroup(NamedTuple):
    """A page with its parts, under the question that all of them help to answer.

    ``key`` is that of the page, ``first`` the name of its own part. ``more`` are addresses of
    parts without a report, and ``beside`` those of other pages about the question: each by name,
    with title and words.
    """

    key: str
    title: str
    words: str
    first: str
    more: tuple[tuple[str, str, str], ...] = ()
    beside: tuple[tuple[str, str, str], ...] = ()

    @property
    def pages(self) -> list[str]:
        """The keys of the page and of its parts."""
        return [self.key, *(key for key, page in PAGES.items() if page.part_of == self.key)]


OWN_TABLE = "analysis:table_list"
GROUPS: tuple[PageGroup, ...] = (
    PageGroup(
        "leaderboard", "Which agent is better?",
        "Who is ahead, by how much, whether chance alone could explain it, and at which cost.",
        "Ranking",
        beside=(("analysis:compare_runs", "Two runs, task by task",
          "On which tasks does one run succeed and the other not?"),),
    ),
    PageGroup(
        "conditions", "What changes the result?",
        "What conditions, levels, ablations, refinement and kinds of task do to agents.",
        "By condition",
    ),
    PageGroup(
        "failures", "Why do agents fail?",
        "What goes wrong, how often, and what failures have in common.",
        "Profile",
        beside=(
            ("analysis:trajectory_list", "Trajectories",
             "Which trajectories have this outcome, violation or text?"),
            ("analysis:trajectory_groups", "Groups of failures",
             "What do failed trajectories have in common?"),
            ("analysis:failure_labels", "Failure labels",
             "How did people label the failures that they read?"),
        ),
    ),
    PageGroup(
        "decline", "Do plans get worse from turn to turn?",
        "On which dimensions plans are good or bad, and how that changes with the turns.",
        "Turn by turn",
    ),
    PageGroup(
        "agreement", "Can judges stand in for people?",
        "How far judges and simulated users are from people, and which may take a person’s place.",
        "Judges and people",
        ((OWN_TABLE, "Your own table",
          "May judges stand in for people, in ratings that you upload?"),),
    ),
    PageGroup(
        "dispersion", "How far do judges differ?",
        "How far judges are from each other, and from themselves when they look again.",
        "Between judges",
    ),
    PageGroup(
        "ratings", "What did people say?",
        "What the participants of a study answered, and how far they agree.",
        "Ratings",
    ),
)  # fmt: skip


def page_groups() -> tuple[PageGroup, ...]:
    """Return all groups: a page of a plug-in that is no part of another has its own."""
    known = {group.key for group in GROUPS}
    others = [page for page in PAGES.values() if not page.part_of and page.key not in known]
    return (
        *GROUPS,
        *(PageGroup(page.key, page.question, "", page.title) for page in others if page.plug_in),
    )


class PageLink(NamedTuple):
    """A page with its address; ``current`` is the value of aria-current, or empty."""

    title: str
    words: str
    url: str
    current: str = ""


# So many questions of a group are shown on the first page; the others are folded.
SHOWN_FIRST = 3


class PageLinkGroup(NamedTuple):
    """A page with the addresses of its parts; ``url`` is that of the first that can answer."""

    title: str
    question: str
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
        """The other questions."""
        return (*self.pages, *self.beside)[SHOWN_FIRST:]


def own_tables() -> list[PageLinkGroup]:
    """Return all pages, seen from those of a researcher's own tables."""
    return _groups(lambda page: "", set(PAGES), OWN_TABLE)


def places_from(open_page: AnalysisPage, selection: Selection) -> list[PageLinkGroup]:
    """Return all pages, seen from one of them: with the filters that mean the same there."""
    kept, chosen = _kept(open_page, selection.filters), selection.filters
    same = pages_of(selection.study) if selection.study is not None else []

    def query(other: AnalysisPage) -> str:
        if other in same:
            return Filters(study=chosen.study, unblinded=chosen.unblinded).query()
        return kept.query() if not other.of_study and answers(other, selection.system) else ""

    here = {page.key for page in PAGES.values() if answers(page, selection.system)}
    return _groups(query, here, open_page.key)


def all_places(filters: Filters) -> list[PageLinkGroup]:
    """Return all pages, with those filters that all pages share."""
    shared = filters.only(SHARED).query()
    return _groups(lambda page: "" if page.of_study else shared, set(PAGES), "")


def answers(page: AnalysisPage, system: str) -> bool:
    """Return whether a page has anything to say of the runs of a system."""
    if page.of_study or not system:
        return True
    if page.imported or system == EXTERNAL:
        return page.imported == (system == EXTERNAL)
    return page.fits is None or page.fits(system)


def _kept(page: AnalysisPage, chosen: Filters) -> Filters:
    if page.of_study:
        return Filters(dataset=chosen.dataset, agents=chosen.agents)
    return chosen.only(KEPT)


def _groups(
    query: Callable[[AnalysisPage], str], here: set[str], current: str
) -> list[PageLinkGroup]:
    groups = []
    for group in page_groups():
        pages = {
            name: PageLink(
                group.first if name == group.key else PAGES[name].title,
                PAGES[name].question,
                with_query(reverse(f"analysis:{name}"), query(PAGES[name])),
                "page" if name == current else "",
            )
            for name in group.pages
        }
        more = (
            PageLink(title, words, reverse(name), "page" if name == current else "")
            for name, title, words in group.more
        )
        links = (*pages.values(), *more)
        groups.append(
            PageLinkGroup(
                PAGES[group.key].title,
                group.title,
                group.words,
                next((pages[name] for name in pages if name in here), links[0]).url,
                links,
                tuple(PageLink(title, words, reverse(name)) for name, title, words in group.beside),
                "true" if any(link.current for link in links) else "",
            )
        )
    return groups
