"""The draft of a new study, carried by the form from page to page.

The server stores nothing before the study is created, so two open drafts do not interfere.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from django import forms
from django.http import QueryDict

from annotation.designs.pairs import split_pair
from annotation.form_fields import PeopleField
from annotation.planning.forms import STEPS, BeforeForm, ItemsForm, QuestionnaireForm, StepForm
from annotation.planning.source_choices import MOST_SELECTED, CarriedChoice, SourceChoice
from annotation.plans.retention_rule import RetentionRule
from annotation.plans.study_plan import PlanProblem, SpecialItem, StudyPlan
from annotation.questionnaires import newest_questionnaires
from benchmarks.core.digests import storable
from benchmarks.models import Task
from benchmarks.paging import as_id
from benchmarks.visibility import Visibility

Given = dict[str, list[str]]
BY_KEY: Mapping[str, type[StepForm]] = {step.key: step for step in STEPS}
USES = ("training", "gold")
MOST_SPECIALS = 200
# Where a problem of the plan is told: path (or its beginning) → step and field.
PLACES: Mapping[str, tuple[str, str | None]] = {
    "items.sample.count": ("items", "count"),
    "items.sample.strata": ("items", "strata"),
    "items.sample.whole_tasks": ("items", "keep_tasks"),
    "items.sample": ("items", "way"),
    "items.agents": ("items", "agents"),
    "items.endings": ("items", "endings"),
    "items": ("items", "source"),
    "gold_rule.action": ("before", "gold_action"),
    "gold_rule.answers": ("before", "gold_answers"),
    "gold_rule.share": ("before", "gold_percent"),
    **{
        f"retention.{part.name}": ("before", f"retention_{part.name}")
        for part in fields(RetentionRule)
    },
    "training": ("before", None),
    "gold": ("before", None),
}


@dataclass
class Draft:
    """Fields of each step as they were sent, and the training and gold items chosen so far.

    ``specials``: rows {use, item, expected}; ``item`` is the id of a trajectory, a task or a pair.
    ``selection`` is what was chosen on the page from which the study is made.
    """

    given: dict[str, Given] = field(default_factory=dict)
    specials: list[dict[str, Any]] = field(default_factory=list)
    selection: CarriedChoice = CarriedChoice()

    @classmethod
    def read(cls, text: str) -> "Draft":
        """Return a draft as `text` wrote it; one that cannot be read is an empty one."""
        try:
            data = storable(json.loads(text)) if text else {}
            given = {
                str(step): {str(k): [str(v) for v in values] for k, values in fields.items()}
                for step, fields in data.get("given", {}).items()
                if step in BY_KEY
            }
            rows = [
                {"use": row["use"], "item": int(row["item"]), "expected": dict(row["expected"])}
                for row in data.get("specials", [])
                if row["use"] in USES
            ]
            chosen = data.get("selection", {})
            selection = CarriedChoice(_ids(chosen.get("runs")), _ids(chosen.get("trajectories")))
        except (ValueError, TypeError, AttributeError, KeyError, OverflowError, RecursionError):
            return cls()
        return cls(given, rows[:MOST_SPECIALS], selection)

    @property
    def text(self) -> str:
        chosen = {"selection": asdict(self.selection)} if self.selection else {}
        return json.dumps({"given": self.given, "specials": self.specials, **chosen})

    def take(self, step: str, sent: QueryDict) -> None:
        """Keep the fields of a step as they were sent."""
        wanted = BY_KEY[step].base_fields
        self.given[step] = {name: sent.getlist(name) for name in wanted if name in sent}

    def last(self, step: str, name: str) -> str:
        """Return the value of a field as it was sent; empty where it was not."""
        return next(reversed(self.given.get(step, {}).get(name, [])), "")

    # --- Training and gold items

    def special(self, item: int) -> dict[str, Any] | None:
        return next((row for row in self.specials if row["item"] == item), None)

    def add_special(self, use: str, item: int) -> None:
        if use in USES and self.special(item) is None and len(self.specials) < MOST_SPECIALS:
            self.specials.append({"use": use, "item": item, "expected": {}})

    def drop_special(self, item: int) -> None:
        self.specials = [row for row in self.specials if row["item"] != item]


@dataclass(frozen=True)
class Planner:
    """A draft together with what the planner may see: its forms, and the plan they make."""

    draft: Draft
    sources: Mapping[str, SourceChoice]
    seen: Visibility

    @property
    def chosen(self) -> SourceChoice:
        """The source chosen so far, else the newest."""
        named = self.draft.last("items", "source")
        return self.sources.get(named) or next(iter(self.sources.values()))

    def take(self, step: str, sent: QueryDict) -> list[str]:
        """Keep the fields of a step as they were sent, and clear what they make meaningless.

        Returns a sentence for each thing that was cleared. Agents and endings belong to a source;
        training and gold items to a source, and their expected answers to a questionnaire.
        """
        draft = self.draft
        source, form = draft.last("items", "source"), draft.last("form", "questionnaire")
        draft.take(step, sent)
        cleared = list(self._clear_filters()) if step == "items" else []
        if source and draft.last("items", "source") not in ("", source):
            cleared += self._clear_of_source()
        if form and (other := draft.last("form", "questionnaire")) not in ("", form):
            units = {q.id: q.unit for q in newest_questionnaires()}
            if units.get(form) == units.get(other):
                cleared += self._clear_expected()
            else:
                cleared += self._clear_specials("questionnaire")
        return cleared

    def _clear_filters(self) -> Iterator[str]:
        given = self.draft.given["items"]
        if self.draft.last("items", "shown_for") in ("", self.chosen.key):
            return
        filters = [name for name in ("agents", "endings") if given.pop(name, None)]
        given["shown_for"] = [self.chosen.key]
        if filters:
            yield f"The chosen {' and '.join(filters)} belonged to another source: choose again."

    def _clear_specials(self, of: str) -> Iterator[str]:
        count = len(self.draft.specials)
        if count:
            self.draft.specials.clear()
            words = "training or gold item" + "s" * (count > 1)
            yield f"{count} {words} of the other {of} {'was' if count == 1 else 'were'} removed."

    def _clear_of_source(self) -> Iterator[str]:
        yield from self._clear_specials("source")
        form = self.draft.last("form", "questionnaire")
        fits = {
            q.id
            for q in newest_questionnaires()
            if (q.system, q.source) == (self.chosen.system, self.chosen.unit)
        }
        if form and form not in fits:
            self.draft.given["form"].pop("questionnaire")
            yield f"{form} is not for this source: choose the questionnaire again."

    def _clear_expected(self) -> Iterator[str]:
        rows = [row for row in self.draft.specials if row["expected"]]
        for row in rows:
            row["expected"] = {}
        if rows:
            words = "training or gold item" + "s" * (len(rows) > 1)
            yield (
                f"The expected answers of {len(rows)} {words} belonged to the other questionnaire "
                "and were removed. Set them again under “Before the items”."
            )

    def form(self, step: str, *, check: bool) -> StepForm:
        """Return the form of a step: with its errors where it is to be checked, else as it was
        left.
        """
        kind, given = BY_KEY[step], self.draft.given.get(step)
        more: dict[str, Any] = {}
        if kind is ItemsForm:
            more = {"sources": self.sources, "seen": self.seen}
        elif kind is QuestionnaireForm:
            more = {"chosen": self.chosen}
        if check:
            return kind(_query(given or _usual(kind)), **more)
        return kind(initial=_initial(kind, given) if given is not None else None, **more)

    def forms(self) -> list[StepForm]:
        """Return the forms of all steps, to be checked in their order."""
        return [self.form(step.key, check=True) for step in STEPS]

    def plan(self, checked: Sequence[StepForm]) -> StudyPlan:
        """Return the plan that valid forms make."""
        wishes: dict[str, Any] = {}
        for form in checked:
            wishes |= form.wishes()
        for use in USES:
            wishes[use] = self._specials(use)
        return StudyPlan(**wishes)

    def _specials(self, use: str) -> tuple[SpecialItem, ...]:
        rows = [row for row in self.draft.specials if row["use"] == use]
        return tuple(special_of(row, self.chosen) for row in rows)


def special_of(row: Mapping[str, Any], chosen: SourceChoice) -> SpecialItem:
    """Return a chosen training or gold item as the plan names it."""
    if chosen.unit != "task":
        first, second = split_pair(row["item"])
        sides = (first, second) if first else (second, None)  # of one trajectory, or of a pair
        return SpecialItem(trajectory=sides[0], other=sides[1], expected=row["expected"])
    name = Task.objects.filter(pk=row["item"]).values_list("external_id", flat=True).first()
    return SpecialItem(task=name or "", expected=row["expected"])


def place_of(problem: PlanProblem) -> tuple[str, str | None]:
    """Return the step and the field at which a problem of the plan is told."""
    path = problem.path.partition("[")[0]
    while path:
        if path in PLACES:
            return PLACES[path]
        for step in STEPS:
            if path in step.paths:
                return step.key, step.paths[path]
            if path in step.base_fields:
                return step.key, path
        path = path.rpartition(".")[0]
    return "items", None


def draft_of_plan(plan: StudyPlan, source: str, specials: Sequence[dict[str, Any]] = ()) -> Draft:
    """Return the draft that a plan would be, for presets; ``source`` is the key of its source."""
    sample = plan.items.sample
    pages: dict[str, dict[str, Any]] = {
        "items": {
            "name": plan.name, "source": source, "shown_for": source,
            "agents": plan.items.agents, "endings": plan.items.endings,
            "trials": plan.items.trials, "way": sample.way, "count": sample.count,
            "strata": sample.strata, "allocation": sample.allocation,
            "keep_tasks": sample.whole_tasks, "take_fewer": sample.take_fewer,
        },
        "form": {
            "questionnaire": plan.questionnaire,
            "shows_hidden": "shown" if plan.shows_hidden else "kept",
            "blinded": "yes" if plan.blinded else "no",
            "verdicts": plan.verdicts, "question_order": plan.question_order,
            "turns": "one_by_one" if plan.turn_by_turn else "all",
        },
        "people": {
            "dealing": plan.dealing, "places": plan.places or None, "annotators": plan.annotators,
            "raters": plan.raters, "lease_minutes": plan.lease_minutes,
        },
        "dealing": {
            "order": plan.order, "queries_each": plan.queries_each,
            "whole_tasks": plan.whole_tasks, "seed": plan.seed,
        },
        "before": {
            "information": plan.information, "consent": plan.consent,
            "background": plan.background, "gold_each": plan.gold_each or None,
            "pass_mark": round(plan.pass_mark * 100), "idle_seconds": plan.idle_seconds,
            "break_minutes": plan.break_minutes, "gold_feedback": plan.gold_feedback,
            "gold_action": plan.gold_rule.action, "gold_answers": plan.gold_rule.answers,
            "gold_percent": round(plan.gold_rule.share * 100),
            **BeforeForm.retention_initial(plan.retention),
        },
    }  # fmt: skip
    given = {step: {k: _strings(v) for k, v in page.items()} for step, page in pages.items()}
    return Draft(given, list(specials))


def _ids(values: Any) -> tuple[int, ...]:
    """Return ids from a draft, at most as many as it may hold and one more."""
    ids = (as_id(str(value)) for value in (values or ())[: MOST_SELECTED + 1])
    return tuple(pk for pk in ids if pk is not None)


def _strings(value: Any) -> list[str]:
    if value is None or value is False or value == "":
        return []
    if value is True:
        return ["on"]
    return [str(item) for item in value] if isinstance(value, list | tuple) else [str(value)]


def _query(given: Given) -> QueryDict:
    sent = QueryDict(mutable=True)
    for name, values in given.items():
        sent.setlist(name, values)
    return sent


def _usual(kind: type[StepForm]) -> Given:
    """Return what a step holds that nobody has looked at: its initial values."""
    return {name: _strings(f.initial) for name, f in kind.base_fields.items() if f.initial}


def _initial(kind: type[StepForm], given: Given) -> dict[str, Any]:
    initial: dict[str, Any] = {}
    for name, f in kind.base_fields.items():
        values = given.get(name, [])
        if isinstance(f, forms.MultipleChoiceField | PeopleField):
            initial[name] = values
        elif isinstance(f, forms.BooleanField):
            initial[name] = bool(values)
        else:
            initial[name] = values[-1] if values else ""
    return initial
