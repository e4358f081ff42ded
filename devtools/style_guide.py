"""The style guide: every part of the pages in its states, on invented data, for staff.

The examples have the length and kind that real pages hold.
"""

from datetime import timedelta
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase, HttpResponseNotFound, JsonResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from annotation.desk.form import DeskAnswer, DeskForm, build_form
from annotation.desk.trajectories import Statement
from annotation.home.tasks import TaskCard
from annotation.questionnaires import load_questionnaire
from benchmarks.access import signed_in
from benchmarks.trajectories.diffs import DiffLine, DiffSegment, SegmentKind

COLUMNS = ("task", "category", "ended", "tone", "turns", "score", "sd", "why")
TASKS = (
    ("Dry a spilled glass of juice", "kitchen", "solved", "ok", 4, "4.12", "0.31", ""),
    ("Hang a picture without drilling", "decor", "out of turns", "warn", 10, "2.87", "0.94", ""),
    ("Keep a cat off the worktop", "pets", "gave up", "bad", 6, "2.10", "0.55", ""),
    ("Fold a fitted sheet", "clothing", "solved", "ok", 3, "4.60", "", ""),
    (
        "Light a path for an evening party",
        "outdoors",
        "infrastructure",
        "idle",
        2,
        "",
        "",
        "The endpoint answered 503 five times; the run can be resumed.",
    ),
    ("Steam vegetables without a steamer", "kitchen", "solved", "ok", 5, "4.33", "0.47", ""),
    (
        "Build a quiet corner for reading",
        "leisure",
        "needs decision",
        "aside",
        3,
        "",
        "",
        "The stored ask of turn 4 no longer matches the pinned prompt.",
    ),
)
COLOURS = {
    "Surfaces": ("page", "sunk", "raised", "hover", "pressed"),
    "Lines": ("line", "line-strong", "edge"),
    "Words": ("ink", "ink-2", "ink-3"),
    "Accent": ("accent", "accent-fill", "accent-soft", "accent-line", "heat", "heat-opposite"),
    "Meaning": ("ok", "ok-soft", "warn", "warn-soft", "bad", "bad-soft", "aside", "aside-soft"),
    "Models": tuple(f"series-{n}" for n in range(1, 9)),
}
SIZES = {
    "xl": "The page’s title",
    "num": "A number that matters: 61.7 %",
    "lede": "The sentence that answers a page’s question",
    "lg": "Heading of a section",
    "text": "Running text: Il1 O0, 0123456789, α = 0.71, χ² ≥ 3.84, ±1.96",
    "md": "The line under a title",
    "ui": "Buttons, fields, tables",
    "sm": "Second lines, dense tables",
    "xs": "Badges, heads of columns, keys",
}
ICONS = ("circle-check", "clock", "list-checks", "messages-square", "pause")
CARDS = (
    TaskCard(
        "card-1",
        "messages-square",
        "Play the user",
        "#card-1",
        "You play: user",
        time="about 12 min a session",
        done=1,
        total=3,
        words="1 of 3 sessions",
        badge="Your turn",
        live=True,
        button="Continue",
        button_url="#card-1",
    ),
    TaskCard(
        "card-2",
        "list-checks",
        "Ten questions on household plans",
        "#card-2",
        "10 questions on each trajectory",
        time="about 25 min left",
        done=11,
        total=30,
        words="11 of 30 items",
        button="Continue",
        button_url="#card-2",
    ),
    TaskCard(
        "card-3",
        "list-checks",
        "Violation check",
        "#card-3",
        "2 questions on each turn",
        time="about 35 min",
        first="First: consent, training",
        total=15,
        words="0 of 15 items",
        button="Begin",
        button_url="#card-3",
    ),
    TaskCard(
        "card-4",
        "pause",
        "Filter check",
        "#card-4",
        "Keep or remove, for each candidate condition",
        note="This study is paused",
        done=4,
        total=15,
        words="4 of 15 items",
    ),
)
QUESTIONS = (
    ("Is the feedback reasonable?", 4),
    ("Are the constraints clear?", 5),
    ("Feasibility", None),
    ("Physical plausibility", 3),
    ("Logical step ordering", None),
    ("Effectiveness", None),
    ("Concreteness", None),
    ("Safety", None),
    ("Consequence awareness", None),
    ("Autonomy", None),
)
NO_ROLL = "There is no kitchen roll in the house."


BADGES = [
    ("queued", "idle", False),
    ("running", "info", True),
    ("finished", "ok", False),
    ("out of turns", "warn", False),
    ("failed", "bad", False),
    ("scripted", "aside", False),
    ("simulated", "aside", False),
    ("lexicon", "aside", False),
    ("demo", "aside", False),
    ("imported", "", False),
]


class StudyForm(forms.Form):
    """One field of each kind."""

    name = forms.CharField(help_text="Annotators see this name.")
    kind = forms.ChoiceField(choices=[("score", "Score each trajectory"), ("pair", "Compare two")])
    overlap = forms.IntegerField(label="Ratings per trajectory", min_value=1)
    blinded = forms.BooleanField(required=False, label="Hide which model made the trajectory")
    order = forms.ChoiceField(
        choices=[("random", "Random for each person"), ("fixed", "The same for all")],
        widget=forms.RadioSelect,
    )
    notes = forms.CharField(required=False, widget=forms.Textarea(attrs={"rows": 3}))


def _parts(*texts: str) -> tuple[DiffSegment, ...]:
    """Make the parts of a difference; a leading + or - says what came in or went."""
    kinds: dict[str, SegmentKind] = {"+": "added", "-": "removed"}
    return tuple(
        DiffSegment(kinds.get(text[0], "same"), text[1:] if text[0] in kinds else text)
        for text in texts
    )


