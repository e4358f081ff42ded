"""Trajectories side by side: turn by turn, what they violated, how they were scored."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe

from analysis.browser.comparison import differences as facts
from analysis.browser.comparison.address import (
    BASE,
    BEFORE,
    END,
    MOST,
    OFF,
    SCORES,
    START,
    TURNS,
    VIOLATIONS,
    ComparisonAddress,
)
from analysis.browser.comparison.alignment import portion
from analysis.browser.comparison.candidates import ComparedTrajectories, candidates, choose
from analysis.filters.addresses import read_address
from benchmarks.access import VIEW, allow, signed_in, visibility
from benchmarks.roles.cautions import runs_caution
from benchmarks.trajectories.selectors import is_scored
from benchmarks.visibility import Visibility

# The button that brings the next turns; what it asks for is the rows alone.
MORE = "more-turns"
VIEW_WORDS = {TURNS: "Turn by turn", VIOLATIONS: "Violations", SCORES: "Scores"}
DIFF_WORDS = {BASE: "the base", BEFORE: "the turn before", OFF: "nothing"}
ALIGN_WORDS = {START: "at the first turn", END: "at the last turn"}


@signed_in
@require_safe
def compare(request: HttpRequest) -> HttpResponse:
    allow(request, VIEW)
    seen = visibility(request)
    chosen = choose(read_address(ComparisonAddress, request.GET), seen)
    if request.headers.get("HX-Target") == MORE:
        context = {"chosen": chosen, **_turns(chosen)}
        response = render(request, "analysis/_compare_rows.html", context)
    else:
        context = {
            "chosen": chosen,
            "most": MOST,
            "too_many": chosen.found > MOST,
            "caution": runs_caution(one.trajectory.run for one in chosen.columns),
            **(_compared(chosen, seen) if chosen.columns else {}),
        }
        response = render(request, "analysis/compare.html", context)
    patch_vary_headers(response, ["HX-Target"])
    return response


def _compared(chosen: ComparedTrajectories, seen: Visibility) -> dict[str, Any]:
    """Return what a page with trajectories on it shows: the summary, its controls, and one view."""
    address, columns = chosen.address, chosen.columns
    violations = facts.violations_of(columns)
    scores = facts.scores_of(columns)
    others = candidates(chosen, seen)
    lines = facts.summaries(chosen, violations, scores, facts.tokens_of(columns))
    context: dict[str, Any] = {
        "lines": [
            (line, address.query(base=line.column.pk), address.without(line.column.pk))
            for line in lines
        ],
        "sentence": facts.sentence(chosen, lines),
        "verdict_titles": list(dict.fromkeys(t for line in lines for t, _ in line.verdicts)),
        "views": _links(address, "view", VIEW_WORDS, first=1),
        "aligns": _links(address, "align", ALIGN_WORDS, first=1),
        "judged": any(is_scored(c.trajectory.run.dataset.system) for c in columns),
        "picks": [(c, address.query(column=c.number)) for c in columns],
        "pick_all": address.query(column=0),
        "next_base": _next_base(chosen),
        "others": others,
        "adds": [(row, address.with_more(row.trajectory.pk)) for row in others.rows]
        if others is not None
        else [],
    }
    if address.view == VIOLATIONS:
        context["matrix"] = facts.matrix(columns, violations)
        context["to_turns"] = address.query(view=TURNS, first=1, align=START)
    elif address.view == SCORES:
        known = dict(scores.dimensions)
        dimension = address.dimension if address.dimension in known else ""
        context |= {
            "final_rows": facts.final_rows(chosen, scores) if known else [],
            "place_rows": facts.place_rows(chosen, scores, dimension) if known else [],
            "dimension_title": known.get(dimension, "Mean of the dimensions"),
            "dimensions": _links(address, "dimension", {"": "Mean", **known}),
        }
    else:
        context |= {"diffs": _links(address, "diff", DIFF_WORDS), **_turns(chosen)}
    return context


def _turns(chosen: ComparedTrajectories) -> dict[str, Any]:
    """Return the rows of turns, with the addresses of the rows before and after them."""
    shown = portion(chosen)
    address = chosen.address
    return {
        "portion": shown,
        "more_url": address.query(first=shown.next) if shown.next else "",
        "earlier_url": address.query(first=shown.previous) if shown.previous else "",
    }


def _links(
    address: ComparisonAddress, name: str, words: dict[str, str], **more: Any
) -> list[dict[str, object]]:
    """Return the choices of one part of an address as links."""
    now = getattr(address, name)
    return [
        {
            "value": value,
            "title": title,
            "url": address.query(**{name: value}, **more),
            "current": value == now,
        }
        for value, title in words.items()
    ]


def _next_base(chosen: ComparedTrajectories) -> str:
    """Return the same comparison with the next trajectory as its base."""
    if len(chosen.columns) < 2 or chosen.base is None:
        return ""
    at = chosen.base.number % len(chosen.columns)
    return chosen.address.query(base=chosen.columns[at].pk)
