"""Add training and gold items to an existing study, by the rules of a new one.

Training items go to people who have not passed the training, and to later annotators. In a pool,
gold items are drawn for whoever claims items from then on. In lists they are hidden
among items that they have not opened yet.
"""

from collections import Counter
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Exists, F, Max, OuterRef, Q

from annotation.assignments.dealing import assign_items, last_position
from annotation.assignments.services import lock_study
from annotation.audit_log.events import record_event
from annotation.designs.placement import choose_gold, hide_more
from annotation.errors import Refused
from annotation.models import Assignment, Item, Participant, Rating, Study, StudyEvent
from annotation.planning.planned_study import played_pairs, refuse_played_training
from annotation.planning.source_choices import source_of
from annotation.planning.sources import SourceItems, option_ids, unit_of
from annotation.planning.special_items import ResolvedSpecial, find_specials
from annotation.plans.study_plan import BOUNDS, PlanError, PlanProblem, SpecialItem, StudyPlan
from annotation.questionnaires import load_questionnaire
from annotation.studies.services import refuse_unless_stored
from annotation.studies.setup import NewItem, add_items
from benchmarks.asks.players import players
from benchmarks.models import Run
from benchmarks.visibility import Visibility

State, Part, Use = Assignment.State, Assignment.Part, Item.Use
Standing, Training = Participant.State, Participant.Training
# Beyond every position, so that items can be moved there while others take their places.
AWAY = 1_000_000_000


@dataclass(frozen=True)
class AddedSpecials:
    """The result of adding: how many items of each kind, and how many people train or train on.

    ``given``: annotator's number → how many gold items they got, of the ``gold_each`` that were
    asked for; fewer where they have too few items left to hide so many among.
    """

    training: int = 0
    gold: int = 0
    trainees: int = 0
    gold_each: int = 0
    given: Mapping[int, int] = field(default_factory=dict)

    @property
    def short(self) -> int:
        """The number of annotators who got fewer gold items than were asked for."""
        return sum(count < self.gold_each for count in self.given.values())


def add_specials(
    *,
    study: Study,
    training: Sequence[SpecialItem] = (),
    gold: Sequence[SpecialItem] = (),
    gold_each: int = 0,
    by: User,
    seen: Visibility,
) -> AddedSpecials:
    """Add training and gold items. PlanError names every item that does not fit; nothing is stored.

    Whoever has passed the training keeps it. ``gold_each`` is for lists: so many of the
    new gold items each, as far as they can be hidden among the items that they have not opened.
    """
    refuse_unless_stored(study)
    if study.status in Study.OVER:
        raise Refused("conflict", "the study is closed; reopen it first")
    _check_counts(study, training, gold, gold_each)
    lessons, hidden = _find(study, training, gold, seen)
    with transaction.atomic():
        lock_study(study)
        people = list(
            study.participants.exclude(state__in=Participant.GONE)
            .select_related("user").select_for_update(of=("self",), no_key=True).order_by("pk")
        )  # fmt: skip
        _refuse_known(study, [*lessons, *hidden])
        about = load_questionnaire(study.questionnaire)
        played: Mapping[int, Set[int]] = players([person.user for person in people])
        if about.unit == "pair":
            played = played_pairs(played, [special.pk for special in (*lessons, *hidden)])
        by_name = {p.user.get_username(): frozenset(played[p.user_id]) for p in people}
        refuse_played_training(lessons, by_name)
        rows = [
            NewItem(**unit_of(about, special.pk), use=use, expected=special.expected)
            for use, specials in ((Use.TRAINING, lessons), (Use.GOLD, hidden))
            for special in specials
        ]
        stored = add_items(study=study, items=rows)
        first = stored[: len(lessons)]
        rest = dict(zip([special.pk for special in hidden], stored[len(lessons) :], strict=True))
        trainees = _deal_training(study, first, people, by)
        given = _deal_gold(study, rest, people, gold_each, played, by)
        record_event(
            study=study, kind=StudyEvent.Kind.CHANGED, by=by,
            detail={
                "training_added": len(lessons), "gold_added": len(hidden), "gold_each": gold_each,
                "seed": study.seed,
            },
        )  # fmt: skip
    return AddedSpecials(len(lessons), len(hidden), trainees, gold_each, given)


def _check_counts(
    study: Study, training: Sequence[SpecialItem], gold: Sequence[SpecialItem], gold_each: int
) -> None:
    problems = []
    most = BOUNDS["gold_each"][1]
    if not training and not gold:
        problems.append(PlanProblem("", "choose at least one training or gold item"))
    if study.dealing == Study.Dealing.POOL:
        if gold_each:
            words = "in a pool gold is drawn for everybody; this is for lists"
            problems.append(PlanProblem("gold_each", words))
    elif len(gold) == 1:
        words = "choose at least two, as each annotator gets at least two"
        problems.append(PlanProblem("gold", words))
    elif gold and not 2 <= gold_each <= min(most, len(gold)):
        words = f"say how many gold items each annotator gets: at least 2, of {len(gold)} there are"
        problems.append(PlanProblem("gold_each", words))
    elif gold_each and not gold:
        problems.append(PlanProblem("gold", "there are no gold items to give"))
    if problems:
        raise PlanError(problems)


