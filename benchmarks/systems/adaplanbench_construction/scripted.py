"""Scripted stand-ins for the roles around the planners, by surface rules and the lexicon."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.digests import canonical_json, derive_seed
from benchmarks.core.system import ScriptedPolicy
from benchmarks.core.types import Ask, Json, Task
from benchmarks.systems.adaplanbench.macgyver.build import theme_of
from benchmarks.systems.adaplanbench.macgyver.constraints import (
    Mentions,
    Wording,
    goal_of,
    named_in,
)
from benchmarks.systems.adaplanbench.macgyver.lexicon import mentions, uses
from benchmarks.systems.adaplanbench.macgyver.queries import read_problem
from benchmarks.systems.adaplanbench.macgyver.vocabulary import load_lexicon
from benchmarks.systems.adaplanbench.protocol import WORLD
from benchmarks.systems.adaplanbench_construction.planners import (
    PLANNERS,
    VERSION,
    offered_tools,
    problem_number,
)
from benchmarks.systems.adaplanbench_construction.protocol import (
    KEEP,
    REMOVE,
)

Rule = Callable[[Task], Callable[[Ask], str]]


def _policy(name: str, role: str, title: str, rule: Rule) -> ScriptedPolicy:
    """Return a policy whose replies depend on the task and the ask alone."""

    def build(task: Task, parameters: Json) -> Answerer:
        say = rule(task)
        return Scripted(name, VERSION, lambda ask, seed: Answer(say(ask)))

    return ScriptedPolicy(name, role, title, VERSION, build, label="lexicon")


# --- Rewriter and filter ---------------------------------------------------------------------


def _rewriter(task: Task) -> Callable[[Ask], str]:
    return lambda ask: without_lists(
        read_problem(ask.context["problem"], problem_number(task)).query
    )


_ITEM = re.compile(
    r"(?:an?|the|some|your|several|one|two|three|four|five|six|\d{1,4})\b", re.IGNORECASE
)
_BY_MEANS = re.compile(r",? (?:with|using|from|given|out of) ", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.?!]) ")
# So many things side by side are a list of what there is.
_LISTED = 3


def without_lists(query: str) -> str:
    """Return a request without lists of things, whatever the things are: of a question what stands
    before its list, of other sentences nothing.
    """
    kept = []
    for sentence in _SENTENCE.split(query):
        if not _is_list(sentence):
            kept.append(sentence)
        elif sentence.endswith("?") and (cut := _BY_MEANS.search(sentence)) is not None:
            before = sentence[: cut.start()]
            kept += [f"{before}?"] * (len(before.split()) >= 3)
    return " ".join(kept)


def _is_list(sentence: str) -> bool:
    before, colon, after = sentence.partition(":")
    if colon and len(_parts(after)) >= _LISTED:
        return True
    items = 0
    for part in _parts(sentence)[1:]:  # the first part holds the verb and the first thing
        items = items + 1 if _ITEM.match(part) else 0
        if items >= _LISTED - 1:
            return True
    return False


def _parts(text: str) -> list[str]:
    """Return what commas, semicolons and "and" divide."""
    pieces = text.replace(";", ",").replace(" and ", ",").split(",")
    return [piece.strip() for piece in pieces if piece.strip()]


_AWAY = re.compile(
    r"\b(?:beach|desert|island|cave|forest|helicopter|boat|sea|hik(?:e|ing)|camp(?:ing|fire)?|"
    r"bus|lecture|laborator(?:y|ies)|lab|school|library|trail|hotel)\b",
    re.IGNORECASE,
)
_KNOWLEDGE = re.compile(
    r"\b(?:why (?:do|does|did|is|are)|what (?:is|are|does) (?:a|an|the)\b|explain|"
    r"is it (?:safe|possible|true)|determine (?:if|whether))",
    re.IGNORECASE,
)
_HELP = re.compile(
    r"\b(?:buy|purchase|order online|hire|call (?:a|an|the)|plumber|electrician|repair service)\b",
    re.IGNORECASE,
)
_PRESCRIBES = re.compile(
    r"\b(?:using|with) (?:only|just|nothing but)\b|\bby using (?:a|an|the)\b|"
    r"\bhow (?:can|do|would|should) you use\b",
    re.IGNORECASE,
)
_DECORATIVE = re.compile(
    r"\b(?:decorat\w+|ornament\w*|pretty|beautiful|stylish|mural|sandcastle|art project|costume)\b",
    re.IGNORECASE,
)
_FEWEST_WORDS = 8


def failed_criteria(query: str) -> dict[str, str]:
    """Return the criteria that a request fails by its words, with what says so."""
    failed: dict[str, str] = {}
    for name, pattern in (
        ("household", _AWAY),
        ("task", _KNOWLEDGE),
        ("self_reliant", _HELP),
        ("open", _PRESCRIBES),
        ("practical", _DECORATIVE),
    ):
        if (match := pattern.search(query)) is not None:
            failed[name] = f"It says “{match.group()}”."
    if len(query.split()) < _FEWEST_WORDS:
        failed["concrete"] = "It says too little."
    return failed


def _filter(task: Task) -> Callable[[Ask], str]:
    def say(ask: Ask) -> str:
        failed = failed_criteria(ask.context["query"])
        reason = " ".join(failed.values())
        return canonical_json({"fit": not failed, "failed": list(failed), "reason": reason})

    return say


# --- Extractor and merger --------------------------------------------------------------------


def _extractor(heeds: bool) -> Rule:
    """Take what the lexicon finds; one that ``heeds`` spares what the reference clearly uses."""

    def rule(task: Task) -> Callable[[Ask], str]:
        offered = offered_tools(task)

        def say(ask: Ask) -> str:
            context, lexicon = ask.context, load_lexicon()
            used = [uses(text, offered) for text in context["plans"]]
            tools = list(dict.fromkeys(name for plan in used for name in plan.tools))
            spared = _clearly(context["reference"], context["query"]) if heeds else set()
            rows = []
            if context["kind"] == WORLD:
                rows = [
                    {"text": f"It has to work without this: {name}.", "tool": name}
                    for name in tools
                    if f"tool:{name}" not in spared
                ]
            elif tools:
                shown = dict.fromkeys(name for plan in used for name in plan.attributes)
                rows = [
                    {
                        "text": f"I do not want this: {name}.",
                        "tool": next(
                            (t for t in tools if name in lexicon.tools[t].attributes), tools[0]
                        ),
                        "attribute": name,
                    }
                    for name in shown
                    if f"attribute:{name}" not in spared
                ]
            return canonical_json({"tools": tools, "candidates": rows})

        return say

    return rule


def _clearly(*texts: str) -> set[str]:
    return {m.about for text in texts for m in mentions(text) if m.status == "used"}


def _merger(task: Task) -> Callable[[Ask], str]:
    """Join what restricts the same; a general word joins a kind of it that is there."""

    def say(ask: Ask) -> str:
        entries: list[tuple[str, list[str]]] = [
            (row["about"], [row["id"]]) for row in ask.context["settled"]
        ]
        settled = len(entries)
        for row in ask.context["new"]:
            same = next((ids for about, ids in entries if _alike(about, row["about"])), None)
            if same is None:
                entries.append((row["about"], [row["id"]]))
            else:
                same.append(row["id"])
        texts = {row["about"]: row["text"] for row in ask.context["new"]}
        rows = [
            {"text": "" if place < settled else _worded(task, about, texts[about]), "from": ids}
            for place, (about, ids) in enumerate(entries)
            if place >= settled or len(ids) > 1
        ]
        return canonical_json({"constraints": rows})

    return say


def _alike(one: str, other: str) -> bool:
    tools = load_lexicon().tools
    names = [about.removeprefix("tool:") for about in (one, other)]
    kinds = [tools[name].of if name in tools else "" for name in names]
    return one == other or names[0] == kinds[1] or names[1] == kinds[0]


def _worded(task: Task, about: str, text: str) -> str:
    """Return the words of one person for a constraint, the same in every planner's pool."""
    wording = Wording(Random(derive_seed("wording", task.id, about)))
    kind, _, name = about.partition(":")
    if kind == "tool" and name in load_lexicon().tools:
        return wording.no_tool(name)
    if any(attribute.name == name for attribute in load_lexicon().attributes.values()):
        return wording.no_attribute(name)
    return text


