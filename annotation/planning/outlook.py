"""Sentences for a plan's preview: what the study can and cannot answer, and how long it takes.

The counts come from `annotation.designs.outlook`; this module adds times, and whether judges have
scored the items.
"""

from collections.abc import Iterator, Sequence
from itertools import chain
from statistics import mean, median
from typing import NamedTuple

from django.db.models import Q

from annotation.designs.contrasts import (
    MODEL,
    POSITION,
    QUERY,
    RATER,
    Confounding,
    ModelContrast,
    confounded_effects,
    judgements,
    model_contrast,
)
from annotation.designs.orders import POOL
from annotation.designs.outlook import (
    ITEMS_FOR_JUDGE_TEST,
    PEOPLE_FOR_JUDGE_TEST,
    DesignOutlook,
    Z,
    outlook_of_lists,
    outlook_of_pool,
)
from annotation.designs.pairs import split_pair
from annotation.models import Annotator, Assignment
from annotation.planning.planned_study import PlannedStudy
from annotation.planning.special_items import item_shapes
from annotation.questionnaires import Questionnaire
from benchmarks.models import Candidate, JudgeScore, Task, Turn
from benchmarks.trajectories.messages import stored_rows

# A median of fewer earlier items is no better than the estimate from reading and answering.
LEAST_MEASURED, LATEST = 20, 500
WORDS_A_MINUTE, SECONDS_AN_ANSWER = 200, 12
# Words and answers are counted in so many items, spread evenly.
SAMPLED = 40
# Intervals with a larger half-width, in points and as a share, are marked as too wide.
WIDE_MEAN, WIDE_SHARE = 0.5, 0.2


class OutlookLine(NamedTuple):
    """One thing that a reader of the study will want to know. ``good``: whether it can be had."""

    title: str
    text: str
    good: bool = True


class ItemTime(NamedTuple):
    """The expected seconds for an item, and where they come from."""

    seconds: float
    source: str


def outlook_lines(planned: PlannedStudy) -> list[OutlookLine]:
    """Return what the design can answer, line by line."""
    models = {option.id: option.model for option in planned.options}
    pooled = planned.plan.dealing == "pool"
    if pooled:
        outlook = outlook_of_pool(planned.plan.raters, models)
    else:
        outlook = outlook_of_lists(planned.orders, models)
    return [
        _raters(outlook),
        *_simulated(planned.plan.annotators),
        _agreement(outlook),
        _judge_test(outlook, planned),
        _precision(outlook, planned),
        *_differences(planned),
        _time(planned, item_time(planned)),
    ]


def _simulated(names: Sequence[str]) -> Iterator[OutlookLine]:
    """Yield a line if annotators are simulated: their scripts ended with the demo's own studies."""
    rows = Annotator.objects.filter(user__username__in=names, is_simulated=True)
    if count := rows.count():
        are = f"{count} of {len(names)} annotators {'is' if count == 1 else 'are'} simulated"
        yield OutlookLine(
            "Who will judge",
            f"{are}: these accounts of the demo will judge nothing. "
            "Choose people under “Annotators”.",
            good=False,
        )


def _raters(outlook: DesignOutlook) -> OutlookLine:
    if outlook.least == outlook.most:
        people = "1 person judges" if outlook.most == 1 else f"{outlook.most} people judge"
        return OutlookLine("Raters per item", f"{people} each item.")
    return OutlookLine(
        "Raters per item",
        f"{outlook.least} to {outlook.most}; {outlook.shared:,} of {outlook.items:,} items have "
        "two or more.",
    )


def _agreement(outlook: DesignOutlook) -> OutlookLine:
    title = "Agreement among people"
    if not outlook.agreement:
        words = "Not defined: no item has two raters. Set “Annotators for each item” to 2 or more."
        return OutlookLine(title, words, good=False)
    on = f"Defined, on {outlook.shared:,} item{'s' * (outlook.shared > 1)}"
    half = outlook.alpha_half_width
    if half is None:
        return OutlookLine(title, f"{on}: too few for an interval of α.", good=False)
    more = "" if outlook.most > 2 else ", wider with two raters"
    return OutlookLine(title, f"{on}. Expect α with an interval of about ±{half:.2f}{more}.")