def _find(
    study: Study,
    training: Sequence[SpecialItem],
    gold: Sequence[SpecialItem],
    seen: Visibility,
) -> tuple[list[ResolvedSpecial], list[ResolvedSpecial]]:
    questionnaire = load_questionnaire(study.questionnaire)
    source = source_of(study)
    datasets = Run.objects.filter(pk__in=source.runs).values_list("dataset", flat=True)
    here = SourceItems(
        (), {}, runs=source.runs,
        datasets=(int(source.dataset),) if source.dataset else tuple(datasets.distinct()),
    )  # fmt: skip
    plan = StudyPlan(
        name=study.name, questionnaire=study.questionnaire, items=source,
        training=tuple(training), gold=tuple(gold),
    )  # fmt: skip
    return find_specials(plan, questionnaire, here, seen)


def _refuse_known(study: Study, specials: Sequence[ResolvedSpecial]) -> None:
    """Refuse an item about which the study asks already."""
    known = option_ids(study.items.all(), load_questionnaire(study.questionnaire))
    problems = [
        PlanProblem(special.path, "the study has this item already; choose another")
        for special in specials
        if special.pk in known
    ]
    if problems:
        raise PlanError(problems)


def _deal_training(
    study: Study, items: Sequence[Item], people: Sequence[Participant], by: User
) -> int:
    """Give training items to those who are still to pass; returns how many people that is."""
    if not items:
        return 0
    Study.objects.filter(pk=study.pk).update(trains=True)
    study.trains = True
    trainees = [person.user_id for person in people if person.training == Training.NONE]
    if trainees:
        places = range(len(items))
        assign_items(study=study, items=items, dealt=dict.fromkeys(trainees, places), by=by)
    return len(trainees)


# --- Gold among the items of lists ----------------------------------------------------------------


def _deal_gold(
    study: Study,
    gold: Mapping[int, Item],
    people: Sequence[Participant],
    gold_each: int,
    played: Mapping[int, Set[int]],
    by: User,
) -> dict[int, int]:
    """Hide gold, by its id, among what each annotator has not opened; number → how many they
    got.
    """
    if not gold or study.dealing == Study.Dealing.POOL:
        return {}
    items = list(gold.values())
    by_key = {pk: place for place, pk in enumerate(gold)}
    used: Counter[int] = Counter()
    given: dict[int, int] = {}
    for person in people:
        after, ahead, follows = _ahead(study, person)
        if not any(not is_gold for is_gold in ahead):
            continue  # nothing is left to do
        name = person.user.get_username()
        places = hide_more(seed=study.seed, name=name, ahead=ahead, gold=gold_each, follows=follows)
        chosen = choose_gold(
            name=name, open_to=set(by_key) - set(played[person.user_id]), wanted=len(places),
            used=used, seed=study.seed,
        )  # fmt: skip
        given[person.number] = len(chosen)
        if chosen:
            assignments = [by_key[pk] for pk in chosen]
            assign_items(study=study, items=items, dealt={person.user_id: assignments}, by=by)
            _move_up(study, person.user_id, after, len(ahead), places[: len(chosen)])
    return given


def _ahead(study: Study, person: Participant) -> tuple[int, list[bool], bool]:
    """Return the last position that somebody has come to, which of the items behind it are gold,
    and whether the one at it is. Their open items are locked, so that none is opened meanwhile.
    """
    mine = Assignment.objects.filter(study=study, annotator=person.user_id, part=Part.MAIN)
    list(mine.filter(state=State.OPEN).select_for_update(no_key=True).values_list("pk"))
    rated = Exists(Rating.objects.filter(assignment=OuterRef("pk")))
    come_to = mine.filter(
        Q(opened_at__isnull=False) | Q(state__in=(State.SUBMITTED, State.SKIPPED)) | Q(rated)
    )
    after = come_to.aggregate(last=Max("position"))["last"] or 0
    behind = mine.filter(position__gt=after).order_by("position")
    uses = list(behind.values_list("item__use", "state"))
    if not any(state == State.OPEN for _, state in uses):
        return after, [], False
    follows = mine.filter(position=after, item__use=Use.GOLD).exists()
    return after, [use == Use.GOLD for use, _ in uses], follows


def _move_up(study: Study, user: int, after: int, ahead: int, places: Sequence[int]) -> None:
    """Bring the last items of somebody's list to ``places`` behind ``after``; the others, whose
    order stays, make room. Nobody has opened any of them.
    """
    mine = Assignment.objects.filter(study=study, annotator=user, part=Part.MAIN)
    end = last_position(study, user, Part.MAIN)
    first_new = after + ahead
    for number, place in enumerate(places):
        mine.filter(position=first_new + 1 + number).update(position=AWAY + after + place)
    # The items between two places move by as many as stand before them.
    for number, place in enumerate(places):
        least = after + place - number
        most = after + places[number + 1] - number - 2 if number + 1 < len(places) else first_new
        between = mine.filter(position__gte=least, position__lte=min(most, first_new))
        between.update(position=F("position") + AWAY + number + 1)
    mine.filter(position__gt=AWAY).update(position=F("position") - AWAY)
    assert end == last_position(study, user, Part.MAIN)
