"""What the style guide's pages show: invented, but of the length and kind that real pages hold."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.utils import timezone

PLACES = ("Runs", "Trajectories", "Studies", "Analysis")
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
DEFINITION = (
    "Can the plan be carried out with tools and materials that an ordinary household "
    "is likely to have?"
)
ANCHORS = [
    (1, "Depends on equipment that hardly any household owns."),
    (3, "Mostly ordinary things, but at least one that many would not have."),
    (5, "Everything it needs is found in nearly every household."),
]
EXAMPLES = [
    (1, "Run a carpet-cleaning machine with an extraction head over the tiles."),
    (5, "Lay kitchen roll on the puddle and wipe with a damp cloth."),
]


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


def _parts(*texts: str) -> list[dict[str, str]]:
    """Make the parts of a difference; a leading + or - says what came in or went."""
    ops = {"+": "insert", "-": "delete"}
    return [
        {"op": ops.get(text[0], "equal"), "text": text[1:] if text[0] in ops else text}
        for text in texts
    ]


LINES = [
    {"op": "same", "number": 1, "parts": _parts("Pick up the glass and look for splinters.")},
    {
        "op": "changed",
        "number": 2,
        "parts": _parts(
            "Lay ", "-kitchen roll", "+two cotton towels", " on the puddle for a minute."
        ),
    },
    {"op": "removed", "number": "", "parts": _parts("Spray the floor with scented cleaner.")},
    {
        "op": "added",
        "number": 3,
        "parts": _parts("Wipe outwards-in with a cloth wrung out in warm water and dish soap."),
    },
    {"op": "same", "number": 4, "parts": _parts("Rub dry with a tea towel.")},
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


def _question(number: int, title: str, value: int | None) -> dict[str, Any]:
    focus = number == 3
    return {
        "question": {
            "name": f"q{number}",
            "number": number,
            "title": title,
            "definition": DEFINITION if focus else "",
            "anchors": ANCHORS if focus else [],
            "examples": EXAMPLES if focus else [],
        },
        "value": value,
        "short": not focus,
        "error": "Choose a score before you submit." if number == 6 else "",
    }


def guide_context() -> dict[str, Any]:
    """Give the context of both pages."""
    now = timezone.now()
    form = StudyForm({"name": "", "kind": "score", "overlap": "0", "order": "random"})
    form.is_valid()
    return {
        "now": now - timedelta(minutes=14),
        "nav": [
            {"label": x, "url": f"/{x.lower()}/", "current": "page" if x == "Runs" else ""}
            for x in PLACES
        ],
        "user": User(username="marta", first_name="Marta", last_name="Lindqvist"),
        "search_url": "/trajectories/",
        "trail": [("Runs", "/runs/"), ("AdaPlanBench demo", "/datasets/1/"), ("Run 14", "")],
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
        "figure_src": "/figure.json",
        "marks": [_mark(i, title) for i, (title, _value) in enumerate(QUESTIONS)],
        "lines": LINES,
        "parts": _parts("Rub dry with ", "-a tea towel", "+an old cotton shirt", ", and check."),
        "questions": [_question(i, title, value) for i, (title, value) in enumerate(QUESTIONS, 1)],
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
