"""The analysis app."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.apps import AppConfig
from django.db import connection
from django.http import QueryDict

if TYPE_CHECKING:
    from benchmarks.visibility import Visibility


class AnalysisConfig(AppConfig):
    """Statistics, figures and reports."""

    default_auto_field = "django.db.models.BigAutoField"
    name = "analysis"
    label = "analysis"
    verbose_name = "Analysis"

    def ready(self) -> None:
        """Register the trajectory list for re-judging and its search for the API, fit slopes when
        a run ends, keep the search and papers up to date, and name the words of papers, from
        which erased persons are taken out.
        """
        from analysis.browser.clusters import turn_uses  # noqa: F401
        from analysis.models import FailureClustering, Paper, PaperVersion, QuestionCheck
        from analysis.pages.decline.services import fit_after_run
        from analysis.papers.deletion import delete_excerpts
        from annotation.people.mentions import add_free_texts
        from benchmarks.deletion.plans import companion
        from benchmarks.deletion.services import trajectories_deleted
        from benchmarks.imports.turns import turns_changed
        from benchmarks.judging.selectors import lists_trajectories
        from benchmarks.runs.signals import run_ended
        from benchmarks.trajectories.word_search import searches_words

        companion("Answers of people to questions", QuestionCheck, "trajectory__run")
        add_free_texts(FailureClustering, "question")
        lists_trajectories(listed_trajectories)
        searches_words(searched_trajectories)
        run_ended.connect(fit_after_run, dispatch_uid="slopes-over-turns")
        trajectories_deleted.connect(forget_words, dispatch_uid="search-index")
        turns_changed.connect(forget_turns, dispatch_uid="search-index-turns")
        trajectories_deleted.connect(delete_excerpts, dispatch_uid="paper-excerpts")
        add_free_texts(Paper, "title")
        add_free_texts(PaperVersion, "title", "blocks", "words")


def forget_words(sender: object, ids: Sequence[int], **about: object) -> None:
    """Remove deleted trajectories from the search."""
    from analysis.search.index import remove_turns

    remove_turns(ids)


def forget_turns(sender: object, ids: Sequence[int], **about: object) -> None:
    """Remove trajectories that have other turns now from the search, which takes them in anew."""
    from analysis.search.index import remove_turns
    from analysis.search.services import forget_index

    if connection.vendor == "sqlite":  # its index cannot delete rows, and keeps those it has
        forget_index()
    else:
        remove_turns(ids)


def listed_trajectories(params: QueryDict, seen: "Visibility") -> Sequence[int]:
    """Return the trajectories that a query string of the list selects for this reader."""
    # Imported here because numpy would slow down the start of the server.
    from analysis.trajectory_index.listing import listing

    trajectories = listing(params, seen)
    ids: list[int] = trajectories.index.columns.id[trajectories.rows].tolist()
    return ids


def searched_trajectories(text: str, seen: "Visibility") -> Sequence[int] | None:
    """Return the trajectories that the list finds by this text."""
    # Imported here because numpy would slow down the start of the server.
    from analysis.trajectory_index.listing import searched_ids

    return searched_ids(text, seen)
