"""Compute who judges what from a plan. Nothing is written, so the preview uses it, too."""

import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from django.contrib.auth.models import User
from django.utils import timezone

from annotation.annotator_quality.rule import NOTHING, TRAIN
from annotation.designs.certificate import (
    Certificate,
    Marks,
    certify_design,
    digest_design,
    main_orders,
)
from annotation.designs.dealing import deal_options, deal_queries
from annotation.designs.draws import draw_probabilities
from annotation.designs.hold_out import sees_marks
from annotation.designs.orders import POOL, order_options, order_pool
from annotation.designs.pairs import pair_id, split_pair
from annotation.designs.placement import ItemLists, place_specials
from annotation.designs.sampling import Sampled, sample_options
from annotation.designs.types import (
    GOLD,
    TRAINING,
    Allocation,
    DesignError,
    DesignOption,
    name_some,
)
from annotation.models import Item
from annotation.planning.sources import SourceItems, find_items, unit_of
from annotation.planning.special_items import ResolvedSpecial, find_specials
from annotation.plans.plan_files import form_problems
from annotation.plans.study_plan import PlanError, PlanProblem, StudyPlan
from annotation.questionnaires import Questionnaire, QuestionnaireError, load_questionnaire
from annotation.questionnaires.requirements import QuestionUse, asked_questions, shows_marks
from annotation.studies.places import place_name
from annotation.studies.setup import NewItem
from benchmarks.asks.players import players
from benchmarks.core.digests import derive_seed
from benchmarks.visibility import EVERYTHING, Visibility

K = TypeVar("K")
Use = Item.Use
# The field of a plan to change if a design cannot be made.
PATHS = {
    "options": "items",
    "count": "items.sample.count",
    "strata": "items.sample.strata",
    "whole_tasks": "items.sample.whole_tasks",
    "exclusions": "annotators",
    "capacities": "annotators",
}


