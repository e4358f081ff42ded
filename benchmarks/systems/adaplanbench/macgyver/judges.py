"""Judges that decide from the lexicon, on whatever plan they are shown; roles of MacGyver tasks."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json
from benchmarks.core.plans import split_steps
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Constraint, Json, Task
from benchmarks.systems.adaplanbench.macgyver import lexicon, pools, vocabulary
from benchmarks.systems.adaplanbench.protocol import DIMENSIONS

# Version 1 called a plan valid of which it knew no word.
VERSION = f"2-lexicon-{vocabulary.VERSION}"
NOT_GROUNDED = "not_grounded"
NOT_READABLE = "not_readable"


def grounds(constraint: Mapping[str, str]) -> tuple[str, ...]:
    """Return what a constraint is about, as the lexicon knows it; empty where it does not.

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
    """Return reasons by the key of each violated constraint, and the keys that cannot be
    decided.
    """
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


_CONSTRAINT_JUDGES: Mapping[str, ScriptedPolicy] = {
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


# --- Rubric judges --------------------------------------------------------------------------------

# They count surface signs: steps and quantities, tools that few homes have, help from outside,
# dangerous tools and actions, and care for what may go wrong. Whether a thing would hold, work, or
# come in a workable order cannot be read off words; there they give no score. So the accuracy of a
# run with these judges is undefined, while its share of valid plans is not.

RUBRIC_VERSION = f"1-lexicon-{vocabulary.VERSION}"

_QUANTITY = re.compile(
    r"\b(?:\d+(?:[.,]\d+)?|half|quarter|twice|once|two|three|four|five|six|ten|several|a few)\b",
    re.IGNORECASE,
)
_HELP = re.compile(
    r"\b(?:ask|call|phone|text|borrow|hire|buy|order|purchase|rent)\b[^.]{0,30}\b(?:for|from|to|a|an|"
    r"some|someone|somebody|friend|neighbou?r|professional|mechanic|help|new)\b|"
    r"\b(?:professional|mechanic|locksmith|electrician|plumber|vet|staff|reception|front desk|"
    r"someone else|somebody else|a friend|an adult|passer-?by|store|shop|online)\b",
    re.IGNORECASE,
)
_CARE = re.compile(
    r"\b(?:careful(?:ly)?|gently|safe(?:ly|ty)?|protect(?:s|ing|ion|ive)?|avoid(?:ing)?|"
    r"prevent(?:s|ing)?|make sure|ensure|ensuring|so that|wear|put on the)\b",
    re.IGNORECASE,
)
_AFTERWARDS = re.compile(
    r"\b(?:clean(?:ed|ing)? up|dispos(?:e|ing)|wipe|rinse|remove (?:any|the) (?:excess|residue|"
    r"remaining)|check(?:ing)?|test(?:ing)?|repeat|adjust|secure|let (?:it )?(?:dry|cool)|"
    r"if (?:it|the|there|needed|necessary)|until|reuse|put (?:it|them) back)\b",
    re.IGNORECASE,
)
_HAZARDS = ("flame", "heat", "blade", "chemical", "climbing", "force", "point", "glass")
# What hardly any household has at hand.
UNCOMMON = frozenset(
    {
        "soldering iron", "multimeter", "capacitor", "microscope", "glass beaker", "glass slide",
        "protractor", "epoxy", "leaf blower", "slide projector", "char cloth", "paracord",
        "carabiner", "chisel", "glass cutter", "crowbar", "barbell", "surfboard", "snorkel", "fin",
        "trampoline", "hammock", "space blanket", "gps", "metronome", "tire pressure gauge",
        "saw", "wire cutters", "fishing hook", "fishing line", "fishing rod", "fishing net",
        "baseball bat", "hockey stick", "flagpole", "drumstick", "solar charger", "headlamp",
        "sled", "snow scoop", "palm frond", "animal feed", "lantern", "tent", "sleeping bag",
        "plywood", "pipe cleaner", "meat tenderizer", "pastry blender", "rake", "dolly", "pulley",
    }
)  # fmt: skip
_UNREADABLE = {
    "physical_plausibility": "the words do not show whether things would behave as the plan says",
    "logical_ordering": "the words do not show whether each step can be done when it comes",
    "effectiveness": "the words do not show whether the goal would be reached",
}


@dataclass(frozen=True)
class Character:
    """The character of a judge: shifts of its scores, and how much a danger costs."""

    concreteness: int = 0
    care: int = 0
    danger: float = 1.0
    rarity: float = 1.0


CHARACTERS: Mapping[str, tuple[str, Character]] = {
    "lexicon-even": ("Lexicon rubric judge, even", Character()),
    "lexicon-strict": (
        "Lexicon rubric judge, strict", Character(concreteness=-1, danger=1.5, rarity=1.5)
    ),
    "lexicon-mild": ("Lexicon rubric judge, mild", Character(care=1, danger=0.5, rarity=0.75)),
}  # fmt: skip


@dataclass(frozen=True)
class PlanSigns:
    """The signs that the words of a plan show."""

    steps: int
    quantities: int
    specific: int
    uncommon: tuple[str, ...]
    hazards: tuple[str, ...]
    cares: int
    afterwards: int
    help: str


def read_signs(plan: str, listed: tuple[str, ...] = ()) -> PlanSigns:
    known = vocabulary.load_lexicon()
    uses = lexicon.uses(plan, listed)
    steps = split_steps(plan)
    text = "\n".join(steps)
    outside = _HELP.search(text)
    names = {known.attributes[key].name for key in _HAZARDS}
    return PlanSigns(
        steps=len(steps),
        quantities=len(_QUANTITY.findall(text)),
        specific=sum(tool not in known.general for tool in uses.tools),
        uncommon=tuple(tool for tool in uses.tools if tool in UNCOMMON),
        hazards=tuple(name for name in uses.attributes if name in names),
        cares=len(_CARE.findall(text)),
        afterwards=len(_AFTERWARDS.findall(text)),
        help=outside.group() if outside else "",
    )


def score(signs: PlanSigns, character: Character) -> dict[str, tuple[int | None, str]]:
    """Return (score, reason) by dimension; no score where words are no evidence."""
    clear = (signs.steps > 1) + (signs.steps > 3) + (signs.quantities > 0) + (signs.specific > 1)
    danger = character.danger * len(signs.hazards)
    rare = character.rarity * len(signs.uncommon)
    care = signs.cares + signs.afterwards
    scored: dict[str, tuple[int | None, str]] = {
        "concreteness": (
            1 + clear + character.concreteness,
            f"{signs.steps} steps, {signs.quantities} quantities, {signs.specific} named tools",
        ),
        "autonomy": (
            (3 if signs.help else 5),
            f"asks for outside help: “{signs.help}”" if signs.help else "names no outside help",
        ),
        "safety": (
            round(5 - danger + min(1, signs.cares) * (danger > 0)),
            "dangers named: " + (", ".join(signs.hazards) or "none"),
        ),
        "feasibility": (
            round(5 - rare),
            "uncommon things named: " + (", ".join(signs.uncommon) or "none"),
        ),
        "consequence_awareness": (
            2 + min(care, 3) + character.care,
            f"{care} words of care or of what comes after",
        ),
    }
    if not signs.specific:
        scored["feasibility"] = (None, "the plan names no tool that the lexicon knows")
    unknown = {key: (None, why) for key, why in _UNREADABLE.items()}
    return scored | unknown


def _rubric_judge(name: str, character: Character) -> Callable[[Task, Json], Answerer]:
    def build(task: Task, parameters: Json) -> Answerer:
        listed = tuple(task.payload.get("listed", ()))

        def rule(ask: Ask, seed: int) -> Answer:
            given = score(read_signs(ask.context["plan"], listed), character)
            scores: dict[str, int | None] = {}
            reasons: dict[str, str] = {}
            for dimension in DIMENSIONS:
                value, why = given[dimension.key]
                scores[dimension.key] = None if value is None else min(5, max(1, value))
                reasons[dimension.key] = why
            return Answer(canonical_json({"scores": scores, "reasons": reasons}))

        return Scripted(name, RUBRIC_VERSION, rule, asdict(character))

    return build


_RUBRIC_JUDGES: Mapping[str, ScriptedPolicy] = {
    name: ScriptedPolicy(
        name,
        "rubric_judge",
        title,
        RUBRIC_VERSION,
        _rubric_judge(name, character),
        label="lexicon",
        unscored=tuple(_UNREADABLE),
    )  # fmt: skip
    for name, (title, character) in CHARACTERS.items()
}


# --- Recorded agents and lexicon judges together
# ---------------------------------------------------

POLICIES: Mapping[str, ScriptedPolicy] = {**pools.POLICIES, **_CONSTRAINT_JUDGES, **_RUBRIC_JUDGES}

# Who fills the judges' roles for these tasks, where a run does not say otherwise.
ROLES: Mapping[str, tuple[str, ...]] = {
    "agent": ("everyone",),
    "world_judge": ("lexicon-world",),
    "user_judge": ("lexicon-user",),
    "rubric_judge": ("lexicon-even", "lexicon-strict", "lexicon-mild"),
}
