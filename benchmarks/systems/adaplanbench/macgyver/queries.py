"""The query of a MacGyver problem: its goal and circumstances, without its list of resources.

A problem tells what there is ("You have a rope, a tarp and …"), what is wrong with it ("However,
the rope is frayed"), and that nothing else may be used. All three go; what the goal is, what is
missing, and what the place is like stay.
"""

import re
from typing import NamedTuple

from benchmarks.systems.adaplanbench.macgyver.lexicon import mentions
from benchmarks.systems.adaplanbench.macgyver.words import PREPOSITIONS, sentences

_THINGS = (
    r"(?:items?|tools?|objects?|materials?|resources?|utilities|ingredients?|things|supplies|"
    r"equipment|components)"
)
# Texts have single blanks where these patterns are tried: runs of blanks would be tried from each.
_HAVE = (
    r"(?:(?:have|'ve|’ve|hold|carry|find|see|own|only have|possess)(?: got)?"
    r"(?: only| available| access to| with you)?)\b(?!\ (?:no|none|nothing)\b)"
)
_OFFERS = re.compile(
    rf"""
      \b(?:available|additional)\ (?:to\ you\ )?(?:{_THINGS}\ )?(?:is|are|include|includes|were|:)
    | \b{_THINGS}\ (?:that\ )?(?:are\ )?(?:currently\ )?(?:available|within\ reach|
          at\ (?:your|hand)|on\ hand|you(?:'ve|’ve|\ have)|laying\ idle|to\ you)
    | \b(?:the\ )?only\ {_THINGS}\b
    | \byour\ (?:only\ )?(?:{_THINGS}|backpack|toolbox|bag|kit)\ (?:is|are|include|includes|
          contains|consists?)\b
    | \ball\ (?:that\ )?(?:you|i)\b[^,.]{{0,12}}\b(?:have|find)
    | \bat\ your\ disposal\b | \bto\ choose\ from\b
    | \b(?:you|i)(?:\ (?:do|also|only|just|still|now|will))*\ ?{_HAVE}
    | \bwhat\ you\ have\b
    | ^with\ only\ | ^available\b | ^items\ available | ^tools\ available
    | \baround\ you\b | \bin\ a\ room\ with\b | \bthe\ following\ {_THINGS}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_KEEP_BEFORE = re.compile(
    r",? ?\b(?:but|however,|and) (?:(?:all|the only \w+|what) (?:that )?you (?:have|'ve|do have)"
    r"|(?:you|i) (?:do |only |also |just )*have)\b.*",
    re.IGNORECASE,
)
_KEEP_AFTER = re.compile(
    r", ?but ((?:you|i) (?:do not|don't|don’t|lack|have no)\b.*)", re.IGNORECASE
)
_ONLY_THERE_IS = re.compile(
    r",? ?but there (?:is|are) only\b[^.?!]{0,400}\bavailable\b", re.IGNORECASE
)
_NOTHING_ELSE = re.compile(
    rf"^(?:no|nothing) other {_THINGS}|^no other\b|^nothing else\b", re.IGNORECASE
)
_BUT = re.compile(
    r"^(?:however|unfortunately|sadly|but|besides|also|yet|still|note|keep in mind|additionally|"
    r"to make (?:things|matters)|the (?:problem|issue|thing|challenge|catch) (?:here )?is|"
    r"the problem is further|constraints?:)",
    re.IGNORECASE,
)
# What is left of "The issue here is that the …" says nothing.
_OPENING = re.compile(r"(?:\bis|\bmind|\bfact|\bnote)$", re.IGNORECASE)
_LABEL = re.compile(r"^(?:constraints?|note) ?: ?", re.IGNORECASE)
_CUT = re.compile(
    r", (?=\w+ing\b)|,? (?:and|but|so|so that|which|that's|that is|because|as|since|causing|"
    r"while|therefore|that) |; ",
    re.IGNORECASE,
)
_THESE = (
    r"(?:(?:only|just|nothing but) )?"
    r"(?:these|those|the|this|your|such|all these|the given|the available)"
)
_WHAT_THERE_IS = (
    r"(?: (?:you have|at hand|on hand|at your disposal|available|to you|"
    r"in this (?:scenario|situation)))*"
)
_ENDINGS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r",? ?\b(?:under|with|given|despite|considering|because of|in) (?:all )?"
        r"(?:these|those|the|this|such) (?:\w+ )?(?:conditions?|constraints?|considerations?|"
        r"issues?|challenges?|circumstances|limitations?|restrictions?|scenario|situation)\b,?",
        rf",? ?\b(?:by )?(?:using|with|utili[sz]ing|through|from|employing|given) {_THESE}"
        rf" (?:\w+ ){{0,2}}?{_THINGS}{_WHAT_THERE_IS}",
        r",? ?\b(?:using|with) (?:only )?"
        r"(?:what (?:you have|is available|you've got)|these(?=[,.?!]))",
        rf",? ?\bwithout (?:any|using any) (?:other|additional) {_THINGS}"
        r"(?: being| are)?(?: available)?",
        rf"\bmake these {_THINGS} work to ",
        rf"\buse (?:only )?(?:these|the|your) {_THINGS} to ",
        r"^(?:now|then|so|but|however|yet|besides),? ",
        r"(?<=how) now(?= can)",
    )
)
# "…, and your duct tape is too weak": a clause that turns to what there is.
_TURNS_TO = re.compile(r",? (?:and|but) (?=(?:your|the) )", re.IGNORECASE)
_MANY = 2


class ReadProblem(NamedTuple):
    """A problem taken apart: the query, and the sentences that list what there is."""

    query: str
    offers: str


def read_problem(text: str, number: int | None = None) -> ReadProblem:
    """Read query and resource list of a problem; ``number`` is its ID, which some texts start
    with.
    """
    parts = _sentences(text, number)
    offers = [bool(_is_offer(sentence)) for sentence in parts]
    listed = " ".join(s for s, offer in zip(parts, offers, strict=True) if offer)
    tools = {m.name for m in mentions(listed) if m.kind == "tool"} - {"water"}
    words = {w for tokens in sentences(listed) for w in tokens} - PREPOSITIONS
    first = offers.index(True) if any(offers) else len(parts)
    kept: list[str] = []
    for place, (sentence, offer) in enumerate(zip(parts, offers, strict=True)):
        if offer:
            rest = _beside_offer(sentence)
        elif sentence.endswith("?"):
            rest = sentence
        elif _NOTHING_ELSE.match(sentence):
            rest = ""
        elif place < first and not _BUT.match(sentence):
            rest = _before_offer(sentence, tools)
        else:
            rest = _without_tools(sentence, tools, words)
        rest = _tidy(rest)
        if rest and rest not in kept:
            kept.append(rest)
    query = " ".join(kept) or _tidy(text)
    return ReadProblem(query, listed)


def _sentences(text: str, number: int | None) -> list[str]:
    plain = " ".join(text.replace("\xa0", " ").split())
    if number is not None:
        plain = plain.removeprefix(f"{number} ")
    parts = re.split(r"(?<=[.?!])\s+(?=[A-Z\"“])", plain)
    return [part.strip() for part in parts if part.strip()]


def _is_offer(sentence: str) -> bool:
    """Return whether a sentence lists what there is: words that offer, and several things."""
    match = _OFFERS.search(sentence)
    if match is None or sentence.endswith("?"):
        return False
    rest = sentence if match.group().lower() == "what you have" else sentence[match.start() :]
    things = {m.name for m in mentions(rest) if m.kind == "tool"}
    parts = rest.count(",") + rest.count(" and ")
    return parts >= _MANY and len(things) >= (_MANY if rest.count(",") >= _MANY else _MANY + 1)


def _beside_offer(sentence: str) -> str:
    """Return what a sentence says beside its list: a goal before it, or what is missing after
    it.
    """
    if (after := _KEEP_AFTER.search(sentence)) is not None:
        return after.group(1)
    before = _KEEP_BEFORE.sub("", sentence)
    if before != sentence and not _is_offer(before) and len(before.split()) >= 3:
        return before
    return ""


def _before_offer(sentence: str, tools: set[str]) -> str:
    """Return a sentence that stands before the list: only what is wrong with a listed tool is
    dropped.
    """
    subject = re.match(r"the (?:\w+ ){1,2}?(?:has|have|is|are)\b", sentence, re.IGNORECASE)
    if subject and _names(subject.group(), tools):
        return ""
    for cut in _TURNS_TO.finditer(sentence):
        if _names(" ".join(sentence[cut.end() :].split()[:4]), tools):
            return sentence[: cut.start()]
    by_tool = re.search(r" to be \w+ (?:by|with) (?=the )", sentence)
    if by_tool and _names(sentence[by_tool.end() :], tools):
        return sentence[: by_tool.start()]
    return sentence


def _without_tools(sentence: str, tools: set[str], words: set[str]) -> str:
    """Return a sentence up to where it speaks of the listed tools; nothing if it does from the
    start.
    """
    label = _LABEL.match(sentence)
    sentence = sentence[label.end() :] if label else sentence
    subject = re.match(
        r"\A(?:however|unfortunately|sadly|but|besides|also|still|yet|all|,|\s)*"
        r"(?:the|your|these|any|all the)\s+((?:\w|-)+)",
        sentence,
        re.IGNORECASE,
    )
    if subject and subject.group(1).lower() in words:
        return ""
    if not _names(sentence, tools):
        return sentence
    for cut in reversed(list(_CUT.finditer(sentence))):
        part = sentence[: cut.start()]
        if not _names(part, tools) and len(part.split()) >= 4 and not _OPENING.search(part):
            return part
    return ""


def _names(text: str, tools: set[str]) -> bool:
    return any(m.kind == "tool" and m.name in tools for m in mentions(text))


def _tidy(sentence: str) -> str:
    """Return a sentence without its "using only these items", with its stop and capital letter."""
    sentence = " ".join(sentence.split())
    for ending in (_ONLY_THERE_IS, *_ENDINGS):
        sentence = " ".join(ending.sub("", sentence).split())
    sentence = re.sub(r" ([,.?!])", r"\1", sentence).strip(" ,;")
    if not sentence:
        return ""
    if sentence[-1] not in ".?!":
        sentence += "."
    return sentence[0].upper() + sentence[1:]
