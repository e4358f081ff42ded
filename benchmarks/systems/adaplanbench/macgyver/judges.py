"""Constraint judges that decide from the lexicon, on whatever plan they are shown."""

from collections.abc import Callable, Mapping, Sequence

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Constraint, Json, Task
from benchmarks.systems.adaplanbench.macgyver import lexicon, vocabulary

# Version 1 called a plan valid of which it knew no word.
VERSION = f"2-lexicon-{vocabulary.VERSION}"
NOT_GROUNDED = "not_grounded"
NOT_READABLE = "not_readable"


def grounds(constraint: Mapping[str, str]) -> tuple[str, ...]:
    """What a constraint is about, as the lexicon knows it; empty where it does not.

    A constraint that does not say it is about the tools that its text names.
    """
    known = vocabulary.load_lexicon()
    kind, _, name = constraint["about"].partition(":")
    if kind == "tool" and name in known.tools:
        return (constraint["about"],)
    if kind == "attribute" and name in {a.name for a in known.attributes.values()}:
        return (constraint["about"],)
    if constraint["about"] or constraint["kind"] != "world":
        return ()
    named = [m.name for m in lexicon.mentions(constraint["text"]) if m.kind == "tool"]
    general = {known.tools[name].of for name in named}
    return tuple(f"tool:{name}" for name in dict.fromkeys(named) if name not in general)


def violations(
    plan: str, constraints: Sequence[Mapping[str, str]], listed: Sequence[str] = ()
) -> tuple[dict[str, str], list[str]]:
    """Reasons by the key of each violated constraint, and the keys that cannot be decided."""
    found = lexicon.uses(plan, listed).by_about
    reasons: dict[str, str] = {}
    open_keys: list[str] = []
    for constraint in constraints:
        about = grounds(constraint)
        if not about:
            open_keys.append(constraint["key"])
        elif hits := [found[name] for name in about if name in found]:
            first = min(hits, key=lambda mention: mention.step)
            reasons[constraint["key"]] = f"step {first.step} says “{first.surface}”"
    return reasons, open_keys


def _judge(kind: str) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        listed = tuple(task.payload.get("listed", ()))

        def rule(ask: Ask, seed: int) -> Answer:
            if not lexicon.mentions(ask.context["plan"], listed):
                words = "the plan names no tool or action that the lexicon knows"
                return Answer("", declined=f"{NOT_READABLE}: {words}")
            reasons, undecided = violations(ask.context["plan"], ask.context["constraints"], listed)
            if undecided:
                keys = ", ".join(undecided[:10])
                return Answer("", declined=f"{NOT_GROUNDED}: the lexicon has no words for {keys}")
            return Answer(canonical_json({"violated": list(reasons), "reasons": reasons}))

        return Scripted(f"lexicon-{kind}", VERSION, rule)

    return build


def _is_grounded(constraint: Constraint) -> bool:
    return bool(
        grounds({"kind": constraint.kind, "text": constraint.text, "about": constraint.about})
    )


POLICIES: Mapping[str, ScriptedPolicy] = {
    f"lexicon-{kind}": ScriptedPolicy(
        f"lexicon-{kind}",
        f"{kind}_judge",
        f"Lexicon {kind} judge",
        VERSION,
        _judge(kind),
        label="lexicon",
        can_decide=_is_grounded,
    )
    for kind in ("world", "user")
}
