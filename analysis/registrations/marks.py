"""Mark reports: whether they show a registered comparison as registered, or what differs."""

from dataclasses import replace

from django.urls import reverse

from analysis.filters import SHOW_REST, with_query
from analysis.filters.selection import Selection
from analysis.models import Registration
from analysis.registrations.differences import Standing, standing
from analysis.registrations.document import QUESTIONS, Plan, read_plan, sha256
from analysis.registrations.facts import used_by
from analysis.registrations.gone import gone
from analysis.reports.content import Empty, Notice, Report
from analysis.reports.formatting import first_up, listed, plural
from benchmarks.core.problems import FileRefused

# So many registrations are stated on a page, and so many comparisons and differences of one.
MOST_MARKS, MOST_COMPARISONS, MOST_DIFFERENCES = 5, 3, 12


def stored_plan(row: Registration) -> tuple[Plan | None, bool]:
    """Return the plan of a row, if it can be read, and whether the document has its digest."""
    verified = sha256(row.document) == row.digest
    try:
        return read_plan(row.document), verified
    except FileRefused:
        return None, False


def page_standing(page: str, selection: Selection, row: Registration) -> Standing | None:
    """Return how a page stands to a registration; None where it does not show its question."""
    plan, verified = stored_plan(row)
    if plan is None:
        return Standing("undefined", reason="its document was altered and can no longer be read")
    if page not in plan.kind.pages:
        return None
    used = used_by(page, selection, plan.question, plan.experiment)
    lost = gone(plan, row.study)
    # The leaderboard has its own measures, whichever are registered.
    if page == "leaderboard" and plan.measure not in (used.measures or ()):
        return None
    withdrawal = getattr(row, "withdrawal", None)
    day = f"{withdrawal.at:%Y-%m-%d}" if withdrawal is not None else ""
    return standing(plan, used, verified=verified, withdrawn=day, gone=lost)


def with_marks(report: Report, page: str, selection: Selection) -> Report:
    """Add to a report how it stands to each registration about its data."""
    standings = [(row, found) for row in selection.registrations
                 if (found := page_standing(page, selection, row)) is not None]  # fmt: skip
    marks = [_mark(row, found) for row, found in standings]
    more = len(marks) - MOST_MARKS
    if more > 0:
        url = reverse("analysis:registration_list")
        text = f"{plural(more, 'more registration')} of these data."
        marks = [*marks[:MOST_MARKS], Notice(text, "info", url, "All registrations")]
    if not marks:
        return report
    reasons = [found.reason for _, found in standings if found.withheld]
    if reasons and report.empty is None:
        query = selection.filters.query(deleted=SHOW_REST)
        empty = Empty(
            "Undefined as registered",
            f"{first_up(reasons[0])}. What is left is not the registered comparison.",
            "Show what is left, as exploratory",
            with_query(reverse(f"analysis:{page}"), query),
        )
        return Report(empty=empty, banners=report.banners, marks=tuple(marks), answers=False)
    # What a page says for a paper carries the first mark along.
    methods = f"{report.methods} {marks[0].text}".strip() if report.methods else ""
    return replace(report, marks=tuple(marks), methods=methods)


def is_withheld(page: str, selection: Selection) -> bool:
    """Return whether a page shows no number because part of its registered data is gone."""
    standings = (page_standing(page, selection, row) for row in selection.registrations)
    return any(found is not None and found.withheld for found in standings)


def registered_state(selection: Selection) -> list[str]:
    """Return what marks depend on besides the runs and studies of a page."""
    if not selection.registrations:
        return []
    names = [option.label for option in selection.options.get("experiment", ())]
    rows = selection.registrations
    return [*names, *(f"{row.digest} {sha256(row.document)} {hasattr(row, 'withdrawal')} "
                      f"{_lost(row)}" for row in rows)]  # fmt: skip


def _lost(row: Registration) -> str:
    plan, _ = stored_plan(row)
    return gone(plan, row.study) if plan is not None else ""


def _mark(row: Registration, found: Standing) -> Notice:
    """Return the line of a page about one registration."""
    named = f"“{row.title}”, SHA-256 {row.digest[:12]}"
    elsewhere = "; its time is what its file states" if row.imported else ""
    url = reverse("analysis:registration", args=[row.pk])
    if found.status == "undefined":
        text = f"Undefined as registered ({named}{elsewhere}): {found.reason}."
        return Notice(text, "warning", url, "Registration")
    if found.status == "exploratory":
        differing = listed([str(one) for one in found.differences], most=MOST_DIFFERENCES)
        text = f"Exploratory: not as registered ({named}{elsewhere}). Different: {differing}."
        return Notice(text, "warning", url, "Registration")
    plan = read_plan(row.document)
    stated = listed([str(one) for one in plan.comparisons], most=MOST_COMPARISONS)
    text = (
        f"As registered before the first answer ({named}{elsewhere}): {stated}, on {plan.measure}."
    )
    return Notice(text, "info", url, "Registration")


def shows_registrations(page: str) -> bool:
    """Return whether a page answers a question that can be registered."""
    return any(page in kind.pages for kind in QUESTIONS.values())