def _judge_test(outlook: DesignOutlook, planned: PlannedStudy) -> OutlookLine:
    title = "Can a judge stand in for a person?"
    needs = (
        f"the alternative annotator test needs {PEOPLE_FOR_JUDGE_TEST} people who each share "
        f"{ITEMS_FOR_JUDGE_TEST} items with others"
    )
    dimensions = {q.dimension for q in planned.questionnaire.questions if q.dimension}
    if not dimensions:
        words = "Not testable: no question of this form is one that judges score."
        return OutlookLine(title, words, good=False)
    if not outlook.judge_test:
        have = f"; here {outlook.testable} do" if outlook.testable is not None else ""
        return OutlookLine(title, f"Not testable: {needs}{have}.", good=False)
    words = (
        "Testable" if outlook.testable is not None else f"Testable if enough people join: {needs}"
    )
    if _judged([option.id for option in planned.options], sorted(dimensions)):
        return OutlookLine(title, f"{words}. Judges have scored these trajectories.")
    return OutlookLine(
        title, f"{words}. No judge has scored these trajectories yet: re-judge them.", good=False
    )


def _judged(trajectories: Sequence[int], dimensions: Sequence[str]) -> bool:
    ids = _some(trajectories)
    mine = Q(trajectory__in=ids) | Q(trajectory__judged__in=ids)
    rows = JudgeScore.objects.filter(mine, dimension__in=dimensions, value__isnull=False)
    return rows.order_by().exists()


def _precision(outlook: DesignOutlook, planned: PlannedStudy) -> OutlookLine:
    of = "each agent" if planned.models else "the items"
    items = f"{outlook.per_model:,} item{'s' * (outlook.per_model != 1)}"
    who = f"{items} of each agent" if planned.models else items
    if planned.models and outlook.per_model * planned.models != outlook.items:
        who += " or more"
    title = f"Precision for {of}"
    scored = any(q.scale.kind == "points" for q in planned.questionnaire.questions)
    half = outlook.mean_half_width if scored else outlook.share_half_width
    if half is None:
        return OutlookLine(title, f"No interval: {who}.", good=False)
    if half > (WIDE_MEAN if scored else WIDE_SHARE):
        who += "; take more to tell agents apart" if planned.models else "; take more"
        good = False
    else:
        good = True
    if scored:
        words = f"A mean score within about ±{half:.2f} points if scores spread by 1 point ({who})"
    else:
        words = f"A share within ±{100 * half:.0f} percentage points at most ({who})"
    return OutlookLine(title, f"{words}.", good=good)


# --- Differences between agents -------------------------------------------------------------------


def _differences(planned: PlannedStudy) -> Iterator[OutlookLine]:
    """Yield how well agents can be told apart, and what the design confounds."""
    if planned.models < 2:
        return
    options = {option.id: option for option in planned.options}
    pooled = planned.plan.dealing == "pool"
    # Whoever judges it in a pool, each item is judged by so many.
    orders = planned.orders if not pooled else {POOL: [*options] * planned.plan.raters}
    rows = judgements(orders, options)
    yield _difference(model_contrast(rows, pooled=pooled), planned)
    if not pooled:
        yield _confounded(confounded_effects(rows))


def _difference(contrast: ModelContrast | None, planned: PlannedStudy) -> OutlookLine:
    title = "Differences between agents"
    if contrast is None:
        words = "Not defined: the design does not connect all agents by common queries and raters."
        return OutlookLine(title, words, good=False)
    scored = any(q.scale.kind == "points" for q in planned.questionnaire.questions)
    half = Z * contrast.standard_error
    queries = f"{contrast.meetings:,} quer{'y' if contrast.meetings == 1 else 'ies'}"
    if RATER not in contrast.within:
        how = f"paired within query ({queries}; who will judge them is not known)"
    elif contrast.additive:
        how = f"over {queries} with several raters, whose differences are taken out"
    else:
        how = f"paired within rater and query ({contrast.meetings:,} pairs)"
    if scored:
        words = f"Within about ±{half:.2f} points, {how}, if such scores spread by 1 point."
    else:
        words = f"Within ±{100 * half / 2:.0f} percentage points at most, {how}."
    return OutlookLine(title, words, good=half <= (WIDE_MEAN if scored else 2 * WIDE_SHARE))


def _confounded(confounded: Sequence[Confounding] | None) -> OutlookLine:
    title = "Confounded effects"
    if confounded is None:
        return OutlookLine(title, "Not checked: the design has too many queries or raters.")
    if not confounded:
        words = "None: agents, queries, raters and thirds of the list can be told apart."
        return OutlookLine(title, words)
    return OutlookLine(title, " ".join(map(_confounding_words, confounded)), good=False)