LINES = [
    DiffLine("same", 1, _parts("Pick up the glass and look for splinters.")),
    DiffLine(
        "changed",
        2,
        _parts("Lay ", "-kitchen roll", "+two cotton towels", " on the puddle for a minute."),
    ),
    DiffLine("removed", 3, _parts("Spray the floor with scented cleaner.")),
    DiffLine(
        "added",
        3,
        _parts("Wipe outwards-in with a cloth wrung out in warm water and dish soap."),
    ),
    DiffLine("same", 4, _parts("Rub dry with a tea towel.")),
]


def _mark(i: int, title: str) -> dict[str, Any]:
    mean = 3.1 + (i % 4) / 4
    return {
        "name": title,
        "lo": 2 + i % 2,
        "hi": 4 + (i % 3) / 2,
        "mean": mean,
        "mean_text": f"{mean:.1f}",
        "person": 3 + i % 3 if i % 4 else None,
        "title": f"{title}: three judges, one person",
    }


def _form(
    name: str, subjects: dict[str, list[str]], places: dict[str, DeskAnswer], **more: Any
) -> DeskForm:
    """Return the form of a questionnaire that ships with the product."""
    questionnaire = load_questionnaire(name)
    asked = [question.key for question in questionnaire.questions]
    slots = list(questionnaire.slots(asked, subjects))
    statements = [Statement("w1", "world", NO_ROLL), Statement("u1", "user", "No scents, please.")]
    return build_form(
        questionnaire, slots, places,
        candidates={statement.key: statement for statement in statements},
        conditions=statements, **more,
    )  # fmt: skip


def _forms() -> dict[str, DeskForm]:
    """Return scores with one that is missing, marks for two turns, and a decision about each
    candidate.
    """
    asked = load_questionnaire("ten_questions@4").questions
    scores = zip(asked, (4, 5, None, 3), strict=False)
    return {
        "scores": _form(
            "ten_questions@4", {}, {q.key: DeskAnswer(value) for q, value in scores},
            missing=["feasibility", "logical_ordering"],
        ),
        "marks": _form(
            "violation_check@3", {"turn": ["1", "2"]},
            {
                "world_violated.turn-1": DeskAnswer(chosen=["w1:violated"]),
                "user_violated.turn-1": DeskAnswer(chosen=["u1:cannot_tell"]),
                "user_violated.turn-1:flag": DeskAnswer(1, text="This can be read in two ways."),
            },
        ),
        "decisions": _form(
            "filter_check@3", {"candidate": ["w1", "u1"]}, {"keep.candidate-w1": DeskAnswer(1)}
        ),
        "person": _form("about_annotators@2", {}, {"degree": DeskAnswer(2)}),
    }  # fmt: skip


def guide_context() -> dict[str, Any]:
    """Give the context of both pages."""
    now = timezone.now()
    form = StudyForm({"name": "", "kind": "score", "overlap": "0", "order": "random"})
    form.is_valid()
    return {
        "now": now - timedelta(minutes=14),
        "trail": [("Runs", "/runs/"), ("AdaPlanBench demo", "/datasets/"), ("Run 14", "")],
        "colours": COLOURS,
        "sizes": SIZES,
        "icons": ICONS,
        "cards": CARDS,
        "rows": [
            {
                **dict(zip(COLUMNS, task, strict=True)),
                "agent": ("Cedar 32B", "Birch 8B", "Alder 70B")[i % 3],
                "id": f"T-{120 + i}",
                "at": now - timedelta(hours=3**i / 9),
            }
            for i, task in enumerate(TASKS * 2)
        ],
        "badges": BADGES,
        "form": form,
        "marks": [_mark(i, title) for i, (title, _value) in enumerate(QUESTIONS)],
        "lines": LINES,
        "parts": _parts("Rub dry with ", "-a tea towel", "+an old cotton shirt", ", and check."),
        "forms": _forms(),
    }


def guide_figure() -> dict[str, Any]:
    """Give three lines with intervals, their colours named by token."""
    turns = list(range(1, 11))
    dashes = ("solid", "dash", "dot")
    marks = ("circle", "square", "diamond")
    names = ("Cedar 32B", "Birch 8B", "Alder 70B")
    return {
        "data": [
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": name,
                "x": turns,
                "y": [4.3 - 0.2 * i - (0.05 + 0.06 * i) * turn for turn in turns],
                "error_y": {"type": "data", "array": [0.1 + 0.01 * turn for turn in turns]},
                "line": {"color": f"var(--series-{i + 1})", "dash": dash},
                "marker": {"symbol": symbol},
            }
            for i, (name, dash, symbol) in enumerate(zip(names, dashes, marks, strict=True))
        ],
        "layout": {
            "xaxis": {"title": {"text": "Turn"}, "dtick": 1},
            "yaxis": {"title": {"text": "Mean score, 1 to 5"}, "range": [1, 5]},
        },
    }


@require_GET
@signed_in
def guide(request: HttpRequest, page: str = "parts") -> HttpResponseBase:
    """Show the parts, or an example of the desk."""
    _allow_staff(request)
    return render(request, f"annotation/style_guide/{page}.html", guide_context())


@require_GET
@signed_in
def figure(request: HttpRequest) -> HttpResponseBase:
    """Give the figure of the page, or an error where the page shows how one fails."""
    _allow_staff(request)
    if "fails" in request.GET:
        return HttpResponseNotFound("This figure fails, so that the page can show it.")
    return JsonResponse(guide_figure())


def _allow_staff(request: HttpRequest) -> None:
    if not request.user.is_staff:
        raise PermissionDenied("The style guide is for administrators.")
