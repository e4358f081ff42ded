"""Hints on feedback before it is sent: what it seems to leave out, and what it seems to give away.

They go by words alone and say which words they looked for. A constraint is looked for by the name
of the tool or attribute that it is about, by what else that is called (the lexicon of the scripted
judges, and the circles of like words below), and by the words of its own text. How often they are
right is measured in ``docs/live-sessions.md``.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import NamedTuple

from benchmarks.core.ports.people import Hint
from benchmarks.core.types import Json
from benchmarks.systems.adaplanbench.macgyver.vocabulary import load_lexicon
from benchmarks.systems.adaplanbench.macgyver.words import sentences, vocabulary

LEFT_OUT, GIVES_AWAY = "left_out", "gives_away"
# How far they can be trusted, for the page; a test recomputes the figures.
MEASURED = (
    "Hints go by words alone: of those on scripted feedback from the demo 67 of 70 were right, of "
    "those on 44 texts written by hand 13 of 18."
)
# Of the words of a constraint's text so many must be there for it to count as told.
TEXT_SHARE = 0.5
TEXT_FEWEST = 2

_STOP = vocabulary(
    "a an the and or nor but so if as at by for from in into of off on onto out over to under up "
    "down with without near within against through than then that this these those there here it "
    "its is are was were be been being am do does did done doing have has had having not no none "
    "never nothing anything something everything any some every all each both either neither only "
    "just even too also very much more most less enough quite rather still already yet again i my "
    "mine me myself we our ours us you your yours he him his she her hers they them their theirs "
    "one ones own who whom whose which what when where why how can could will would shall should "
    "may might must cannot can't don't doesn't didn't won't wouldn't isn't aren't wasn't i'm i've "
    "i'd i'll we've there's that's it's let please sorry thing things way like want wants need "
    "needs needed use uses used using get gets got getting go goes going take takes taking make "
    "makes making keep keeps keeping put puts say said tell told before because since until while "
    "now today tonight tomorrow yesterday last week month day time home house household flat room "
    "place anyone anybody nobody somebody someone else other others another bit lot few many "
    "work works working good last long own owns owned find found look looking left right"
)
# Words that mean much the same in such remarks. Single words, in the form that a dictionary has.
_CIRCLES: tuple[str, ...] = (
    "electricity electric electrical power plug socket mains current",
    "money cost price pay buy purchase spend expensive",
    "shopping shop store buy purchase",
    "noise noisy loud quiet sound silent silence",
    "smell scent odour odor stink perfume fume",
    "flame fire burn candle",
    "heavy lift lifting weight carry",
    "people person somebody help helper alone neighbour friend stranger",
    "wet soak damp moist dry",
    "sticky glue adhesive stick tape",
    "greasy grease oil oily fat",
    "sharp blade knife",
    "climb climbing height dizzy",
    "hole drill",
    "towel cloth",
    "scald boil",
    "pull force tug",
    "hide sight visible see",
)


class Cues(NamedTuple):
    """The stems by which a constraint is looked for. ``name`` has one set of like words per word.

    ``phrases`` are other names, each to be found whole; ``text`` are the words of its text.
    """

    name: tuple[frozenset[str], ...]
    phrases: tuple[frozenset[str], ...]
    text: frozenset[str]
    words: tuple[str, ...]


def feedback_hints(context: Json, text: str) -> Sequence[Hint]:
    """Return what seems wrong with feedback on constraints; nothing is said of feedback on the
    rubric.
    """
    if context["mode"] != "constraints":
        return ()
    topic = context["query"]
    stems = _stems(text)
    now = {point["key"] for point in context["points"]}
    known = [row for row in context["profile"] if row["disclosed"] is not None or row["key"] in now]
    open_words = _words_of(known, topic)
    hints = [
        _left_out(point, cues)
        for point in context["points"]
        if not _reveals(cues := _cues(point["about"], point["text"], topic), stems)
    ]
    for row in context["profile"]:
        if row["disclosed"] is None and row["key"] not in now:
            cues = _cues(row["about"], row["text"], topic)
            if given_away := _given_away(cues, stems - open_words):
                hints.append(_gives_away(row, given_away, text))
    return hints


def _reveals(cues: Cues, stems: frozenset[str]) -> bool:
    """Return whether a text may tell a constraint: lenient, so that the hint is right when it
    comes.
    """
    if any(like & stems for like in cues.name) or any(words <= stems for words in cues.phrases):
        return True
    return _enough(cues.text, stems)


def _given_away(cues: Cues, stems: frozenset[str]) -> frozenset[str]:
    """Return the words by which a text seems to tell a constraint: strict, for the same reason."""
    if cues.name and all(like & stems for like in cues.name):
        return frozenset(word for like in cues.name for word in like & stems)
    for words in cues.phrases:
        if words <= stems:
            return words
    return cues.text & stems if _enough(cues.text, stems) else frozenset()


def _enough(words: frozenset[str], stems: frozenset[str]) -> bool:
    shared = len(words & stems)
    return shared >= TEXT_FEWEST and shared >= TEXT_SHARE * len(words)


def _words_of(rows: Iterable[Json], topic: str) -> frozenset[str]:
    """Return every word that constraints which may be told are known by."""
    words: set[str] = set()
    for row in rows:
        cues = _cues(row["about"], row["text"], topic)
        words |= cues.text.union(*cues.name)
    return frozenset(words)


@lru_cache(maxsize=4096)
def _cues(about: str, text: str, topic: str) -> Cues:
    kind, _, name = about.partition(":")
    subject = _stems(topic)
    words = [word for word in _content(name) if stem(word) not in subject] or _content(name)
    others = _also(kind, name)
    return Cues(
        tuple(_alike(word) for word in words),
        tuple(_stems(other) for other in others),
        frozenset(stem(word) for word in _content(text)) - subject,
        (*words, *(other for other in others if _stems(other) != _stems(name))),
    )


@cache
def _names() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """Return other names of tools, and words for attributes, from the lexicon."""
    lexicon = load_lexicon()
    keys = {attribute.name: key for key, attribute in lexicon.attributes.items()}
    names_of: dict[tuple[str, str], list[str]] = {}
    for forms in lexicon.forms.values():
        for form in forms:
            names_of.setdefault(("tool", form.key), []).append(" ".join(form.tokens))
    by_key: dict[str, list[str]] = {}
    for forms in lexicon.deeds.values():
        for form in forms:
            if not form.blank and all(token.isalpha() for token in form.tokens):
                by_key.setdefault(form.key, []).append(" ".join(form.tokens))
    for name, key in keys.items():
        names_of["attribute", name] = by_key.get(key, [])
    return {key: tuple(dict.fromkeys(names)) for key, names in names_of.items()}


def _also(kind: str, name: str) -> tuple[str, ...]:
    return tuple(other for other in _names().get((kind, name), ()) if _stems(other))


@cache
def _circles() -> Mapping[str, frozenset[str]]:
    circles: dict[str, frozenset[str]] = {}
    for circle in _CIRCLES:
        stems = frozenset(map(stem, circle.split()))
        for one in stems:
            circles[one] = circles.get(one, frozenset()) | stems
    return circles


def _alike(word: str) -> frozenset[str]:
    return _circles().get(stem(word), frozenset()) | {stem(word)}


def _content(text: str) -> list[str]:
    """Return the words of a text that say something, in order, each once."""
    tokens = [token for sentence in sentences(text) for token in sentence]
    return list(dict.fromkeys(t for t in tokens if t[0].isalnum() and t not in _STOP))


@lru_cache(maxsize=4096)
def _stems(text: str) -> frozenset[str]:
    return frozenset(map(stem, _content(text)))


@cache
def stem(word: str) -> str:
    """Return a word without its ending, the same for "drill", "drills", "drilled" and
    "drilling".
    """
    word = word.replace("'", "")
    if word.endswith(("ies", "ied")) and len(word) > 4:
        return word[:-3] + "i"
    for ending in ("ings", "ing", "ers", "er", "ed", "es", "s", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word[:-1] + "i" if word.endswith("y") else word


def _left_out(point: Json, cues: Cues) -> Hint:
    looked = _listed(cues.words or sorted(cues.text))
    words = f"This does not seem to say: “{point['text']}” Looked for {looked}, and like words."
    return Hint(LEFT_OUT, words, point["key"])


def _gives_away(row: Json, stems: frozenset[str], text: str) -> Hint:
    listed = _listed([word for word in _content(text) if stem(word) in stems])
    words = f"{listed} may give away what must not be told yet: “{row['text']}”"
    return Hint(GIVES_AWAY, words, row["key"])


def _listed(words: Iterable[str]) -> str:
    quoted = [f"“{word}”" for word in words][:6]
    return ", ".join(quoted)