# --- Checker ---------------------------------------------------------------------------------

# Who dislikes all of a set has no way left to do what it is for.
WAYS: Mapping[str, frozenset[str]] = {
    "join things": frozenset({"sticky adhesive", "tying knots", "sewing", "pointed tool"}),
    "part things": frozenset({"sharp blade", "cutting things up", "tearing or breaking things up"}),
    "clean things": frozenset({"wetting things", "soap or detergent", "scrubbing and scraping"}),
}


def _checker(strict: bool) -> Rule:
    """Remove what the query or the reference names, and wishes that leave no way open.

    A strict one also removes general words as vague, and leaves two ways open rather than one.
    """

    def rule(task: Task) -> Callable[[Ask], str]:
        offered = offered_tools(task)

        def say(ask: Ask) -> str:
            context = ask.context
            spared = {
                "reference": named_in(context["reference"], offered),
                "query": goal_of(context["query"], theme_of(context["query"])),
            }
            kept = {row["about"] for row in context["kept"]}
            rows = []
            for row in context["proposed"]:
                ground, reason = _against(row["about"], spared, kept, strict)
                if not ground:
                    kept.add(row["about"])
                decision = REMOVE if ground else KEEP
                rows.append(
                    {"key": row["key"], "decision": decision, "ground": ground, "reason": reason}
                )
            return canonical_json({"decisions": rows})

        return say

    return rule


def _against(
    about: str, spared: Mapping[str, Mentions], kept: Iterable[str], strict: bool
) -> tuple[str, str]:
    """Return on which ground a candidate is to go, and why; empty where it stays."""
    kind, _, name = about.partition(":")
    for ground, named in spared.items():
        if name in (named.tools if kind == "tool" else named.attributes):
            whose = "The known solution needs" if ground == "reference" else "The request is about"
            return ground, f"{whose}: {name}."
    if kind == "tool":
        if strict and name in load_lexicon().general:
            return "vague", f"Many things are called “{name}”."
        return "", ""
    disliked = {other.removeprefix("attribute:") for other in kept} | {name}
    for purpose, ways in WAYS.items():
        if name in ways and len(ways - disliked) < 1 + strict:
            return "exhausting", f"Too few ways to {purpose} would be left."
    return "", ""


def _policies() -> Sequence[ScriptedPolicy]:
    return (
        _policy("list-dropper", "rewriter", "Drops the list of tools", _rewriter),
        _policy("word-filter", "filter", "Goes by words", _filter),
        _policy("lexicon-extractor", "extractor", "Goes by a lexicon", _extractor(heeds=True)),
        _policy("eager-extractor", "extractor", "Spares nothing", _extractor(heeds=False)),
        _policy("lexicon-merger", "merger", "Joins by a lexicon", _merger),
        _policy("reference-checker", "checker", "Guards the reference", _checker(strict=False)),
        _policy("strict-checker", "checker", "Strict checker", _checker(strict=True)),
    )


POLICIES: Mapping[str, ScriptedPolicy] = {
    **PLANNERS,
    **{policy.name: policy for policy in _policies()},
}
