"""The validity port: what a dataset of the system is worth before agents are compared on it.

A certificate of validity states which tasks their own reference solves, what policies score that
do not read their task, whether the order of agents follows from a script's assumption, and how much
of the score is decided by the form of an answer. Everything is played by scripts through the
system's own episode.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.core.answerers import Answer, Answerer, Scripted
from benchmarks.core.types import Json, Outcome, Task

# Builds an agent for a task; the second argument has the other tasks that are played.
AgentOf = Callable[[Task, Sequence[Task]], Answerer]


@dataclass(frozen=True)
class Variant:
    """An agent and the conditions that it plays under; what is left out is as in a standard run.

    ``agent`` is the name of a scripted policy, with ``parameters`` beside its own, or a function
    that builds an agent for a task; ``roles`` names scripted policies for other roles.
    """

    key: str
    title: str
    help: str = ""
    agent: str | AgentOf = ""
    parameters: Json = field(default_factory=dict)
    settings: Json = field(default_factory=dict)
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)


@dataclass(frozen=True)
class AssumptionPair:
    """Two opposite assumptions under which the same contenders are ranked.

    ``about`` says in a sentence what is assumed. A pair of contenders whose order differs between
    the two is decided by the assumption, not by the contenders.
    """

    about: str
    assumptions: tuple[Variant, Variant]
    contenders: tuple[Variant, ...]


Rewrite = Callable[[str], str]


@dataclass(frozen=True)
class Form:
    """A way of writing a reply that leaves its content as it is."""

    key: str
    title: str
    rewrite: Rewrite


def always(text: str) -> AgentOf:
    """Return an agent that gives one reply whatever it is asked."""

    def build(task: Task, others: Sequence[Task]) -> Answerer:
        return Scripted("always", "1", lambda ask, seed: Answer(text), {"text": text})

    return build


def _one_kind(_: Task) -> str:
    return ""


def _everywhere(_: Task) -> bool:
    return True


def _no_constants(_: Sequence[Task]) -> Sequence[Variant]:
    return ()


# What language models do with answers although they were told otherwise.
FORMS = (
    Form("fenced", "in a code block", lambda text: f"```\n{text}\n```"),
    Form("introduced", "after a sentence", lambda text: f"Let me think step by step.\n\n{text}"),
    Form("labelled", "after “Answer:”", lambda text: f"I considered the task.\nAnswer: {text}"),
    Form("spaced", "with further blanks", lambda text: re.sub(r" +", "  ", f"\n{text}\n\n")),
)


@dataclass(frozen=True)
class Validity:
    """What a system offers for certificates of validity.

    ``reference`` plays what the dataset itself gives as the solution, where ``has_reference`` says
    that a task has one. A task is usable where the reference's outcome is right; a system that
    scores by degrees says with ``usable`` what is enough.

    ``blind`` are policies that do not read their task, such as *nothing*, *everything* and
    *random*. ``constants`` are answers that could be given to every task; of them the certificate
    takes for each task the one that scores best on the other tasks of the same ``kind_of``, which
    is the one thing that a blind policy may know of a task. ``kinds`` says what such a kind is.

    ``bracket`` has opposite assumptions of scripts, where one may decide the order of agents.
    ``forms`` are ways of writing that leave the content of a reply as it is. ``version`` changes
    with what is played, so that datasets are certified anew.
    """

    reference: Variant
    has_reference: Callable[[Task], bool] = _everywhere
    blind: tuple[Variant, ...] = ()
    constants: Callable[[Sequence[Task]], Sequence[Variant]] = _no_constants
    constant_help: str = ""
    kind_of: Callable[[Task], str] = _one_kind
    kinds: str = ""
    bracket: AssumptionPair | None = None
    forms: tuple[Form, ...] = FORMS
    usable: Callable[[Outcome], bool] | None = None
    version: str = "1"
