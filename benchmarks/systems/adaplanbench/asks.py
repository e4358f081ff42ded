"""The asks of AdaPlanBench: who is told what. Nothing undisclosed ever reaches the agent here."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from benchmarks.core.system import Dimension
from benchmarks.core.types import Ask, Constraint, Expect, Message, Task
from benchmarks.systems.adaplanbench.prompts import fill, load_prompt
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS, KINDS, load_dimensions

JUDGE_ROLES = {"world": "world_judge", "user": "user_judge"}
ASCENDING = (1, 3, 5)
_PLAN = Expect("plan")


def rubric_text(
    dimensions: Sequence[Dimension] = DIMENSIONS, anchors: Sequence[int] = ASCENDING
) -> str:
    """Return the rubric as judges read it: definition, anchors and examples by dimension."""
    blocks = []
    for dimension in dimensions:
        lines = [f"{dimension.key} ({dimension.title}): {dimension.definition}"]
        for score in anchors:
            lines.append(
                f"  {score}: {dimension.anchors[score]} For example: {dimension.examples[score]}"
            )
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def _list(constraints: Sequence[Constraint]) -> str:
    return "\n".join(f"- {c.key}: {c.text}" for c in constraints) or "- none"


def _as_context(constraint: Constraint) -> dict[str, str]:
    return {
        "key": constraint.key,
        "kind": constraint.kind,
        "text": constraint.text,
        "about": constraint.about,
    }


class RevealedByTurn(NamedTuple):
    """The constraints revealed to the agent, by turn and in order."""

    turns: tuple[tuple[Constraint, ...], ...] = ()

    def distinct(self) -> list[Constraint]:
        return list({c.key: c for revealed in self.turns for c in revealed}.values())

    def first_revealed(self) -> dict[str, int]:
        """Return the turn, from 1, in which each disclosed constraint was told first, by key."""
        turns: dict[str, int] = {}
        for turn, revealed in enumerate(self.turns, 1):
            for constraint in revealed:
                turns.setdefault(constraint.key, turn)
        return turns


class EarlierDialogue(NamedTuple):
    """The messages of the agent and its user before the current plan, and what was revealed in
    them.
    """

    plans: Sequence[str] = ()
    dialogue: Sequence[Message] = ()
    memory: RevealedByTurn = RevealedByTurn()

    @property
    def turn(self) -> int:
        """The turn that is played now, from 1."""
        return len(self.plans) + 1

    @property
    def feedback(self) -> list[str]:
        """The user's words by turn."""
        return [message.text for message in self.dialogue if message.speaker == "user"]