PLURALS = {
    MODEL: "agents", QUERY: "queries", RATER: "raters", POSITION: "thirds of the list",
}  # fmt: skip


def _confounding_words(confounding: Confounding) -> str:
    plural = PLURALS[confounding.factor]
    others = (
        f"between {PLURALS[confounding.other]}"
        if confounding.other
        else "of the other kinds together"
    )
    if confounding.lost == confounding.total:
        return f"Differences between {plural} are confounded with those {others}."
    return (
        f"{confounding.lost} of {confounding.total} differences between {plural} are confounded "
        f"with {others}."
    )


# --- Time -----------------------------------------------------------------------------------------


def item_time(planned: PlannedStudy) -> ItemTime:
    """Return the expected time for an item.

    It is the median active time of the latest items that people submitted with this questionnaire,
    or else the time to read the item and to answer.
    """
    rows = Assignment.objects.filter(
        study__questionnaire=planned.plan.questionnaire, part=Assignment.Part.MAIN,
        state=Assignment.State.SUBMITTED, active_ms__gt=0,
    ).exclude(annotator__annotator__is_simulated=True)  # fmt: skip
    times = list(rows.order_by("-pk").values_list("active_ms", flat=True)[:LATEST])
    if len(times) >= LEAST_MEASURED:
        what = f"median of {len(times)} earlier items with this questionnaire"
        return ItemTime(median(times) / 1000, what)
    ids = _some([option.id for option in planned.options])
    words, answers = mean_words(planned.questionnaire, ids), _answers(planned.questionnaire, ids)
    seconds = 60 * words / WORDS_A_MINUTE + SECONDS_AN_ANSWER * answers
    return ItemTime(
        seconds,
        f"estimate: {words:,.0f} words at {WORDS_A_MINUTE} a minute, and {SECONDS_AN_ANSWER} "
        f"seconds for each of {answers:.0f} answers",
    )


def _some(ids: Sequence[int]) -> list[int]:
    step = max(1, len(ids) // SAMPLED)
    return list(ids[::step])[:SAMPLED]


def _answers(questionnaire: Questionnaire, ids: Sequence[int]) -> float:
    return mean(len(slots) for slots, _ in item_shapes(questionnaire, ids).values())


def mean_words(questionnaire: Questionnaire, ids: Sequence[int]) -> float:
    """Return the mean number of words of items, by the ids of their trajectories or tasks."""
    if questionnaire.unit == "task":
        texts = [
            *Task.objects.filter(pk__in=ids).values_list("prompt", flat=True),
            *Candidate.objects.filter(task__in=ids).values_list("text", flat=True),
        ]
    else:
        shown = chain.from_iterable(map(split_pair, ids)) if questionnaire.unit == "pair" else ids
        turns = Turn.objects.filter(trajectory__in=set(shown))
        texts = [text for turn in turns for text in _texts(turn)]
    return sum(len(text.split()) for text in texts) / len(ids)


def _texts(turn: Turn) -> Iterator[str]:
    """Yield what is read of a turn: its messages, where it was imported with some."""
    rows = stored_rows(turn.payload)
    if rows:
        yield from (str(row.get("text", "")) for row in rows)
    else:
        yield from (turn.text, turn.feedback)


def _time(planned: PlannedStudy, time: ItemTime) -> OutlookLine:
    each = f"{_clock(time.seconds)} an item ({time.source})"
    lessons = len(planned.plan.training)
    if planned.plan.dealing == "pool":
        total = time.seconds * planned.assignments
        return OutlookLine("Time", f"About {_hours(total)} in all, shared by all: {each}.")
    minutes = [time.seconds * (items + lessons) for items in planned.loads.values()]
    low, high = _hours(min(minutes)), _hours(max(minutes))
    span = low if low == high else f"{low} to {high}"
    return OutlookLine("Time for each annotator", f"About {span}: {each}.")


def _clock(seconds: float) -> str:
    whole = round(seconds)
    return f"{whole // 60}:{whole % 60:02d} min"


def _hours(seconds: float) -> str:
    minutes = max(1, round(seconds / 60))
    if minutes < 90:
        return f"{minutes} minute{'s' * (minutes > 1)}"
    return f"{minutes / 60:.1f} hours"
