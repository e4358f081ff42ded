"""Recipes of the scripted agent: told preferences and seeded defaults become actions.

Each choice is drawn from the episode's number and the name of the choice, so that asking twice
gives the same plan.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.systems.adapt.household.dishes import (
    BASES,
    CEREAL,
    COFFEE,
    DRINKS,
    EGGS,
    TEA,
    TOAST,
    YOGHURT,
)
from benchmarks.systems.adapt.household.inventory import Inventory
from benchmarks.systems.adapt.household.rules import DINING, Rule

# What a cook adds of its own accord, by dish: selectors, each with the usual odds.
_EXTRAS: Mapping[str, tuple[str, ...]] = {
    EGGS: ("cheese", "vegetable", "spice+salt", "spice+pepper", "butter"),
    TOAST: ("butter", "spread"),
    CEREAL: ("fruit", "sweetener"),
    YOGHURT: ("fruit", "granola", "nut", "sweetener"),
    COFFEE: ("milk", "sweetener"),
    TEA: ("milk", "sweetener"),
}
# Style of eggs: verb and name of the result.
_STYLES: Mapping[str, tuple[str, str]] = {
    "scrambled": ("Scramble", "scrambled_eggs"),
    "omelette": ("Cook", "omelette"),
    "poached": ("Poach", "poached_eggs"),
    "over_easy": ("Fry", "fried_eggs"),
    "boiled": ("Boil", "boiled_eggs"),
}
_WATER, _ICE = "water_bottle_0", "ice_tray_0"


@dataclass(frozen=True)
class Rates:
    """The error rates of the scripted agent; fixed before any run was made."""

    slip: float = 0.15
    extra: float = 0.3
    iced: float = 0.2
    cereal_milk: float = 0.9


@dataclass
class _Wanted:
    """The ingredients of one dish by place: in the base's mixture, on top, beside, heated."""

    mixed: list[str] = field(default_factory=list)
    melted: list[str] = field(default_factory=list)
    topping: list[str] = field(default_factory=list)
    side: list[str] = field(default_factory=list)
    hot_side: list[str] = field(default_factory=list)

    def __contains__(self, name: str) -> bool:
        return any(name in part for part in vars(self).values())


