"""ADAPT as a generator: the agent acts in the household and may ask; the persona answers."""

import random
from collections.abc import Collection, Generator, Mapping, Sequence
from typing import Any

from benchmarks.core.system import SCORER
from benchmarks.core.types import Ask, Episode, Expect, Json, Message, Outcome, Reply, Task, Turn
from benchmarks.systems.adapt.household.actions import (
    ASK,
    DONE,
    HEAT_VERBS,
    LOOKING,
    PHYSICAL,
    TEMPLATES,
    UNREAD,
    VERBS,
    Action,
    parse_action,
    unread_message,
)
from benchmarks.systems.adapt.household.inventory import draw_scene, inventory_of
from benchmarks.systems.adapt.household.nodes import ActionResult, Node
from benchmarks.systems.adapt.household.rules import INAPPLICABLE, SATISFIED, GoalVerdict, Judge
from benchmarks.systems.adapt.household.surplus import find_surplus
from benchmarks.systems.adapt.household.world import World
from benchmarks.systems.adapt.lexicon import asks_for, tells
from benchmarks.systems.adapt.metrics import (
    LEAKED,
    UNASKED,
    UNASKED_STEPS,
    names_of,
    outcome_metrics,
)
from benchmarks.systems.adapt.preferences import Preference, goal_of, preferences_of
from benchmarks.systems.adapt.prompts import PROMPTS
from benchmarks.systems.adapt.settings import (
    ALWAYS_ASK,
    NO_ABLATION,
    REACT,
    SILENT,
    TEACHER,
    prompts_version,
)

AGENT, PERSONA = "agent", "persona"
MAX_ACTIONS, MAX_QUESTIONS, UNPARSABLE = "max_actions", "max_questions", "unparsable"
DECLINED = "agent_declined"
EMPTY = "(empty reply)"  # endpoints refuse blanks
# A turn keeps this much of a reply.
LONGEST_KEPT = 12_000


def episode(task: Task, settings: Mapping[str, Any], rng: random.Random) -> Episode:
    """Play one trajectory. ``rng`` draws the scene, which is the same for every method."""
    play = AdaptPlay(task, settings, rng)
    while True:
        reply = yield from put(play.ask_agent())
        if not reply.readable:
            why = f"the agent gave no reply: {reply.reason}"
            return Outcome(
                DECLINED, *undefined(why, settings), {**play.about, "reason": reply.reason}
            )
        action = parse_action(reply.value["action"])
        answer: Reply | None = None
        refused = play.refusal(action)
        if action.kind == ASK and not refused:
            if play.asked >= settings["max_questions"]:
                return play.outcome(MAX_QUESTIONS)
            answer = yield from put(play.ask_persona(action.x))
        yield play.take(reply, action, refused, answer)
        if end := play.end(action):
            return play.outcome(end)


def undefined(
    why: str, settings: Mapping[str, Any]
) -> tuple[dict[str, float | None], dict[str, str]]:
    """Return all metrics as undefined, for a reason."""
    names = names_of(settings)
    return dict.fromkeys(names), dict.fromkeys(names, why)


def put(ask: Ask) -> Generator[Sequence[Ask], Sequence[Reply], Reply]:
    """Yield an ask and hand on its reply."""
    (reply,) = yield [ask]
    return reply


