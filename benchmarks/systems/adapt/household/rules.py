"""The rules that check preferences: 17 forms, each with a value and what it rests on.

A rule is satisfied, violated or inapplicable. It applies to dishes that the task expects, or that
were made. An expected dish that was not completed makes its applicable rules violated (the paper's
subtask failure, section 6.1). What is available is decided by the scene as it was at the start.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

from benchmarks.systems.adapt.household.dishes import BASES, EGGS, Dish, DishPart, find_dishes
from benchmarks.systems.adapt.household.inventory import Inventory
from benchmarks.systems.adapt.household.world import World

SATISFIED, VIOLATED, INAPPLICABLE = "satisfied", "violated", "inapplicable"
DINING = "dining"
_MARKS = re.compile("([+-])")


class GoalVerdict(NamedTuple):
    """The value of a rule, why in a few words, and which objects at which step it rests on."""

    value: str
    why: str
    objects: tuple[str, ...] = ()
    step: int | None = None

    @property
    def record(self) -> dict[str, Any]:
        return {
            "value": self.value, "why": self.why, "objects": list(self.objects), "step": self.step,
        }  # fmt: skip


@dataclass(frozen=True)
class Rule:
    """A rule as read: its form, the kinds of dish it is about, its arguments and inner rules."""

    form: str
    of: tuple[str, ...] = ()
    args: Mapping[str, Any] = field(default_factory=dict)
    inner: tuple["Rule", ...] = ()


class HouseholdGoal(NamedTuple):
    """The goal of a task: dishes, and the style that its eggs must have, if any."""

    task: str
    expects: tuple[str, ...]
    style: str = ""


class Judge:
    """Evaluates rules on the state of one household."""

    def __init__(self, world: World, goal: HouseholdGoal) -> None:
        self.world, self.goal = world, goal
        self.inventory: Inventory = world.inventory
        self.dishes: Mapping[str, Dish] = {}
        self._available: dict[int, str] = {}
        self._active: frozenset[str] = frozenset()
        self._missed: tuple[str, ...] = ()

    def judge(self, rules: Sequence[Rule]) -> list[GoalVerdict]:
        """Return the verdicts of rules on the state as it is now."""
        self.dishes = find_dishes(self.world)
        self._active = frozenset(self.goal.expects) | self.dishes.keys()
        self._missed = tuple(kind for kind in self.goal.expects if not self.completed(kind))
        return [self.value(rule) for rule in rules]

    def completed(self, kind: str) -> bool:
        """Return whether an expected dish exists, in the style that the task wants."""
        dish = self.dishes.get(kind)
        if dish is None:
            return False
        return kind != EGGS or not self.goal.style or dish.style == self.goal.style

    def missing(self, kinds: Sequence[str]) -> list[str]:
        """Return which kinds are expected and not completed."""
        return [kind for kind in self._missed if kind in kinds]

    def value(self, rule: Rule) -> GoalVerdict:
        """Return the verdict of one rule."""
        if rule.form in _WHOLE:
            return _WHOLE[rule.form](self, rule)
        active = self._active
        if active.isdisjoint(rule.of):
            return _NO_DISH
        kinds = [kind for kind in rule.of if kind in active]
        if lacking := self._unavailable(rule):
            return GoalVerdict(INAPPLICABLE, lacking)
        missing = self._missed
        verdicts = [
            self._missing(rule, kind)
            if kind in missing
            else _ON_DISH[rule.form](self, rule, self.dishes[kind])
            for kind in kinds
        ]
        return verdicts[0] if len(verdicts) == 1 else _join(verdicts)

    def _missing(self, rule: Rule, kind: str) -> GoalVerdict:
        """Return the verdict on an expected dish that was not completed."""
        passes = rule.args.get("absent") in ("inapplicable", "skip")
        if rule.form in ("only", "tool") and passes:
            scope = {selector.partition("+")[0] for selector in rule.args["scope"]}
            if BASES[kind] not in scope:
                return GoalVerdict(INAPPLICABLE, f"{_words(kind)} was not made, and nothing used")
        return GoalVerdict(VIOLATED, f"{_words(kind)} was not made")

    def _unavailable(self, rule: Rule) -> str:
        """Return why a rule cannot apply in this scene; '' if it can."""
        reason = self._available.get(id(rule))
        if reason is None:
            reason = self._available[id(rule)] = self._why_unavailable(rule)
        return reason

    def _why_unavailable(self, rule: Rule) -> str:
        args, present = rule.args, self.world.present
        match rule.form:
            case "include":
                if len(present & self.inventory.pick_any(args["sel"])) < args["min"]:
                    return f"the household has too few of {_or(args['sel'])}"
            case "only" | "tool":
                none = present.isdisjoint(self.inventory.pick_any(args["allow"]))
                if none and args["absent"] != SATISFIED:
                    return f"the household has no {_or(args['allow'])}"
            case "serve_with":
                if present.isdisjoint(self.inventory.pick(BASES[args["dish"]])):
                    return f"the household has no {BASES[args['dish']]}"
            case "method" | "prefer":
                if not self._first_present(args["chain"]):
                    return f"the household has no {_or(args['chain'])}"
            case "style":
                if self.goal.task in args["unless_task"]:
                    return "the task asks for a style of its own"
        return ""

    def _first_present(self, chain: Sequence[str]) -> str:
        present = self.world.present
        return next((s for s in chain if not present.isdisjoint(self.inventory.pick(s))), "")

    def _matching(
        self, parts: Mapping[str, DishPart], selectors: tuple[str, ...]
    ) -> list[DishPart]:
        picked = self.inventory.pick_any(selectors)
        return [part for base, part in parts.items() if base in picked]

    # --- Forms on one dish ------------------------------------------------------------------------

    def _include(self, rule: Rule, dish: Dish) -> GoalVerdict:
        args = rule.args
        parts = self._matching(dish.role(args["role"]), args["sel"])
        if args["heated"]:
            parts = [part for part in parts if dish.part_heated(part)]
        if len(parts) >= args["min"]:
            return _resting(SATISFIED, parts, f"{_ROLES[args['role']]} {_words(dish.kind)}")
        how = "heated " if args["heated"] else ""
        wanted = f"{args['min']} of " if args["min"] > 1 else ""
        why = (
            f"no {how}{_or(args['sel'])}" if not parts else f"fewer than {wanted}{_or(args['sel'])}"
        )
        return _resting(VIOLATED, parts, f"{why} {_ROLES[args['role']]} {_words(dish.kind)}")

    def _exclude(self, rule: Rule, dish: Dish) -> GoalVerdict:
        parts = self._matching(dish.role(rule.args["role"]), rule.args["sel"])
        where = f"{_ROLES[rule.args['role']]} {_words(dish.kind)}"
        if parts:
            return _resting(VIOLATED, parts, where)
        return GoalVerdict(SATISFIED, f"no {_or(rule.args['sel'])} {where}", (), dish.done)

    def _only(self, rule: Rule, dish: Dish) -> GoalVerdict:
        args = rule.args
        used = self._matching({**dish.added, **dish.base}, args["scope"])
        allowed = self.inventory.pick_any(args["allow"])
        if wrong := [part for part in used if part.base not in allowed]:
            return _resting(VIOLATED, wrong, f"in {_words(dish.kind)}, not allowed")
        if used:
            return _resting(SATISFIED, used, f"in {_words(dish.kind)}, allowed")
        return GoalVerdict(args["absent"], f"no {_or(args['scope'])} in {_words(dish.kind)}")

    def _style(self, rule: Rule, dish: Dish) -> GoalVerdict:
        made = dish.style or "no style that can be told"
        value = SATISFIED if dish.style in rule.args["any"] else VIOLATED
        return GoalVerdict(value, _words(made), tuple(n.name for n in dish.defining), dish.done)

    def _temp(self, rule: Rule, dish: Dish) -> GoalVerdict:
        ice = dish.iced
        if rule.args["is"] == "iced":
            value = SATISFIED if ice else VIOLATED
        else:
            value = SATISFIED if dish.hot and not ice else VIOLATED
        is_ = "iced" if ice else "hot" if dish.hot else "neither heated nor iced"
        return GoalVerdict(value, f"{_words(dish.kind)} is {is_}", (ice,) if ice else (), dish.done)

    def _add_order(self, rule: Rule, dish: Dish) -> GoalVerdict:
        times = []
        every = {**dish.added, **dish.base}
        for name in ("first", "then"):
            parts = self._matching(every, rule.args[name])
            if not parts:
                why = f"no {_or(rule.args[name])} in {_words(dish.kind)}"
                return GoalVerdict(INAPPLICABLE, why)
            times.append(min((dish.entered[part.base], part.base) for part in parts))
        (first, a), (then, b) = times
        value = SATISFIED if first < then else VIOLATED
        return GoalVerdict(value, f"{a} at step {first[0]}, {b} at step {then[0]}", (a, b), then[0])

    def _serve_with(self, rule: Rule, dish: Dish) -> GoalVerdict:
        other = self.dishes.get(rule.args["dish"])
        if other is not None and other.furniture is dish.furniture:
            where = dish.furniture.name
            step = max(dish.served, other.served)
            return GoalVerdict(
                SATISFIED, f"{_words(other.kind)} on {where}", (other.vessel.name,), step
            )
        return GoalVerdict(VIOLATED, f"no {_words(rule.args['dish'])} with {_words(dish.kind)}")

    def _tool(self, rule: Rule, dish: Dish) -> GoalVerdict:
        scope = self.inventory.pick_any(rule.args["scope"])
        allowed = self.inventory.pick_any(rule.args["allow"])
        used = {name: t for name, t in dish.tools.items() if name in scope}
        if wrong := [name for name in used if name not in allowed]:
            return GoalVerdict(
                VIOLATED, f"used for {_words(dish.kind)}", tuple(wrong), used[wrong[0]]
            )
        if used:
            step = max(used.values())
            return GoalVerdict(SATISFIED, f"used for {_words(dish.kind)}", tuple(used), step)
        value = INAPPLICABLE if rule.args["absent"] == "skip" else VIOLATED
        return GoalVerdict(value, f"no {_or(rule.args['scope'])} used for {_words(dish.kind)}")

    def _method(self, rule: Rule, dish: Dish) -> GoalVerdict:
        wanted = self._first_present(rule.args["chain"])
        picked = self.inventory.pick(wanted)
        for name, t in dish.used.items():
            if name in picked:
                return GoalVerdict(SATISFIED, f"used for {_words(dish.kind)}", (name,), t)
        return GoalVerdict(VIOLATED, f"no {selector_words(wanted)} used for {_words(dish.kind)}")

    def _prefer(self, rule: Rule, dish: Dish) -> GoalVerdict:
        wanted = self._first_present(rule.args["chain"])
        parts = self._matching(dish.added, (wanted,))
        if parts:
            return _resting(SATISFIED, parts, f"in {_words(dish.kind)}")
        return GoalVerdict(VIOLATED, f"no {selector_words(wanted)} in {_words(dish.kind)}")

    def _together(self, rule: Rule, dish: Dish) -> GoalVerdict:
        matching = [self._matching(dish.added, (selector,)) for selector in rule.args["sel"]]
        parts = [part for some in matching for part in some]
        where = f"in {_words(dish.kind)}"
        if all(matching):
            return _resting(SATISFIED, parts, where)
        if parts:
            return _resting(VIOLATED, parts, f"alone {where}")
        return GoalVerdict(INAPPLICABLE, f"none of {_or(rule.args['sel'])} {where}")

    def _max_ingredients(self, rule: Rule, dish: Dish) -> GoalVerdict:
        used = tuple({**dish.base, **dish.added})
        value = SATISFIED if len(used) <= rule.args["n"] else VIOLATED
        return GoalVerdict(
            value, f"{len(used)} ingredients in {_words(dish.kind)}", used, dish.done
        )

    # --- Forms on the whole meal ------------------------------------------------------------------

    def _location(self, rule: Rule) -> GoalVerdict:
        if missing := self.missing(self.goal.expects):
            return GoalVerdict(VIOLATED, f"{_words(missing[0])} was not made")
        wanted, ends, right = rule.args["any"], [], True
        for kind in self.goal.expects:
            furniture = self.dishes[kind].furniture
            dining = DINING in wanted and DINING in furniture.thing.attributes
            right &= dining or furniture.id in wanted or furniture.parent in wanted
            ends.append(furniture.id)
        step = max(self.dishes[kind].served for kind in self.goal.expects)
        on = ", ".join(dict.fromkeys(ends))
        value = SATISFIED if right else VIOLATED
        return GoalVerdict(value, f"served on {on}", tuple(dict.fromkeys(ends)), step)

    def _serve_order(self, rule: Rule) -> GoalVerdict:
        groups = [rule.args["first"], rule.args["then"]]
        for group in groups:
            if not any(kind in self.goal.expects or kind in self.dishes for kind in group):
                return GoalVerdict(INAPPLICABLE, "not both are part of the meal")
        if missing := self.missing([kind for group in groups for kind in group]):
            return GoalVerdict(VIOLATED, f"{_words(missing[0])} was not made")
        made = [[self.dishes[k] for k in group if k in self.dishes] for group in groups]
        first = max(made[0], key=lambda dish: dish.served)
        then = min(made[1], key=lambda dish: dish.served)
        value = SATISFIED if first.served < then.served else VIOLATED
        why = f"{_words(first.kind)} at step {first.served}, {_words(then.kind)} at {then.served}"
        return GoalVerdict(value, why, (first.vessel.name, then.vessel.name), then.served)

    def _all(self, rule: Rule) -> GoalVerdict:
        return _join([self.value(inner) for inner in rule.inner])

    def _any(self, rule: Rule) -> GoalVerdict:
        verdicts = [self.value(inner) for inner in rule.inner]
        for value in (SATISFIED, VIOLATED):
            for verdict in verdicts:
                if verdict.value == value:
                    return verdict
        return verdicts[0]

    def _if(self, rule: Rule) -> GoalVerdict:
        condition, then = rule.inner
        value = self.value(condition)
        # A dish that is missing fails its rules; that it met no condition is no way out.
        if value.value == SATISFIED or (then.of and self.missing(then.of)):
            return self.value(then)
        return GoalVerdict(INAPPLICABLE, f"does not apply: {value.why}", value.objects, value.step)


_NO_DISH = GoalVerdict(INAPPLICABLE, "the task has no such dish")
_WHOLE: Mapping[str, Callable[[Judge, Rule], GoalVerdict]] = {
    "location": Judge._location, "serve_order": Judge._serve_order,
    "all": Judge._all, "any": Judge._any, "if": Judge._if,
}  # fmt: skip
_ON_DISH: Mapping[str, Callable[[Judge, Rule, Dish], GoalVerdict]] = {
    "include": Judge._include, "exclude": Judge._exclude, "only": Judge._only,
    "style": Judge._style, "temp": Judge._temp, "add_order": Judge._add_order,
    "serve_with": Judge._serve_with, "tool": Judge._tool, "method": Judge._method,
    "prefer": Judge._prefer, "together": Judge._together,
    "max_ingredients": Judge._max_ingredients,
}  # fmt: skip
FORMS = (*_ON_DISH, *_WHOLE)
_ROLES = {
    "added": "in", "mixed": "mixed into", "topping": "on top of", "side": "beside",
    "with": "with", "base": "as the base of",
}  # fmt: skip
ROLES = tuple(_ROLES)


def _join(verdicts: Sequence[GoalVerdict]) -> GoalVerdict:
    """Return the worst verdict: one violated counts, else one satisfied, else none applies."""
    for value in (VIOLATED, SATISFIED):
        for verdict in verdicts:
            if verdict.value == value:
                return verdict
    return verdicts[0]


def _resting(value: str, parts: Sequence[DishPart], why: str) -> GoalVerdict:
    step = max((part.t for part in parts), default=None)
    return GoalVerdict(value, why, tuple(part.base for part in parts), step)


@cache
def _words(name: str) -> str:
    return name.replace("_", " ")


@cache
def _or(selectors: tuple[str, ...]) -> str:
    """Return selectors as a person would name them."""
    return " or ".join(map(selector_words, selectors))


@cache
def selector_words(selector: str) -> str:
    """Return a selector in words: "milk+dairy-full_fat" is "dairy milk (not full fat)"."""
    pieces = _MARKS.split(selector)
    category, marks = pieces[0], list(zip(pieces[1::2], pieces[2::2], strict=True))
    wanted = [_words(word) for sign, word in marks if sign == "+"]
    banned = [_words(word) for sign, word in marks if sign == "-"]
    noun = {"*": "" if wanted else "thing", "*edible": "food"}.get(category, _words(category))
    # "avocado+avocado" would say a word twice.
    plain = " ".join([*(word for word in wanted if word != noun), noun]).strip()
    return plain + (f" (not {', '.join(banned)})" if banned else "")