class AdaPlanAsks:
    """Builds the asks of one episode; the constant messages are made once.

    ``version`` is that of the prompts, empty for the newest.
    """

    def __init__(
        self, task: Task, constraints: Mapping[str, Sequence[Constraint]], version: str = ""
    ) -> None:
        self.task = task
        self.version = version
        self.constraints = constraints
        self.opening = (
            Message("system", load_prompt("agent", version).template),
            Message("user", task.prompt),
        )
        self.briefs = {
            kind: Message(
                "system",
                fill(
                    role, {"query": task.prompt, "constraints": _list(constraints[kind])}, version
                ),
            )
            for kind, role in JUDGE_ROLES.items()
        }
        keys = [dimension.key for dimension in DIMENSIONS]
        self.rubric_brief = Message(
            "system",
            fill(
                "rubric_judge",
                {
                    "query": task.prompt,
                    "rubric": rubric_text(load_dimensions(version)),
                    "keys": ", ".join(keys),
                },
                version,
            ),
        )
        self.rubric_expect = Expect("scores", {"dimensions": keys})
        self.contexts = {kind: [_as_context(c) for c in constraints[kind]] for kind in KINDS}

    def agent(self, dialogue: EarlierDialogue, tracking: bool) -> Ask:
        """Ask the agent for its next plan. With tracking, one current block stands before the
        newest message.
        """
        messages = (*self.opening, *dialogue.dialogue)
        revealed = dialogue.memory.distinct()
        if tracking and revealed:
            lines = "\n".join(f"- {c.text}" for c in revealed)
            block = fill("memory", {"constraints": lines}, self.version)
            newest = messages[-1]
            messages = (*messages[:-1], Message("user", f"{block}\n\n{newest.text}"))
        context = {
            "query": self.task.prompt,
            "turn": dialogue.turn,
            "told": [[_as_context(c) for c in turn] for turn in dialogue.memory.turns],
            "plans": list(dialogue.plans),
            "feedback": dialogue.feedback,
            "tracking": tracking,
        }
        return Ask("agent", messages, _PLAN, context=context)

    def constraint_judge(self, kind: str, plan: str, turn: int) -> Ask:
        constraints = self.constraints[kind]
        return Ask(
            JUDGE_ROLES[kind],
            (self.briefs[kind], Message("user", plan)),
            Expect("violations", {"keys": [c.key for c in constraints]}),
            context={
                "query": self.task.prompt,
                "turn": turn,
                "plan": plan,
                "kind": kind,
                "constraints": self.contexts[kind],
            },
        )

    def rubric_judge(self, seat: str, plan: str, turn: int) -> Ask:
        return Ask(
            "rubric_judge",
            (self.rubric_brief, Message("user", plan)),
            self.rubric_expect,
            seat=seat,
            context={"query": self.task.prompt, "turn": turn, "plan": plan},
        )

    def simulator(
        self, dialogue: EarlierDialogue, plan: str, points: Sequence[tuple[Constraint, bool]]
    ) -> Ask:
        """Ask for feedback on the revealed constraints; each point says whether it was said
        before.
        """
        lines = [f"- {c.text}{' (said before)' if again else ''}" for c, again in points]
        values = {"query": self.task.prompt, "points": "\n".join(lines)}
        brief = fill("simulator", values, self.version)
        return Ask(
            "simulator",
            (Message("system", brief), Message("user", plan)),
            Expect("feedback"),
            context=self._user_knows(
                dialogue,
                plan,
                "constraints",
                [{**_as_context(c), "repeated": again} for c, again in points],
            ),
        )

    def refiner(
        self, dialogue: EarlierDialogue, plan: str, points: Sequence[Mapping[str, Any]]
    ) -> Ask:
        """Ask for feedback on the dimensions that a valid plan failed, with the judges' reasons."""
        lines = [
            f"- {point['title']}: " + " ".join(point["reasons"] or ["no reason given"])
            for point in points
        ]
        values = {"query": self.task.prompt, "points": "\n".join(lines)}
        brief = fill("refinement", values, self.version)
        return Ask(
            "simulator",
            (Message("system", brief), Message("user", plan)),
            Expect("feedback"),
            context=self._user_knows(
                dialogue, plan, "refinement", [dict(point) for point in points]
            ),
        )

    def _user_knows(
        self, dialogue: EarlierDialogue, plan: str, mode: str, points: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Return what whoever speaks for the user knows: all that was said, and the whole profile.

        ``disclosed`` is the earlier turn in which a constraint was told first, None before that.
        """
        first = dialogue.memory.first_revealed()
        return {
            "query": self.task.prompt,
            "turn": dialogue.turn,
            "plans": list(dialogue.plans),
            "feedback": dialogue.feedback,
            "plan": plan,
            "mode": mode,
            "points": points,
            "profile": [
                {**other, "disclosed": first.get(other["key"])}
                for kind in KINDS
                for other in self.contexts[kind]
            ],
        }


def split_constraints(task: Task, wanted: str) -> dict[str, tuple[Constraint, ...]]:
    """Return C^w and C^u under the dual-ablation condition: a kind that is switched off is
    empty.
    """
    if task.profile is None:
        raise ValueError(f"task {task.id} has no profile, AdaPlanBench needs one")
    off = {"world_only": "user", "user_only": "world"}.get(wanted)
    return {kind: () if kind == off else task.profile.of_kind(kind) for kind in KINDS}
