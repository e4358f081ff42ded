"""Hidden constraints of a MacGyver problem, from the tools that it and its answers name.

A world constraint takes a tool away, a user constraint refuses an attribute of tools or of their
use. Neither ever touches what the reference needs or what the problem itself is about.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from benchmarks.core.plans import PoolPlan
from benchmarks.core.types import Constraint, Profile
from benchmarks.core.yaml_files import read_yaml_file
from benchmarks.systems.adaplanbench.macgyver.lexicon import mentions, tools_of_words
from benchmarks.systems.adaplanbench.macgyver.vocabulary import FOLDER, load_lexicon
from benchmarks.systems.adaplanbench.macgyver.words import plural, sentences

# New constraints per level: (world, user). A level holds those of the levels below it too.
SIZES = {"low": (3, 2), "mid": (3, 2), "high": (3, 2)}
_SPREAD = 2.5
_LISTED_BONUS = 1.0
_SLIP = -3.0


@cache
def phrases() -> Any:
    """Return wordings of world constraints, and themes."""
    return read_yaml_file(FOLDER / "phrases.yaml")


class Mentions(NamedTuple):
    """The tools and attributes that a text names and does not rule out."""

    tools: frozenset[str]
    attributes: frozenset[str]


def named_in(text: str, listed: Sequence[str] = ()) -> Mentions:
    """Return what a text names, however it is meant, unless it is ruled out."""
    mentioned = [m for m in mentions(text, listed) if m.status != "ruled_out"]
    tools = {m.name for m in mentioned if m.kind == "tool"}
    lexicon = load_lexicon()
    kinds = {lexicon.tools[name].of for name in tools}
    # A general word that no kind explains may mean any of its kinds.
    loose = {name for name in tools if name in lexicon.general and name not in kinds}
    tools |= {tool.name for tool in lexicon.tools.values() if tool.of in loose}
    return Mentions(frozenset(tools), frozenset(m.name for m in mentioned if m.kind == "attribute"))


def goal_of(query: str, theme: str) -> Mentions:
    """Return what a query is about: every tool that one of its words may mean, with its
    attributes.
    """
    known = load_lexicon()
    mentioned = named_in(query)
    tools = mentioned.tools | set(tools_of_words(query))
    deeds = {name for tool in tools for name in known.tools[tool].attributes}
    deeds |= {known.attributes[key].name for key in phrases()["spared"].get(theme, ())}
    return Mentions(frozenset(tools), mentioned.attributes | deeds)


@cache
def _needs() -> Mapping[str, frozenset[str]]:
    """Return ``about`` → the words of a query that say that its task needs it."""
    given, names = phrases()["needs"], load_lexicon().attributes
    rows = {f"attribute:{names[key].name}": words for key, words in given["attributes"].items()}
    rows |= {f"tool:{name}": words for name, words in given["tools"].items()}
    return {about: frozenset({*words, *map(plural, words)}) for about, words in rows.items()}


def needed_by(query: str) -> dict[str, str]:
    """Return what a task itself needs, as ``about``, with the word of its query that says so.

    A constraint on it would contradict the task: nothing greasy for bacon, nothing wet in a boat.
    """
    words = [word for tokens in sentences(query) for word in tokens]
    word_by_need = {
        about: next((word for word in words if word in known), "")
        for about, known in _needs().items()
    }
    return {about: word for about, word in word_by_need.items() if word}


class Derived(NamedTuple):
    """Profiles low, mid and high, and the constraints left out because the task needs the thing.

    ``contradictory``: what each would have refused, as ``about``, to the word that shows the need.
    """

    profiles: tuple[Profile, ...]
    contradictory: Mapping[str, str]


def derive_profiles(
    plans: Sequence[PoolPlan],
    listed: Sequence[str],
    spared: Iterable[Mentions],
    rng: random.Random,
    needed: Mapping[str, str],
) -> Derived:
    """Derive profiles of constraints; what is ``spared`` or ``needed`` is never restricted.

    What is needed leaves the order of the other constraints as it is.
    """
    spared = list(spared)
    no_tools = frozenset().union(*(named.tools for named in spared))
    no_deeds = frozenset().union(*(named.attributes for named in spared))
    world = _tools(plans, listed, no_tools, rng)
    user = _attributes(plans, listed, no_deeds, rng)
    proposed = [f"tool:{name}" for name in world] + [f"attribute:{name}" for name in user]
    contradictory = {about: needed[about] for about in proposed if about in needed}
    world = [name for name in world if f"tool:{name}" not in needed]
    user = [name for name in user if f"attribute:{name}" not in needed]
    wording = Wording(rng)
    constraints: list[Constraint] = []
    profiles = []
    for rank, (level, (more_world, more_user)) in enumerate(SIZES.items()):
        for name in world[rank * more_world : (rank + 1) * more_world]:
            number = sum(c.kind == "world" for c in constraints) + 1
            constraints.append(
                Constraint(f"w{number}", "world", wording.no_tool(name), f"tool:{name}")
            )
        for name in user[rank * more_user : (rank + 1) * more_user]:
            number = sum(c.kind == "user" for c in constraints) + 1
            text = wording.no_attribute(name)
            constraints.append(Constraint(f"u{number}", "user", text, f"attribute:{name}"))
        profiles.append(Profile(level, tuple(constraints)))
    return Derived(tuple(profiles), contradictory)


def _ordered(
    counts: Mapping[str, int], bonus: Mapping[str, float], rng: random.Random
) -> list[str]:
    """Return names in the order in which they are taken: those that more answers use tend to
    come first.

    Chance mixes the order, so that a level does not hold the favourites alone; what no answer
    uses comes last in any case.
    """

    def rank(name: str) -> tuple[bool, float]:
        weight = min(counts[name], 4) + bonus.get(name, 0.0) + _SPREAD * rng.random()
        return counts[name] == 0, -weight

    ranks = {name: rank(name) for name in sorted(counts)}
    return sorted(ranks, key=lambda name: ranks[name])


def _tools(
    plans: Sequence[PoolPlan],
    listed: Sequence[str],
    spared: frozenset[str],
    rng: random.Random,
) -> list[str]:
    lexicon = load_lexicon()
    used = {
        name: sum(name in plan.tools for plan in plans) for plan in plans for name in plan.tools
    }
    counts = {name: used.get(name, 0) for name in listed}
    counts |= {n: count for n, count in used.items() if n not in counts and _plain(n, count)}
    counts = {name: n for name, n in counts.items() if name not in spared}
    # "No tape" beside "no duct tape" would be one constraint twice.
    kinds = {lexicon.tools[name].of for name in counts} | {lexicon.tools[n].of for n in listed}
    counts = {name: n for name, n in counts.items() if name not in kinds or name in listed}
    # What the problem does not offer and one answer alone names may be a slip of the pen.
    bonus = {n: _SLIP for n, count in counts.items() if count == 1}
    bonus |= dict.fromkeys(listed, _LISTED_BONUS)
    taken: list[str] = []
    for name in _ordered(counts, bonus, rng):
        of = lexicon.tools[name].of
        if of not in taken and not any(lexicon.tools[t].of == name for t in taken):
            taken.append(name)
    return taken


def _plain(name: str, count: int) -> bool:
    """Return whether a tool that the problem does not offer may be one that answers brought along.

    Words that are also verbs, general words and what lies about outdoors mostly are no tool.
    """
    lexicon = load_lexicon()
    tool = lexicon.tools[name]
    outdoors = lexicon.attributes["outdoor"].name in tool.attributes or name == "water"
    if outdoors or name in lexicon.general:
        return False
    return not tool.word or count > 2


def _attributes(
    plans: Sequence[PoolPlan],
    listed: Sequence[str],
    spared: frozenset[str],
    rng: random.Random,
) -> list[str]:
    lexicon = load_lexicon()
    offered = {name for tool in listed for name in lexicon.tools[tool].attributes}
    used = {
        name: sum(name in plan.attributes for plan in plans) for p in plans for name in p.attributes
    }
    counts = {name: used.get(name, 0) for name in sorted(offered | set(used))}
    return _ordered({n: c for n, c in counts.items() if n not in spared}, {}, rng)


class Wording:
    """The wording of one person: no sentence pattern is used twice while another is left."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.left: dict[str, list[str]] = {}

    def no_tool(self, name: str) -> str:
        number = load_lexicon().tools[name].number
        if number == "many":
            head, _, last = name.rpartition(" ")
            number, name = "plural", f"{head} {plural(last)}".strip()
        if not self.left.get(number):
            self.left[number] = list(phrases()["world"][number])
            self.rng.shuffle(self.left[number])
        article = "an" if name[0] in "aeiou" and not name.startswith(("usb", "one")) else "a"
        pattern = self.left[number].pop()
        return str(pattern).format(it=name, a=article, A=article.capitalize())

    def no_attribute(self, name: str) -> str:
        texts = next(a.texts for a in load_lexicon().attributes.values() if a.name == name)
        return self.rng.choice(texts)