@dataclass(frozen=True)
class PlannedStudy:
    """The study that a plan results in. ``items`` are in the order in which they would be stored.

    ``lists`` map the name of a place to indices of ``items``; a pool has none. ``people`` are the
    accounts that the plan names, by username. ``drawn`` has the probability with which each option
    of the source came to be judged, training and gold items apart.
    """

    plan: StudyPlan
    questionnaire: Questionnaire
    people: Mapping[str, User]
    source_items: SourceItems
    sampled: Sampled
    drawn: Mapping[int, float]
    design: Allocation | ItemLists
    items: tuple[NewItem, ...]
    lists: Mapping[str, Sequence[int]]
    exclusions: Mapping[str, frozenset[int]]
    notes: tuple[str, ...] = ()

    @property
    def options(self) -> tuple[DesignOption, ...]:
        """The options to judge, training and gold apart."""
        return self._dealing.options

    @property
    def method(self) -> str:
        return self._dealing.method

    @property
    def assignments(self) -> int:
        """The number of judgements that the plan asks for, training and gold apart."""
        if self.plan.dealing == "pool":
            return len(self.options) * self.plan.raters
        return self._dealing.assignments

    @property
    def models(self) -> int:
        return len({option.model for option in self.options} - {""})

    @property
    def tasks(self) -> int:
        return len({option.task for option in self.options})

    @property
    def orders(self) -> Mapping[str, Sequence[int]]:
        """The options on each list, training and gold apart."""
        return self._dealing.orders

    @property
    def loads(self) -> Mapping[str, int]:
        """The number of items on each list, gold among them."""
        return {name: len(indices) for name, indices in self.lists.items()}

    @property
    def claimed(self) -> list[tuple[str, str, int]]:
        """The name of each list, the account that claims it ("" where it is free), its items."""
        accounts = [*self.plan.annotators, *[""] * (len(self.lists) - len(self.plan.annotators))]
        return [
            (name, account, len(indices))
            for account, (name, indices) in zip(accounts, self.lists.items(), strict=False)
        ]

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings about parts of the plan that are met only approximately."""
        placed = self.design.warnings if isinstance(self.design, ItemLists) else ()
        return (*self.notes, *self._dealing.warnings, *placed)

    @property
    def questions(self) -> list[QuestionUse]:
        """The questions that the items would be asked, and why others not."""
        counts = Counter(self.source_items.asked[option.id] for option in self.options)
        return asked_questions(self.questionnaire, counts)

    @cached_property
    def digest(self) -> str:
        """The fingerprint of the certificate, without counting it all."""
        return digest_design(self.design)

    @cached_property
    def certificate(self) -> Certificate:
        """The balance of the design. Counted when it is asked for, as it takes seconds for many."""
        raters = 1 if self.plan.dealing == "pool" else self.plan.raters
        return certify_design(
            design=self.design, raters=raters, exclusions=self.exclusions, marks=self._marks
        )

    @property
    def _marks(self) -> Marks | None:
        """Who would see the judges' marks on what, where these are withheld at random.

        In a pool nobody knows yet who takes what.
        """
        if self.plan.verdicts != "random" or self.plan.dealing == "pool":
            return None
        seed = self.plan.seed
        names = list(self.lists)
        return {
            name: {
                option: sees_marks(seed=seed, number=names.index(name) + 1, position=place)
                for place, option in enumerate(order, 1)
            }
            for name, order in main_orders(self.design).items()
        }

    @property
    def _dealing(self) -> Allocation:
        return self.design.dealt if isinstance(self.design, ItemLists) else self.design


def plan_study(plan: StudyPlan, *, seen: Visibility = EVERYTHING) -> PlannedStudy:
    """Compute the study that a plan results in; PlanError names all problems found together."""
    questionnaire = planned_questionnaire(plan)
    problems = [*simple_problems(plan), *background_problems(plan)]
    if plan.turn_by_turn and "turn" not in questionnaire.wants:
        words = f"{questionnaire.id} asks nothing about single turns, so none can be scored alone"
        problems.append(PlanProblem("turn_by_turn", words))
    withholds = questionnaire.unit == "trajectory" and shows_marks(questionnaire)
    if plan.verdicts == "random" and not withholds:
        words = f"{questionnaire.id} shows no marks of judges, so none can be withheld at random"
        problems.append(PlanProblem("verdicts", words))
    people, strangers = _people(plan)
    problems += strangers
    if problems:
        raise PlanError(problems)
    source_items = find_items(plan.items, questionnaire, seen)
    training, gold = find_specials(plan, questionnaire, source_items, seen)
    played = _played(people) if questionnaire.source == "trajectory" else {}
    apart = {special.pk for special in (*training, *gold)}
    if questionnaire.unit == "pair":
        played = played_pairs(played, [*apart, *(option.id for option in source_items.options)])
        apart |= {pair_id(*reversed(split_pair(pk))) for pk in apart}
    refuse_played_training(training, played)
    exclusions = _by_list(plan, played)
    candidates = [option for option in source_items.options if option.id not in apart]
    if not candidates:
        raise PlanError([PlanProblem("items", _nothing(source_items))])
    try:
        sampled = sample_options(options=candidates, sample=plan.items.sample, seed=plan.seed)
        options = _whole_queries(plan, sampled.options, source_items)
        dealing = _deal(plan, options, source_items, exclusions)
        design: Allocation | ItemLists = dealing
        if training or gold:
            design = place_specials(
                dealt=dealing,
                training=[special.pk for special in training],
                gold=[special.pk for special in gold],
                gold_each=_gold_each(plan, gold),
                exclusions=exclusions,
            )
    except DesignError as error:
        path = PATHS.get(error.field, error.field)
        raise PlanError(PlanProblem(path, words) for words in error.problems) from None
    items, lists = _items(plan, design, training, gold, questionnaire)
    used = {option.id for option in dealing.options}
    drawn = draw_probabilities(candidates, sampled, used)
    return PlannedStudy(
        plan, questionnaire, people, source_items, sampled, drawn, design, items, lists, exclusions,
        tuple(_notes(plan, sampled, dealing)),
    )  # fmt: skip


# --- People and what they may get -----------------------------------------------------------------


def _people(plan: StudyPlan) -> tuple[dict[str, User], list[PlanProblem]]:
    accounts = User.objects.filter(is_active=True).in_bulk(plan.annotators, field_name="username")
    missing = [name for name in plan.annotators if name not in accounts]
    people = {name: accounts[name] for name in plan.annotators if name in accounts}
    words = (
        f"no account with this name: {name_some(missing)}; leave their places free, and invite "
        "them by links"
    )
    return people, [PlanProblem("annotators", words)] if missing else []


def _played(people: Mapping[str, User]) -> dict[str, frozenset[int]]:
    """Return username → trajectories in which they played, of those who played in any."""
    played = players(people.values())
    return {
        name: frozenset(played[user.pk]) for name, user in people.items() if played.get(user.pk)
    }


def played_pairs(played: Mapping[K, Set[int]], ids: Iterable[int]) -> dict[K, frozenset[int]]:
    """Return those of the pairs of which each person played in one."""
    pairs = {pk: split_pair(pk) for pk in ids}
    return {
        key: frozenset(pk for pk, pair in pairs.items() if not own.isdisjoint(pair))
        for key, own in played.items()
    }


def _by_list(plan: StudyPlan, played: Mapping[str, frozenset[int]]) -> Mapping[str, frozenset[int]]:
    """Return what must not be on a list, because the account that claims it played in it."""
    if plan.dealing == "pool":
        return played
    accounts = zip(list_names(plan), plan.annotators, strict=False)
    return {name: played[account] for name, account in accounts if account in played}


def list_names(plan: StudyPlan) -> list[str]:
    """Return the names of a plan's lists, which are those of its places."""
    return [place_name(number) for number in range(1, plan.lists + 1)]