class Cook:
    """Plans one meal from what is known of the household and of the person."""

    def __init__(
        self,
        inventory: Inventory,
        known: Sequence[str],
        rules: Sequence[Rule],
        draw: int,
        rates: Rates,
    ) -> None:
        self.inventory, self.rates, self.draw = inventory, rates, draw
        order = inventory.order
        self.known = sorted((n for n in set(known) if n in order), key=order.__getitem__)
        self.rules = [simple for rule in rules for simple in self._simple(rule)]
        self.taken: set[str] = set()

    # --- Chance and choice ------------------------------------------------------------------------

    def _rng(self, name: str) -> random.Random:
        return random.Random(f"{self.draw}:{name}")

    def _happens(self, name: str, odds: float) -> bool:
        return self._rng(name).random() < odds

    def _slips(self, name: str) -> bool:
        """Return whether a step that fills a slot is forgotten."""
        return self._happens(f"slip:{name}", self.rates.slip)

    def _match(self, selectors: Sequence[str]) -> list[str]:
        picked = self.inventory.pick_any(tuple(selectors))
        return [name for name in self.known if name in picked]

    def _simple(self, rule: Rule) -> Iterator[Rule]:
        """Yield the rules without composition that a rule asks for."""
        if rule.form == "any":
            inner = [r for r in rule.inner if not r.args.get("sel") or self._match(r.args["sel"])]
            yield from self._simple((inner or rule.inner)[0])
        elif rule.inner:
            for one in rule.inner:
                yield from self._simple(one)
        else:
            yield rule

    def _of(self, kind: str, form: str) -> list[Rule]:
        return [rule for rule in self.rules if rule.form == form and kind in rule.of]

    def _allowed(self, kind: str, name: str) -> bool:
        """Return whether known preferences let something go into a dish."""
        for rule in self._of(kind, "exclude"):
            if name in self.inventory.pick_any(rule.args["sel"]):
                return False
        for rule in self._of(kind, "only"):
            scope = self.inventory.pick_any(rule.args["scope"])
            if name in scope and name not in self.inventory.pick_any(rule.args["allow"]):
                return False
        return True

    def _choose(self, kind: str, slot: str, selectors: Sequence[str], n: int = 1) -> list[str]:
        """Return up to n things that may go into a dish, drawn for this slot."""
        names = [name for name in self._match(selectors) if self._allowed(kind, name)]
        rng = self._rng(f"{kind}:{slot}")
        rng.shuffle(names)
        return names[:n]

    def _tool(self, kind: str, slot: str, selectors: Sequence[str]) -> str:
        """Return cookware or a vessel that is free, one that preferences allow if there is one."""
        names = [name for name in self._match(selectors) if name not in self.taken]
        for rule in self._of(kind, "tool"):
            scope = self.inventory.pick_any(rule.args["scope"])
            allow = self.inventory.pick_any(rule.args["allow"])
            right = [name for name in names if name in allow or name not in scope]
            if right and not self._slips(f"{kind}:tool:{slot}"):
                names = right
        if not names:
            return ""
        name = self._rng(f"{kind}:{slot}").choice(names)
        self.taken.add(name)
        return name

    # --- The meal ---------------------------------------------------------------------------------

    def plan(self, expects: Sequence[str], style: str) -> list[str]:
        """Return the actions for all dishes of a meal, in order."""
        dishes = list(expects)
        for rule in self.rules:
            other = rule.args.get("dish", "")
            fits = rule.form == "serve_with" and set(rule.of) & set(expects)
            if fits and other not in dishes and not self._slips(f"with:{other}"):
                dishes.append(other)
        dishes = self._ordered(dishes)
        place = self._location()
        actions: list[str] = []
        for kind in dishes:
            actions += self._dish(kind, style, place)
        return actions

    def _ordered(self, dishes: list[str]) -> list[str]:
        """Return dishes in the order in which they are served."""
        self._rng("order").shuffle(dishes)
        for rule in self.rules:
            if rule.form == "serve_order" and not self._slips("serve_order"):
                rank = dict.fromkeys(rule.args["first"], 0)
                rank |= dict.fromkeys(rule.args["then"], 2)
                dishes.sort(key=lambda kind: rank.get(kind, 1))
        return dishes

    def _location(self) -> str:
        furniture = self.inventory.furniture
        usual = [f.id for f in furniture if DINING in f.attributes or f.id == "counter_0"]
        for rule in self.rules:
            if rule.form == "location" and not self._slips("location"):
                wanted = rule.args["any"]
                places = [
                    f.id for f in furniture
                    if f.id in wanted
                    or (DINING in f.attributes and (f.place in wanted or DINING in wanted))
                ]  # fmt: skip
                usual = places or usual
        return self._rng("location").choice(usual)

    def _dish(self, kind: str, style: str, place: str) -> list[str]:
        base = self._choose(kind, "base", [BASES[kind]]) or self._match([BASES[kind]])[:1]
        if not base:
            return []
        wanted = self._wanted(kind)
        make = {
            EGGS: self._eggs, TOAST: self._toast, CEREAL: self._loose, YOGHURT: self._loose,
            COFFEE: self._coffee, TEA: self._tea,
        }.get(kind)  # fmt: skip
        if make is None:
            return []
        actions, vessel = make(kind, base[0], wanted, style)
        if not vessel:
            return []
        actions.append(f"Move {vessel} to {place}")
        actions += [f"Move {name} to {place}" for name in wanted.side]
        if wanted.hot_side and (pan := self._tool(kind, "second pan", ["cookware-appliance"])):
            actions += [f"Move {name} to {pan}" for name in wanted.hot_side]
            actions += [f"Move {pan} to stove_0", f"Saute items in {pan} to get sauteed_side",
                        f"Move sauteed_side to {place}"]  # fmt: skip
        return actions

    def _wanted(self, kind: str) -> _Wanted:
        """Return what goes into a dish: what was asked for, then what a cook does unasked."""
        wanted = _Wanted()
        rules = self._of(kind, "include") + self._of(kind, "prefer") + self._of(kind, "together")
        for number, rule in enumerate(rules):
            self._include(kind, rule, wanted, f"{rule.form}{number}")
        for rule in self._of(kind, "only"):
            # Where something has to be used, one of what is allowed.
            must = rule.args["absent"] == "violated" and BASES[kind] not in rule.args["scope"]
            if must and not self._slips(f"{kind}:only"):
                wanted.melted += self._choose(kind, "only", rule.args["allow"])
        known = {
            selector.partition("+")[0].partition("-")[0]
            for rule in self.rules
            if kind in rule.of
            for name in ("sel", "scope", "chain")
            for selector in rule.args.get(name, ())
        }
        if self._of(kind, "max_ingredients"):
            return wanted
        extras = dict.fromkeys(_EXTRAS[kind], self.rates.extra)
        if kind == CEREAL:
            extras["milk"] = self.rates.cereal_milk
        for selector, odds in extras.items():
            is_known = selector.partition("+")[0] in known and selector != "milk"
            if not is_known and self._happens(f"{kind}:extra:{selector}", odds):
                for name in self._choose(kind, selector, [selector]):
                    if name not in wanted:
                        wanted.mixed.append(name)
        return wanted

    def _include(self, kind: str, rule: Rule, wanted: _Wanted, slot: str) -> None:
        args = rule.args
        if args.get("role") == "base":
            return
        chosen: list[str] = []
        if rule.form == "together":
            for selector in args["sel"]:
                chosen += self._choose(kind, f"{slot}:{selector}", [selector])
        elif rule.form == "prefer":
            for selector in args["chain"]:
                chosen = chosen or self._choose(kind, slot, [selector])
        else:
            here = [name for name in self._match(args["sel"]) if name in wanted]
            chosen = self._choose(kind, slot, args["sel"], args["min"])
            chosen = [*here, *(name for name in chosen if name not in here)][: args["min"]]
        role, heated = args.get("role", "added"), args.get("heated", False)
        if role == "side":
            into = wanted.hot_side if heated else wanted.side
        elif heated:
            into = wanted.melted
        else:
            into = wanted.topping if role == "topping" or kind == TOAST else wanted.mixed
        for name in chosen:
            beside = role == "side" and name not in (*wanted.side, *wanted.hot_side)
            if (beside or name not in wanted) and not self._slips(f"{kind}:{slot}:{name}"):
                into.append(name)

    def _sorted(self, kind: str, names: list[str]) -> list[str]:
        """Return ingredients in the order in which they are put in."""
        for rule in self._of(kind, "add_order"):
            if self._slips(f"{kind}:add_order"):
                continue
            first = self.inventory.pick_any(rule.args["first"])
            then = self.inventory.pick_any(rule.args["then"])
            names.sort(key=lambda name: 0 if name in first else 2 if name in then else 1)
        return names

    # --- One recipe each --------------------------------------------------------------------------

    def _loose(self, kind: str, base: str, wanted: _Wanted, style: str) -> tuple[list[str], str]:
        """Cook cereal and yoghurt: everything goes into a bowl."""
        extra = ["glassware+parfait"] if kind == YOGHURT else []
        vessel = self._tool(kind, "bowl", ["bowl", *extra])
        milk = [name for name in wanted.mixed if name in self.inventory.pick("milk")]
        rest = [name for name in (*wanted.mixed, *wanted.melted) if name not in milk]
        start = [base, *milk]
        self._rng(f"{kind}:milk first").shuffle(start)
        names = self._sorted(kind, [*start, *rest, *wanted.topping])
        return [f"Move {name} to {vessel}" for name in dict.fromkeys(names)], vessel

    def _eggs(self, kind: str, base: str, wanted: _Wanted, style: str) -> tuple[list[str], str]:
        bowl = self._tool(kind, "mixing bowl", ["prep_bowl"]) or self._tool(kind, "b", ["bowl"])
        pan = self._tool(kind, "pan", ["cookware-appliance"])
        plate = self._tool(kind, "plate", ["plate"])
        if not (bowl and pan and plate):
            return [], ""
        styles = [style] if style else ["scrambled", "omelette", "over_easy", "boiled"]
        for rule in () if style else self._of(kind, "style"):
            if not self._slips(f"{kind}:style"):
                styles = list(rule.args["any"])
        verb, name = _STYLES[self._rng(f"{kind}:style").choice(styles)]
        tool = self._tool(kind, "spatula", ["utensil+spatula"])
        actions = [f"Move {one} to {bowl}" for one in self._sorted(kind, [base, *wanted.mixed])]
        actions += [
            f"Mix all items in {bowl} to get egg_mixture",
            f"Move {pan} to stove_0",
            f"Pour egg_mixture from {bowl} into {pan}",
        ]
        actions += [f"Move {one} to {pan}" for one in wanted.melted]
        actions.append(f"{verb} items in {pan} to get {name}" + (f" with {tool}" if tool else ""))
        actions.append(f"Move {name} to {plate}")
        return [*actions, *(f"Move {one} to {plate}" for one in wanted.topping)], plate

    def _toast(self, kind: str, base: str, wanted: _Wanted, style: str) -> tuple[list[str], str]:
        plate = self._tool(kind, "plate", ["plate"])
        slice_ = self.inventory.things[base].base_name
        actions = [f"Move {base} to toaster_0", "Heat toaster_0",
                   f"Move {slice_} from toaster_0 to {plate}"]  # fmt: skip
        adds = (*wanted.mixed, *wanted.melted, *wanted.topping)
        return [*actions, *(f"Move {one} to {plate}" for one in adds)], plate

    def _kettle(self) -> tuple[list[str], str]:
        """Return the actions that heat water, and what it is in."""
        for name in ("electric_kettle_0", "stovetop_kettle_0"):
            if name in self.known:
                return [f"Move {_WATER} to {name}", f"Heat {name}"], name
        for appliance, vessels in (("stove_0", "cookware+pot"), ("microwave_0", "mug")):
            if pot := self._tool(TEA, "pot", [vessels]):
                return [f"Move {_WATER} to {pot}", f"Move {pot} to {appliance}", f"Heat {pot}"], pot
        return [], ""

    def _cup(self, kind: str) -> tuple[str, bool]:
        """Return a cup or glass, and whether the drink is iced."""
        iced = self._happens(f"{kind}:iced", self.rates.iced)
        for rule in self._of(kind, "temp"):
            if not self._slips(f"{kind}:temp"):
                iced = rule.args["is"] == "iced"
        iced = iced and _ICE in self.known
        picky = any("mug" in rule.args["scope"] for rule in self._of(kind, "tool"))
        return self._tool(kind, "cup", ["mug", "glassware"] if picky or iced else ["mug"]), iced

    def _finish(
        self, kind: str, actions: list[str], cup: str, iced: bool, wanted: _Wanted
    ) -> tuple[list[str], str]:
        adds = self._sorted(kind, [*wanted.mixed, *wanted.melted, *wanted.topping])
        ice = [_ICE] if iced else []
        return [*actions, *(f"Move {one} to {cup}" for one in (*adds, *ice))], cup

    def _tea(self, kind: str, base: str, wanted: _Wanted, style: str) -> tuple[list[str], str]:
        cup, iced = self._cup(kind)
        actions, kettle = self._kettle()
        if not (cup and kettle):
            return [], ""
        actions = [*actions, f"Pour water from {kettle} into {cup}", f"Move {base} to {cup}"]
        return self._finish(kind, actions, cup, iced, wanted)

    def _coffee(self, kind: str, base: str, wanted: _Wanted, style: str) -> tuple[list[str], str]:
        cup, iced = self._cup(kind)
        strong = [r for r in self._of(kind, "include") if r.args["role"] == "base"]
        if strong and not self._slips(f"{kind}:base"):
            base = (self._choose(kind, "base", strong[0].args["sel"]) or [base])[0]
        gear = self._choose(kind, "gear", ["coffee_gear"])
        for rule in self._of(kind, "method"):
            if not self._slips(f"{kind}:method"):
                gear = next(
                    (found for s in rule.args["chain"] if (found := self._match([s]))), gear
                )
        if not (cup and gear):
            return (*self._tea(kind, base, wanted, style),)
        machine = gear[0]
        if self.inventory.things[machine].appliance:
            actions = [f"Move {_WATER} to {machine}"]
        else:
            actions, kettle = self._kettle()
            if not kettle:
                return [], ""
            actions = [*actions, f"Pour water from {kettle} into {machine}"]
        actions += [f"Move {base} to {machine}", f"Brew items in {machine} to get brewed_coffee",
                    f"Pour brewed_coffee from {machine} into {cup}"]  # fmt: skip
        return self._finish(kind, actions, cup, iced, wanted)


assert set(DRINKS) <= set(_EXTRAS)
