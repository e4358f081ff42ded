"""The action templates: an agent's text to a parsed action (paper, appendix B.1).

Templates are tried in a fixed order, so that "Move X from Y to Z" is not read as "Move X to Z".
"""

import re
from dataclasses import dataclass

# Longer texts are no action; questions may be longer.
LONGEST, LONGEST_QUESTION, QUOTED, LONGEST_NAME = 400, 2000, 120, 60

_VERBS = """
    add arrange assemble bake beat blanch blend boil brew broil brush butter caramelize chill
    coat combine cool core cover crack crumble crush cube cut defrost dice dip dissolve drain
    drizzle dust fill flip fold froth fry garnish grate grill grind halve infuse julienne layer
    mash melt microwave mince peel pit poach press puree rinse roast saute scoop scramble sear
    season separate shred simmer slice soak spread sprinkle squeeze steam steep stir strain
    sweeten thaw toast top toss warm wash whip whisk zest
"""
VERBS = tuple(_VERBS.split())
_HEAT = """
    bake boil broil brew caramelize fry grill melt microwave poach roast saute scramble sear
    simmer steam toast warm
"""
HEAT_VERBS = frozenset(_HEAT.split())
# Verbs that make one thing of several, as "mix" does; what comes after them is a topping.
_MIX = "mix beat blend combine fold puree stir toss whip whisk"
MIX_VERBS = frozenset(_MIX.split())

ASK, DONE, SEARCH, LOOK_FOR = "ask", "done", "search", "look_for"
OPEN, CLOSE, TURN_ON, TURN_OFF, HEAT = "open", "close", "turn_on", "turn_off", "heat"
MOVE, MOVE_FROM, POUR, MIX, COOK, CHOP = "move", "move_from", "pour", "mix", "cook", "chop"
FREE_IN, FREE_ON, UNREAD = "freeform_in", "freeform_on", "unread"

# What agents are told of each action: its template and when it succeeds.
TEMPLATES: dict[str, tuple[str, str]] = {
    ASK: ("Ask QUESTION", "put a question to the person you cook for"),
    OPEN: ("Open X", "X can be opened; tells what is inside"),
    CLOSE: ("Close X", "X can be closed"),
    TURN_ON: ("Turn on X", "X is a cooking appliance; heats what is on or in it"),
    TURN_OFF: ("Turn off X", "X is a cooking appliance"),
    HEAT: ("Heat X", "X, or what holds X, is on or in a cooking appliance"),
    SEARCH: ("Search X", "X is a room, a piece of furniture or a container; lists what is there"),
    LOOK_FOR: ("Look for X", "tells where things of that name or kind are"),
    MOVE_FROM: ("Move X from Y to Z", "Y holds X; Z is furniture or a container"),
    MOVE: ("Move X to Y", "Y is furniture or a container"),
    POUR: ("Pour X from Y into Z", "Y holds X; Z is a container"),
    MIX: ("Mix all items in X to get Y", "X is a container with food in it"),
    COOK: ("Cook items in X to get Y", "X is on or in a cooking appliance"),
    CHOP: ("Chop X to get Y", "X is food on a chopping surface"),
    FREE_IN: ("VERB items in X to get Y", "X is a container with food in it"),
    FREE_ON: ("VERB the object X to get Y", "X is food; to heat it, it must be on an appliance"),
    DONE: ("Declare Done", "ends the task"),
}
# The actions that only look.
LOOKING = (SEARCH, LOOK_FOR, OPEN)
# The actions that do something to the household, or look at it.
PHYSICAL = tuple(name for name in TEMPLATES if name not in (ASK, DONE))