def refuse_played_training(
    training: Sequence[ResolvedSpecial], exclusions: Mapping[str, frozenset[int]]
) -> None:
    """Check that nobody played in a training item, as these are the same for all."""
    for special in training:
        names = sorted(name for name, ids in exclusions.items() if special.pk in ids)
        if names:
            words = f"{name_some(names)} played in this trajectory; choose another for training"
            raise PlanError([PlanProblem(special.path, words)])


# --- Dealing --------------------------------------------------------------------------------------


def _whole_queries(
    plan: StudyPlan, options: Sequence[DesignOption], source_items: SourceItems
) -> Sequence[DesignOption]:
    """Return the options of as many tasks, drawn by seed, as all lists together have room for."""
    if plan.queries_each is None or plan.order == "queries":  # which draws them itself
        return options
    tasks = sorted({source_items.task_of[option.id] for option in options})
    random.Random(derive_seed(plan.seed, "queries")).shuffle(tasks)
    chosen = set(tasks[: plan.queries_each * plan.lists // plan.raters])
    return [option for option in options if source_items.task_of[option.id] in chosen]


def _deal(
    plan: StudyPlan,
    options: Sequence[DesignOption],
    source_items: SourceItems,
    exclusions: Mapping[str, frozenset[int]],
) -> Allocation:
    if plan.order == "queries":
        return _deal_queries(plan, options, source_items, exclusions)
    if plan.dealing == "pool":
        return order_pool(options=options, method=plan.order, seed=plan.seed)
    dealt = deal_options(
        options=options,
        annotators=list_names(plan),
        raters=plan.raters,
        seed=plan.seed,
        unit="task" if plan.whole_tasks or plan.queries_each else "item",
        exclusions=exclusions,
    )
    return order_options(dealt=dealt, method=plan.order)


def _deal_queries(
    plan: StudyPlan,
    options: Sequence[DesignOption],
    source_items: SourceItems,
    exclusions: Mapping[str, frozenset[int]],
) -> Allocation:
    """Return the paper's design; refuse it if people would judge what they played in.

    The paper's design does not consider who played where, so this is checked afterwards.
    """
    queries: dict[int, list[int]] = {}
    for option in options:
        queries.setdefault(source_items.task_of[option.id], []).append(option.id)
    each = plan.queries_each or 1
    orders = deal_queries(
        annotators=list_names(plan), queries=queries, each=each, seed=plan.seed, raters=plan.raters
    )
    for name, order in orders.items():
        played = exclusions.get(name, frozenset()).intersection(order)
        if played:
            raise DesignError(
                "order",
                f"{name} would get {len(played)} trajectories in which they played: deal balanced "
                "blocks with whole tasks, which avoid that, or choose another seed",
                options=played,
            )
    used = {pk for order in orders.values() for pk in order}
    return Allocation(
        orders={name: tuple(orders[name]) for name in sorted(orders)},
        options=tuple(option for option in options if option.id in used),
        method=f"deal query × {plan.raters}, {each} each, order random",
        seed=plan.seed,
    )


def _gold_each(plan: StudyPlan, gold: Sequence[ResolvedSpecial]) -> int:
    """Return the gold items of each person; in a pool all of them stand among the others."""
    return len(gold) if plan.dealing == "pool" else plan.gold_each


def _items(
    plan: StudyPlan,
    design: Allocation | ItemLists,
    training: Sequence[ResolvedSpecial],
    gold: Sequence[ResolvedSpecial],
    questionnaire: Questionnaire,
) -> tuple[tuple[NewItem, ...], dict[str, list[int]]]:
    """Return the items in the order of storing (training first), and who gets which."""
    known = {special.pk: special for special in (*training, *gold)}
    assignments = (
        {n: [(s.option, s.part) for s in row] for n, row in design.lists.items()}
        if isinstance(design, ItemLists)
        else {name: [(pk, "item") for pk in order] for name, order in design.orders.items()}
    )
    named = plan.dealing == "named"
    names = list_names(plan)
    listed = [assignments[name] for name in (names if named else (POOL,))]
    uses = {TRAINING: Use.TRAINING, GOLD: Use.GOLD}
    wanted = Counter(pk for row in listed for pk, _ in row)
    places: dict[int, int] = {}
    items: list[NewItem] = []
    parts = {pk: part for row in listed for pk, part in row}
    for pk in sorted(parts, key=lambda pk: parts[pk] != TRAINING):  # stable
        places[pk] = len(items)
        items.append(
            NewItem(
                **unit_of(questionnaire, pk),
                wanted=wanted[pk] if named else plan.raters,
                use=uses.get(parts[pk], Use.MAIN),
                expected=known[pk].expected if pk in known else {},
            )
        )
    if not named:
        return tuple(items), {}
    return tuple(items), {
        name: [places[pk] for pk, part in assignments[name] if part != TRAINING] for name in names
    }


# --- Words ----------------------------------------------------------------------------------------


def _nothing(source_items: SourceItems) -> str:
    if source_items.options:
        return "nothing is left to judge beside the training and gold items"
    if source_items.unasked:
        return f"none of {source_items.unasked:,} items has anything that is asked about"
    return "nothing to assign: no trajectory of these runs has ended with something to judge"


def _notes(plan: StudyPlan, sampled: Sampled, dealing: Allocation) -> Iterator[str]:
    for row in sampled.report:
        if row.short:
            named = ", ".join(value for value in row.stratum if value)
            yield (
                f"{named + ': ' if named else ''}{row.wanted:,} wanted, "
                f"{row.available:,} there and taken"
            )
    busy = {name for name, order in dealing.orders.items() if order}
    if idle := [name for name in list_names(plan) if name not in busy]:
        yield f"{name_some(idle)} would get nothing to judge"


def planned_questionnaire(plan: StudyPlan) -> Questionnaire:
    try:
        questionnaire = load_questionnaire(plan.questionnaire)
    except QuestionnaireError as error:
        raise PlanError([PlanProblem("questionnaire", str(error))]) from None
    if questionnaire.unit == "person":
        words = f"{questionnaire.id} asks about annotators; give it as background"
        raise PlanError([PlanProblem("questionnaire", words)])
    return questionnaire


def simple_problems(plan: StudyPlan) -> Iterator[PlanProblem]:
    yield from form_problems(plan)
    if plan.closes_at is not None and plan.closes_at <= timezone.now():
        yield PlanProblem("closes_at", "the study would be closed already")
    named = plan.dealing == "named"
    if len(set(plan.annotators)) != len(plan.annotators):
        yield PlanProblem("annotators", "nobody can have two places")
    if named and not plan.lists:
        yield PlanProblem("places", "at least one annotator is needed")
    elif named and plan.raters > plan.lists:
        words = f"an item can have 1 to {plan.lists} of the annotators, not {plan.raters}"
        yield PlanProblem("raters", words)
    yield from _query_problems(plan)
    if plan.gold and named and not plan.gold_each:
        yield PlanProblem("gold_each", "say how many gold items each annotator gets")
    if plan.gold_each and not plan.gold:
        yield PlanProblem("gold", "there are no gold items to give")
    action = plan.gold_rule.action
    if action != NOTHING and not plan.gold:
        yield PlanProblem("gold_rule.action", "there are no gold items, so nothing can be missed")
    if action == TRAIN and not plan.training:
        yield PlanProblem("gold_rule.action", "there is no training to send anybody back to")
    for path, words in plan.retention.conflicts():
        yield PlanProblem(f"retention.{path}", words)


def _query_problems(plan: StudyPlan) -> Iterator[PlanProblem]:
    if plan.dealing == "pool":
        wished = {
            "order": plan.order == "queries",
            "whole_tasks": plan.whole_tasks,
            "queries_each": plan.queries_each is not None,
        }
        for name in (name for name, given in wished.items() if given):
            yield PlanProblem(name, "a pool cannot keep queries together; choose “balanced lists”")
    elif plan.order == "queries" and plan.queries_each is None:
        yield PlanProblem("queries_each", "say how many queries each annotator gets")


def background_problems(plan: StudyPlan) -> Iterator[PlanProblem]:
    if not plan.background:
        return
    try:
        asks = load_questionnaire(plan.background)
    except QuestionnaireError as error:
        yield PlanProblem("background", str(error))
    else:
        if asks.unit != "person":
            yield PlanProblem("background", f"{plan.background} does not ask about annotators")