class AdaptPlay:
    """An episode under way: the household, the dialogue, and what is known of preferences."""

    def __init__(self, task: Task, settings: Mapping[str, Any], rng: random.Random) -> None:
        self.task, self.settings = task, settings
        self.method: str = settings["method"]
        self.version = prompts_version(settings)
        shared, persona = task.shared, task.payload["persona"]
        inventory = inventory_of(shared["household"])
        self.seed = rng.getrandbits(53)
        scene, added = draw_scene(inventory, str(self.seed), settings["ensure_feasible"])
        self.world = World(
            inventory, scene, settings["require_seen"], finds_parts=settings.get(SCORER) == "1"
        )
        self.preferences: tuple[Preference, ...] = preferences_of(shared, inventory, persona)
        self.rules = [p.rule for p in self.preferences]
        self.judge = Judge(self.world, goal_of(task.payload))
        self.about: dict[str, Any] = {
            "persona": persona,
            "persona_name": shared["personas"][persona]["name"],
            "fold": task.payload["fold"],
            "task": task.payload["task"],
            "method": self.method,
            "scene": {"seed": str(self.seed), "objects": len(scene), "added": added},
        }
        self.asked = self.invalid = self.unread = self.matched = 0
        self.may_act = self.method != ALWAYS_ASK
        self.disclosed: dict[int, int] = {}
        # Preferences told by answers, in words or listed; those among them that were not asked for.
        self.told: set[int] = set()
        self.leaked: list[Json] = []
        self.events: list[Json] = []
        self.dialogue: list[Json] = []
        self.verdicts: list[GoalVerdict] = self.judge.judge(self.rules)
        self._judged = self.world.version
        self.history: list[list[GoalVerdict]] = [self.verdicts]
        self.asked_by: list[int] = [0]
        self.changed: dict[str, int] = {}
        self.messages = self.opening(self.method)

    # --- What the agent is told -------------------------------------------------------------------

    def _say(self, name: str, **values: Any) -> str:
        return PROMPTS.load_set("phrases", self.version)[name].substitute(values)

    def opening(self, method: str) -> list[Message]:
        """Return what an agent is told before its first action under a method."""
        json = self.settings["reply_format"] == "json"
        form = "format_json" if json else "format_react" if method == REACT else "format_text"
        silent = method in SILENT
        knows = method if method in (*SILENT, ALWAYS_ASK) else "ask"
        shown = {name: t for name, t in TEMPLATES.items() if not (silent and name == ASK)}
        lines = [
            f"- {f'[{name}] ' if json else ''}{template}: {about}"
            for name, (template, about) in shown.items()
        ]
        limit = self._say("question_limit", max_questions=self.settings["max_questions"])
        system = PROMPTS.fill(
            "agent",
            {
                "knowing": self._say(f"knowing_{knows}"),
                "templates": "\n".join(lines),
                "verbs": ", ".join(VERBS),
                "heat_verbs": ", ".join(v for v in VERBS if v in HEAT_VERBS),
                "max_actions": self.settings["max_actions"],
                "question_limit": "" if silent else limit,
                "format": self._say(form),
            },
            self.version,
        )
        user = [self._say("layout", task=self.task.prompt, rooms=self._layout())]
        if method == TEACHER:
            texts = "\n".join(f"- {p.text}" for p in self.preferences)
            user.append(self._say("preferences", preferences=texts))
        return [Message("system", system), Message("user", "\n\n".join(user))]

    def _layout(self) -> str:
        nodes, lines = self.world.nodes, []
        for room in self.world.inventory.rooms:
            pieces = ", ".join(self.world.describe(nodes[c]) for c in nodes[room.id].children)
            lines.append(f"- {room.id} ({room.description}): {pieces}")
        return "\n".join(lines)

    def ask_agent(self) -> Ask:
        """Return the next ask to the agent."""
        return self.ask_as(AGENT, self.method, self.messages)

    def ask_as(self, role: str, method: str, messages: Sequence[Message]) -> Ask:
        """Return the ask for the next action under a method. Lists are copied: an ask is a value.

        The method may be another one than the agent's: whoever demonstrates knows more.
        """
        known = [name for name in self.world.known if name in self.world.nodes]
        teacher = method == TEACHER
        visible = self.preferences if teacher else self._disclosed_preferences()
        context = {
            "task": self.task.prompt,
            "method": method,
            "ablation": self.settings.get("ablation", NO_ABLATION),
            "step": self.world.step + 1,
            "steps_left": self.settings["max_actions"] - self.world.step,
            "asked": self.asked,
            "may_ask": method not in SILENT,
            "questions_left": self.settings["max_questions"] - self.asked,
            "must_ask": not self.may_act,
            "json": self.settings["reply_format"] == "json",
            "draw": self.seed,
            "known": [self._known(name) for name in known],
            "told": [
                {
                    "t": 0 if teacher else self.disclosed[p.n],
                    "text": p.text,
                    "rule": self._raw_rule(p.n),
                }
                for p in visible
            ],
            "events": list(self.events),
        }
        if context["json"]:
            actions = [name for name in TEMPLATES if context["may_ask"] or name != ASK]
            names = sorted({self.world.nodes[name].name for name in known})
            expect = Expect("json_action", {"actions": actions, "known": names})
        else:
            expect = Expect("action")
        return Ask(role, tuple(messages), expect, context=context)

    def _raw_rule(self, n: int) -> Json:
        rows = self.task.shared["personas"][self.task.payload["persona"]]["preferences"]
        rule: Json = next(row["rule"] for row in rows if row["n"] == n)
        return rule

    def _disclosed_preferences(self) -> list[Preference]:
        return [p for p in self.preferences if p.n in self.disclosed]

    def _known(self, name: str) -> Json:
        node = self.world.nodes[name]
        about = node.thing.description if node.id == node.thing.id else ""
        return {"id": node.name, "about": about, "in": node.parent, "type": node.thing.type}

    # --- The persona ------------------------------------------------------------------------------

    def ask_persona(self, question: str) -> Ask:
        """Return the question as it is put to the persona."""
        rows = [
            {"n": p.n, "text": p.text, "disclosed": self.disclosed.get(p.n)}
            for p in self.preferences
        ]
        lines = "\n".join(f"{p.n}. {p.text}" for p in self.preferences)
        system = PROMPTS.fill(
            "persona", {"task": self.task.prompt, "preferences": lines}, self.version
        )
        messages = [Message("system", system)]
        for line in self.dialogue:
            messages.append(Message("user", line["question"]))
            messages.append(Message("assistant", line["answer"]))
        context = {
            "task": self.task.prompt,
            "question": question,
            "preferences": rows,
            "dialogue": list(self.dialogue),
            "t": self.world.step + 1,
            "asked": self.asked + 1,
        }  # fmt: skip
        expect = Expect("answer", {"numbers": [p.n for p in self.preferences]})
        return Ask(PERSONA, (*messages, Message("user", question)), expect, context=context)

    def answer_words(self, answer: str) -> str:
        """Return how the agent is told an answer of the persona."""
        return self._say("answer", answer=answer)

    # --- What a reply does ------------------------------------------------------------------------

    def refusal(self, action: Action) -> str:
        """Return why an action is not even tried under this method; '' if it is."""
        if action.kind == ASK and self.method in SILENT:
            return self._say("no_asking")
        if action.kind in PHYSICAL and not self.may_act:
            return self._say("ask_first")
        return ""

    def take(self, reply: Reply, action: Action, refused: str, answer: Reply | None) -> Turn:
        """Carry out a reply and return the turn that it made."""
        more: dict[str, Any] = {}
        if refused:
            self.world.step += 1
            result = ActionResult(False, refused)
        elif answer is not None:
            self.world.act(action)
            more = self._answered(action, answer)
            result = ActionResult(True, more["answer"])
        else:
            result = self.world.act(action)
        t = self.world.step
        self.unread = self.unread + 1 if action.kind == UNREAD else 0
        self.invalid += not result.ok
        if action.kind in PHYSICAL and not refused and self.method == ALWAYS_ASK:
            self.may_act = False
        before = self.verdicts
        if self.world.version != self._judged:
            self.verdicts = self.judge.judge(self.rules)
            self._judged = self.world.version
        for change in result.changes:
            self.changed[change.node] = t
        self.history.append(self.verdicts)
        self.asked_by.append(self.asked)
        feedback = self.answer_words(result.message) if answer is not None else result.message
        text = reply.text.strip()[:LONGEST_KEPT] or EMPTY
        # What was no action is shown in short only, however long it was.
        shown = action.text if action.kind != UNREAD else unread_message(action.text)
        self.messages += [Message("assistant", text), Message("user", feedback)]
        event = {
            "t": t, "kind": action.kind, "action": shown, "ok": result.ok, "message": feedback,
        }  # fmt: skip
        self.events.append(event)
        payload = {
            "t": t,
            "method": self.method,
            **({"thought": reply.value["thought"]} if reply.value["thought"] else {}),
            "action_text": shown,
            "parsed": action.record,
            "ok": result.ok,
            "message": result.message,
            "changes": [
                {"node": c.node, "field": c.field, "before": c.before, "after": c.after}
                for c in result.changes
            ],
            **more,
            "prefs": {
                p.key: now.value
                for p, now, old in zip(self.preferences, self.verdicts, before, strict=True)
                if now.value != old.value
            },
            "known_objects": len(self.world.known),
        }
        return Turn(t, text, feedback, payload)

    def _answered(self, action: Action, answer: Reply) -> dict[str, Any]:
        """Take up the persona's answer."""
        self.asked += 1
        self.may_act = True
        t = self.world.step
        given = answer.value if answer.readable else None
        words = given["answer"] if given else self._say("no_answer")
        disclosed = given["disclosed"] if given else []
        self.matched += bool(disclosed)
        self.note_told(action.x, words, disclosed, t)
        for n in disclosed:
            self.disclosed.setdefault(n, t)
        self.dialogue.append({"t": t, "question": action.x, "answer": words})
        return {"question": action.x, "answer": words, "disclosed": [f"n{n}" for n in disclosed]}

    def note_told(self, question: str, answer: str, listed: Sequence[int], t: int) -> None:
        """Note what an answer tells for the first time, and whether the question asked for it."""
        told, leaked = self.told_by(question, answer, listed, self.told)
        self.told.update(told)
        self.leaked += [{"n": n, "t": t} for n in leaked]

    def told_by(
        self, question: str, answer: str, listed: Sequence[int], before: Collection[int]
    ) -> tuple[list[int], list[int]]:
        """Return the preferences that an answer tells beyond those told before, and which of them
        the question did not ask for.

        An answer tells what the persona lists, and what stands in it nearly word for word.
        """
        told = [
            p for p in self.preferences if p.n not in before and (p.n in listed or tells(answer, p))
        ]
        meal, inventory = self.task.payload["expects"], self.world.inventory
        leaked = [p.n for p in told if not asks_for(question, p, inventory, meal)]
        return [p.n for p in told], leaked

    def end(self, action: Action) -> str:
        """Return how the episode ends after this action; '' if it goes on."""
        if action.kind == DONE:
            return DONE
        if self.unread >= self.settings["max_unreadable"]:
            return UNPARSABLE
        return MAX_ACTIONS if self.world.step >= self.settings["max_actions"] else ""

    # --- The outcome ------------------------------------------------------------------------------

    def outcome(self, termination: str) -> Outcome:
        """Return the outcome of the episode as it stands."""
        dishes = self.judge.dishes
        made = {
            kind: {
                "completed": self.judge.completed(kind),
                **(
                    {
                        "done": dishes[kind].done,
                        "served": dishes[kind].served,
                        "place": dishes[kind].furniture.name,
                        "vessel": dishes[kind].vessel.name,
                    }
                    if kind in dishes
                    else {}
                ),
            }
            for kind in self.judge.goal.expects
        }
        ledger = [
            {
                "n": p.n,
                "type": p.type,
                "text": p.text,
                **verdict.record,
                "disclosed": self.disclosed.get(p.n),
            }
            for p, verdict in zip(self.preferences, self.verdicts, strict=True)
        ]
        applicable = [row for row in ledger if row["value"] != INAPPLICABLE]
        kept = [n for n, v in enumerate(self.verdicts) if v.value == SATISFIED]
        progress = [sum(past[n].value == SATISFIED for n in kept) for past in self.history]
        record = {
            **self.about,
            "preferences": ledger,
            "applicable": len(applicable),
            "satisfied": len(kept),
            "dishes": made,
            "progress": progress,
            "asked_by": self.asked_by,
            "asked": self.asked,
            "matched": self.matched,
            "invalid": self.invalid,
            "steps": self.world.step,
            # Which step was what, for the line of turns.
            "asked_at": [e["t"] for e in self.events if e["kind"] == ASK and e["ok"]],
            "failed_at": [e["t"] for e in self.events if not e["ok"]],
            "looked_at": [e["t"] for e in self.events if e["kind"] in LOOKING],
            "kitchen": kitchen_tree(self.world, self.changed),
        }
        if LEAKED in names_of(self.settings):
            surplus = find_surplus(self.judge, self.rules)
            record |= {
                UNASKED: list(surplus.things),
                UNASKED_STEPS: list(surplus.steps),
                "told": len(self.told),
                LEAKED: self.leaked,
            }
        metrics, why = outcome_metrics(record, self.settings)
        return Outcome(termination, metrics, why, record)


# --- The household at the end, as pages show it ---------------------------------------------------


def kitchen_tree(world: World, changed: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return rooms with their furniture; things that changed have the step of their last change.

    What nobody touched is listed by name alone. ``changed`` is by name of a node.
    """
    rooms = []
    for room in world.inventory.rooms:
        pieces = [
            _branch(world, world.nodes[name], changed) for name in world.nodes[room.id].children
        ]
        touched = sum(piece["touched"] for piece in pieces)
        rooms.append({"name": room.description, "furniture": pieces, "touched": touched})
    return rooms


def _branch(world: World, node: Node, changed: Mapping[str, int]) -> dict[str, Any]:
    """Return a node with what is in it; ``rest`` are the names of what was left alone."""
    branches, rest = [], []
    for name in node.children:
        child = world.nodes[name]
        branch = _branch(world, child, changed)
        if branch["touched"]:
            branches.append(branch)
        else:
            rest.append(child.name)
    step = changed.get(node.name)
    about = node.thing.description if node.id == node.thing.id else ""
    return {
        "name": node.name,
        "about": about,
        "states": sorted(node.states),
        "step": step,
        "inside": branches,
        "rest": rest,
        "touched": (step is not None) + sum(branch["touched"] for branch in branches),
    }