@dataclass(frozen=True)
class Action:
    """A parsed action. ``x``, ``y`` and ``z`` are names as written, ``result`` is a new name."""

    kind: str
    text: str
    x: str = ""
    y: str = ""
    z: str = ""
    verb: str = ""
    result: str = ""
    tool: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The part that two actions that do the same have in common."""
        names = (self.x, self.y, self.z, self.result, self.tool)
        return (self.kind, self.verb, *map(normalise, names))

    @property
    def record(self) -> dict[str, str]:
        """The parts that are filled, as JSON."""
        parts = {"x": self.x, "y": self.y, "z": self.z, "verb": self.verb}
        more = {"result": self.result, "tool": self.tool}
        return {"kind": self.kind, **{k: v for k, v in {**parts, **more}.items() if v}}


# A part ends at the first word that may end it, and is not tried again with a later one: `(?>…)`
# keeps the time in proportion to the text. What holds a mark is no tool, so results go beyond it.
_X_TO_GET = (
    r"(?>(?P<x>.+?) (?:in order )?to (?:get|make) )"
    r"(?P<result>(?>.*[^\w\s]).*?|.+?)(?: (?:with|using) (?P<tool>[\w\s]+))?"
)
_INTO = r"(?:to|into|onto|on|in|at)"
_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(rf"\A{pattern}", re.IGNORECASE))
    for kind, pattern in (
        (DONE, r"(?:declare )?done"),
        (ASK, r"ask(?: the user| the person)?[:,]?\s+(?P<x>.+)"),
        (MOVE_FROM, r"move (?>(?P<x>.+?) from )(?>(?P<y>.+?) (?:to|into|onto) )(?P<z>.+)"),
        (MOVE, r"move (?>(?P<x>.+?) (?:to|into|onto) )(?P<y>.+)"),
        (MOVE, rf"(?:serve|place) (?>(?:the object )?(?P<x>.+?) {_INTO} )(?P<y>.+)"),
        (POUR, r"pour (?>(?P<x>.+?) from )(?>(?P<y>.+?) (?:to|into) )(?P<z>.+)"),
        (OPEN, r"open (?P<x>.+)"),
        (CLOSE, r"close (?P<x>.+)"),
        (TURN_ON, r"turn on (?P<x>.+)"),
        (TURN_OFF, r"turn off (?P<x>.+)"),
        (HEAT, r"heat (?P<x>.+)"),
        (SEARCH, r"search (?P<x>.+)"),
        (LOOK_FOR, r"look for (?P<x>.+)"),
        (MIX, rf"mix (?:all )?(?:the )?items in {_X_TO_GET}"),
        (COOK, rf"cook (?:all )?(?:the )?items in {_X_TO_GET}"),
        (CHOP, rf"chop (?:the object )?{_X_TO_GET}"),
        (FREE_IN, rf"(?P<verb>[a-z]+) (?:all )?(?:the )?items in {_X_TO_GET}"),
        (FREE_ON, rf"(?P<verb>[a-z]+) (?:the object |the )?{_X_TO_GET}"),
    )
)


def parse_action(text: str) -> Action:
    """Return the action that a text stands for; its kind is ``unread`` where it is none."""
    plain = " ".join(text.split()).rstrip(".! ")
    longest = LONGEST_QUESTION if plain[:4].lower() == "ask " else LONGEST
    if plain and len(plain) <= longest:
        for kind, pattern in _PATTERNS:
            if found := pattern.fullmatch(plain):
                parts = {name: (part or "").strip() for name, part in found.groupdict().items()}
                if kind == ASK:
                    # The question keeps its own punctuation.
                    parts["x"] = " ".join(text.split()).split(" ", 1)[1].strip()
                parts["verb"] = parts.get("verb", "").lower()
                return Action(kind, plain, **parts)
    return Action(UNREAD, text[: LONGEST + 1])


def unread_message(text: str) -> str:
    """Return what an agent is told whose text is no action; long texts are cut."""
    plain = " ".join(text[: QUOTED * 4].split())
    shown = plain if len(plain) <= QUOTED else plain[: QUOTED - 1] + "…"
    return f'I could not understand the action: "{shown}"'


_ARTICLE = re.compile(r"^(?:the|a|an|some)_")


def normalise(name: str) -> str:
    """Return a name in lower case with underscores, without an article."""
    plain = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    return _ARTICLE.sub("", plain)[:LONGEST_NAME].strip("_")


def without_article(name: str) -> str:
    """Return a name as it was written, without an article before it."""
    return re.sub(r"^(?:the|a|an|some)\s+", "", name.strip(), flags=re.IGNORECASE)


def action_text(kind: str, *, x: str, y: str, z: str, verb: str, result: str, tool: str) -> str:
    """Return the text of an action from its parts."""
    using = f" with {tool}" if tool else ""
    texts = {
        ASK: f"Ask {x}",
        OPEN: f"Open {x}",
        CLOSE: f"Close {x}",
        TURN_ON: f"Turn on {x}",
        TURN_OFF: f"Turn off {x}",
        HEAT: f"Heat {x}",
        SEARCH: f"Search {x}",
        LOOK_FOR: f"Look for {x}",
        MOVE: f"Move {x} to {y}",
        MOVE_FROM: f"Move {x} from {y} to {z}",
        POUR: f"Pour {x} from {y} into {z}",
        MIX: f"Mix all items in {x} to get {result}{using}",
        COOK: f"Cook items in {x} to get {result}{using}",
        CHOP: f"Chop {x} to get {result}{using}",
        FREE_IN: f"{verb.capitalize()} items in {x} to get {result}{using}",
        FREE_ON: f"{verb.capitalize()} the object {x} to get {result}{using}",
        DONE: "Declare Done",
    }
    return texts[kind]
