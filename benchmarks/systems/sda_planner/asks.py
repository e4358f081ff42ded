"""Asks to the agent: for a plan, the rest of one, corrective steps, a choice, a graph.

Every ask stands for itself: two messages, and a context that says the same in structured form.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.core.digests import canonical_json
from benchmarks.core.system import PROMPTS as PROMPTS_SETTING
from benchmarks.core.types import Ask, Expect, Json, Message
from benchmarks.systems.sda_planner.house.affordances import type_words
from benchmarks.systems.sda_planner.play import Play, in_sight, sight_words
from benchmarks.systems.sda_planner.prompts import PROMPTS
from benchmarks.systems.sda_planner.repair.diagnosis import Diagnosis
from benchmarks.systems.sda_planner.repair.graph import state_words
from benchmarks.systems.sda_planner.repair.subtree import Path
from benchmarks.systems.sda_planner.settings import NOTHING
from benchmarks.systems.sda_planner.steps import Step, number_plan

PLAN, REMAINDER, CORRECTIVE, CHOICE, GRAPH = "plan", "remainder", "corrective", "choice", "graph"
WHOLE, RESTART, REST, WINDOW = "plan", "restart", "remainder", "window"


class Asks:
    """Makes the asks of an episode."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.version = str(play.settings.get(PROMPTS_SETTING, ""))
        entities = play.house.entities.values()
        self.objects = sorted({e.type for e in entities if not e.fixed})
        self.places = sorted({e.type for e in entities if e.fixed})

    def _fill(self, name: str, **values: Any) -> str:
        return PROMPTS.fill(name, values, self.version)

    def _brief(self) -> str:
        play = self.play
        known = ""
        if play.settings["knowledge"] != NOTHING:
            rows = [[id, str(play.beliefs[0].get(("item.loc", id)))] for id in play.house.parents
                    if play.beliefs[0].get(("item.loc", id))]  # fmt: skip
            known = f"At the start: {sight_words(rows, play.things)}.\n"
        examples = list(PROMPTS.load_set("examples", self.version).values())
        shown = [one.substitute() for one in examples[: play.settings["examples"]]]
        return self._fill(
            "system",
            objects=", ".join(map(type_words, self.objects)),
            places=", ".join(map(type_words, self.places)),
            known=known,
            examples="".join(f"\n\n{text}" for text in shown),
        )

    def _ask(self, purpose: str, expect: Expect, text: str, **more: Any) -> Ask:
        play, last = self.play, self.play.last
        context: dict[str, Any] = {
            "purpose": purpose,
            "instruction": play.instruction,
            "objects": self.objects,
            "places": self.places,
            "known": play.known_places(),
            "number": play.counts["corrections"],
            "plan": [step.to_json() for step in play.plan],
            "executed": [step.to_json() for step in play.executed],
            "visible": in_sight(last),
            "held": last.held if last else "",
            "failure": None,
            **more,
        }
        messages = (Message("system", self._brief()), Message("user", text))
        return Ask("agent", messages, expect, context=context)

    def plan(self) -> Ask:
        """Ask for the whole plan."""
        text = self._fill("plan", instruction=self.play.instruction)
        return self._ask(WHOLE, Expect(PLAN), text)

    def samples(self) -> list[Ask]:
        """Ask for several plans at once, at the temperature of the Tree Planner."""
        settings = self.play.settings
        sampling = {"temperature": settings["temperature"]}
        ask = replace(self.plan(), expect=Expect(PLAN, {"sampling": sampling}))
        return [ask] * settings["tree_plans"]

    def restart(self, error: Json, plan: Sequence[Step]) -> Ask:
        """Ask for a whole plan after one failed and the house was put back."""
        text = self._fill(
            "restart", instruction=self.play.instruction, plan=number_plan(plan),
            number=error["t"], step=error["text"], message=error["message"],
        )  # fmt: skip
        return self._ask(
            RESTART, Expect(PLAN), text, failure=_failure(error),
            plan=[step.to_json() for step in plan],
        )  # fmt: skip

    def remainder(self, error: Json) -> Ask:
        """Ask for all steps from the failed one on."""
        play = self.play
        text = self._fill(
            "remainder", instruction=play.instruction,
            executed=number_plan(play.executed) or "nothing", step=error["text"],
            message=error["message"], **self._around(),
        )  # fmt: skip
        return self._ask(REST, Expect(REMAINDER), text, failure=_failure(error))

    def window(
        self, error: Json, diagnosis: Diagnosis, window: Sequence[Step], rest: Sequence[Step]
    ) -> Ask:
        """Ask for the window to be written anew, told what was missing (the soft constraint)."""
        text = self._fill(
            "window", instruction=self.play.instruction, window=number_plan(window),
            rest=number_plan(rest) or "nothing", **self._about(error, diagnosis), **self._around(),
        )  # fmt: skip
        return self._ask(
            WINDOW, Expect(REMAINDER), text, failure=_failure(error),
            diagnosis=self._missing_condition(diagnosis), start=diagnosis.t_start,
            window=[step.to_json() for step in window],
            failed_at=diagnosis.t_error - diagnosis.t_start,
        )  # fmt: skip

    def corrective(self, error: Json, diagnosis: Diagnosis, window: Sequence[Step]) -> Ask:
        """Ask for steps that help to meet the need."""
        text = self._fill(
            "corrective", instruction=self.play.instruction, window=number_plan(window),
            **self._about(error, diagnosis), **self._around(),
        )  # fmt: skip
        return self._ask(
            CORRECTIVE, Expect(CORRECTIVE), text, failure=_failure(error),
            diagnosis=self._missing_condition(diagnosis), start=diagnosis.t_start,
            window=[step.to_json() for step in window],
        )  # fmt: skip

    def choice(self, error: Json, start: int, paths: Sequence[Path], rest: Sequence[Step]) -> Ask:
        """Ask which of several ways to go on from step ``start`` (from 1) is best."""
        plans = [[*path.steps, *rest] for path in paths]
        options = "\n\n".join(
            f"Plan {number}\n{number_plan(plan)}" for number, plan in enumerate(plans, 1)
        )
        text = self._fill(
            "choice", instruction=self.play.instruction, step=error["text"],
            message=error["message"], options=options, most=len(paths), **self._around(),
        )  # fmt: skip
        listed = [
            {"steps": [s.to_json() for s in path.steps], "cost": path.cost.to_json()}
            for path in paths
        ]
        return self._ask(
            CHOICE, Expect(CHOICE, {"options": len(paths)}), text, failure=_failure(error),
            options=listed, rest=[step.to_json() for step in rest], start=start,
        )  # fmt: skip

    def _around(self) -> dict[str, str]:
        seen, things = self.play.last, self.play.things
        held = seen.held if seen else ""
        return {
            "visible": sight_words(in_sight(seen), things),
            "held": type_words(things.type_of(held)) if held else "nothing",
        }

    def _about(self, error: Json, diagnosis: Diagnosis) -> dict[str, str]:
        condition = self._missing_condition(diagnosis)
        return {
            "step": error["text"], "message": error["message"], "state": condition["words"],
            "needed": condition["needed"], "actual": condition["actual"],
        }  # fmt: skip

    def _missing_condition(self, diagnosis: Diagnosis) -> dict[str, Any]:
        """Return what the graph says is missing: in words, and by id."""
        wanted, things = diagnosis.wanted, self.play.things
        assert wanted is not None
        value, actual = wanted.value, wanted.actual
        return {
            "state": list(wanted.key),
            "words": state_words(wanted.key, things),
            "needed": _named(wanted.needed, things),
            "actual": _named(diagnosis.to_json()["actual"], things),
            "value": value if isinstance(value, str | bool) else "",
            "held": actual if isinstance(actual, str) else "",
            "types": sorted(wanted.types),
        }


def _named(value: str, things: Any) -> str:
    return type_words(things.type_of(value)) if things.type_of(value) else value


def _failure(error: Json) -> dict[str, Any]:
    """Return of a failed step what the agent may know: no cause."""
    return {key: error[key] for key in ("t", "step", "text", "message", "target")}


def graph_ask(
    kind: str, skill: str, states: Sequence[str], sets: Any, settings: Mapping[str, Any]
) -> Ask:
    """Ask which states a skill sets, or needs (the three steps of section 4.2)."""
    values = {"skill": skill, "states": ", ".join(states)}
    if kind == "needs":
        values["sets"] = canonical_json(sets)
    version = str(settings.get(PROMPTS_SETTING, ""))
    text = PROMPTS.fill(f"graph_{kind}", values, version)
    context = {"purpose": GRAPH, "skill": skill, "kind": kind, "states": list(states)}
    return Ask("agent", (Message("user", text),), Expect(GRAPH, {"kind": kind}), context=context)
