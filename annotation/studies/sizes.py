"""How much a study asks for. Counted once, and again when its items change."""

from collections.abc import Sequence
from typing import NamedTuple

from django.core.cache import cache
from django.db.models import Count, Max, Q, Sum

from annotation.models import Item, Study, StudyEvent
from annotation.questionnaires import Questionnaire
from annotation.questionnaires.requirements import Asked, asked_counts, asked_questions

Kind, Use = StudyEvent.Kind, Item.Use
DAY = 24 * 3600


class Size(NamedTuple):
    """How many items a study has, gold apart, and how many judgements they want in all."""

    items: int = 0
    wanted: int = 0
    gold: int = 0


def study_sizes(studies: Sequence[Study]) -> dict[int, Size]:
    """How much each study asks for.

    Kept until a study's items change, which its record tells; one query where all is kept.
    """
    ids = [study.pk for study in studies]
    keys = _keys(ids, "study-size")
    kept = cache.get_many(list(keys.values()))
    found = {pk: Size(*kept[key]) for pk, key in keys.items() if key in kept}
    missing = [pk for pk in ids if pk not in found]
    if missing:
        rows = Item.objects.filter(study__in=missing, use__in=(Use.MAIN, Use.GOLD))
        counted = rows.order_by().values("study").annotate(
            items=Count("pk", filter=Q(use=Use.MAIN)),
            wanted=Sum("wanted", filter=Q(use=Use.MAIN), default=0),
            gold=Count("pk", filter=Q(use=Use.GOLD)),
        )  # fmt: skip
        sums = {row["study"]: Size(row["items"], row["wanted"], row["gold"]) for row in counted}
        found |= {pk: sums.get(pk, Size()) for pk in missing}
        cache.set_many({keys[pk]: tuple(found[pk]) for pk in missing if pk in keys}, DAY)
    return found


def questions_left_out(study: Study, questionnaire: Questionnaire) -> list[Asked]:
    """The questions that are not asked of every item, and why; kept like the sizes."""
    key = _keys([study.pk], "study-asked").get(study.pk)
    counts: dict[tuple[str, ...], int] | None = cache.get(key) if key else None
    if counts is None:
        counts = asked_counts(study)
        if key:
            cache.set(key, counts, DAY)
    return [row for row in asked_questions(questionnaire, counts) if row.left_out]


def _keys(studies: Sequence[int], name: str) -> dict[int, str]:
    """Where something about the items of a study is kept, until its record tells of a change."""
    events = StudyEvent.objects.filter(study__in=studies, kind__in=(Kind.CREATED, Kind.CHANGED))
    latest = events.order_by().values("study").annotate(last=Max("pk"))
    return {pk: f"{name}:{pk}:{last}" for pk, last in latest.values_list("study", "last")}
