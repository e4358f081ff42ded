"""The comparability port: the setting of a paper's figures, and how a stored run compares with it.

A system states for each aspect what its paper says and a function that compares a run with it.
What a paper or a run does not state is unknown; it is never taken for the same.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

ComparisonVerdict = Literal["same", "different", "unknown"]
VERDICTS: tuple[ComparisonVerdict, ...] = ("same", "different", "unknown")
# The aspects of a certificate, in their order on pages.
ASPECTS: Mapping[str, str] = {
    "prompt": "Prompt",
    "shots": "Shots",
    "split": "Split",
    "decoding": "Decoding",
    "turns": "Turns",
    "judges": "Judges",
    "scorer": "Scorer",
    "dataset": "Dataset digest",
}
NOT_STATED = "not stated"
# Under these names endpoints take the greatest length of a reply, in tokens.
_LENGTHS = ("max_completion_tokens", "max_tokens")


@dataclass(frozen=True)
class AnswererFacts:
    """Who fills a role: ``kind`` as runs label it (scripted, machine, human, endpoint, …).

    ``model`` and ``parameters`` are those of an endpoint, as it is sent them.
    """

    kind: str
    title: str
    model: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_model(self) -> bool:
        return self.kind == "endpoint"


@dataclass(frozen=True)
class RunFacts:
    """What is stored of a run (or of a dataset alone), as far as papers state it.

    ``tasks`` counts the tasks of the run, ``splits`` those of each split where tasks name one.
    ``demo``: the dataset is of our own writing. ``imported``: the trajectories were made elsewhere,
    so that settings, prompts and decoding are not known.
    """

    dataset: str
    checksum: str
    tasks: int
    splits: Mapping[str, int] = field(default_factory=dict)
    demo: bool = False
    imported: bool = False
    level: str = ""
    attempts: int = 1
    settings: Mapping[str, Any] = field(default_factory=dict)
    pins: Mapping[str, Any] = field(default_factory=dict)
    roles: Mapping[str, Sequence[AnswererFacts]] = field(default_factory=dict)

    def fills(self, role: str) -> Sequence[AnswererFacts]:
        """Return who fills a role."""
        return self.roles.get(role, ())


@dataclass(frozen=True)
class Finding:
    """How a run compares in one aspect: the verdict, and what the run has there."""

    verdict: ComparisonVerdict
    here: str


Compare = Callable[[RunFacts], Finding]


@dataclass(frozen=True)
class PublishedAspect:
    """What a paper states on one aspect, and how a run compares with it."""

    published: str
    compare: Compare


@dataclass(frozen=True)
class PublishedSetting:
    """The setting of a paper's figures: those of ``sources``, as published rows name them.

    Without ``sources`` it is that of all rows that no other setting names. An aspect that is left
    out is not stated by the paper.
    """

    paper: str
    aspects: Mapping[str, PublishedAspect]
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class ComparedAspect:
    """One line of a certificate."""

    aspect: str
    verdict: ComparisonVerdict
    published: str
    here: str

    @property
    def title(self) -> str:
        return ASPECTS[self.aspect]


def compare_run(setting: PublishedSetting, facts: RunFacts) -> tuple[ComparedAspect, ...]:
    """Compare a run with the setting of a paper's figures, aspect by aspect."""
    rows = []
    for aspect in ASPECTS:
        stated = setting.aspects.get(aspect)
        if stated is None:
            finding = Finding("unknown", NOT_STATED)
        elif facts.imported and aspect not in ("split", "dataset"):
            finding = Finding("unknown", "made elsewhere")
        else:
            finding = stated.compare(facts)
        published = stated.published if stated is not None else NOT_STATED
        rows.append(ComparedAspect(aspect, finding.verdict, published, finding.here))
    return tuple(rows)


def setting_for(settings: Iterable[PublishedSetting], source: str) -> PublishedSetting | None:
    """Return the setting of the published rows of a source; None where a system states none."""
    known = list(settings)
    named = next((one for one in known if source in one.sources), None)
    return named or next((one for one in known if not one.sources), None)


# --- comparisons that systems share ---------------------------------------------------------------


def same(here: str) -> Compare:
    """Compare nothing: every run agrees with the paper, by the system's own rules."""
    return lambda _: Finding("same", here)


def different(here: str) -> Compare:
    """Compare nothing: no run can agree with the paper."""
    return lambda _: Finding("different", here)


def unknown(here: str) -> Compare:
    """Compare nothing: what the paper had cannot be held against what is stored."""
    return lambda _: Finding("unknown", here)


def own_prompts(facts: RunFacts) -> Finding:
    """Say that the prompts are of our own wording, and in which version."""
    return Finding("different", f"own wording, version {facts.pins.get('prompts', 'not stored')}")


def setting_words(name: str, value: Any) -> str:
    """Return a stored setting in words: ``turn budget 20``, ``tracking off``."""
    shown = {True: "on", False: "off"}[value] if isinstance(value, bool) else value
    return f"{name.replace('_', ' ')} {shown}"


def settings_are(wanted: Mapping[str, Any], words: str = "") -> Compare:
    """Compare settings of the run with their published values.

    ``words`` say what agrees; else the values stand there.
    """

    def compare(facts: RunFacts) -> Finding:
        missing = [name for name in wanted if name not in facts.settings]
        if missing:
            return Finding("unknown", f"{', '.join(missing)} not stored")
        values = [setting_words(name, facts.settings[name]) for name in wanted]
        if all(facts.settings[name] == value for name, value in wanted.items()):
            return Finding("same", words or ", ".join(values))
        return Finding("different", ", ".join(values))

    return compare


def decoding(
    temperature: float | None, max_tokens: int | None = None, *, more: str = ""
) -> Compare:
    """Compare the agent's sampling with a published temperature and length of replies.

    None: the paper does not state it. ``more`` is what the paper does besides and no run here does.
    """

    def compare(facts: RunFacts) -> Finding:
        agents = facts.fills("agent")
        if not agents:
            return Finding("unknown", "no agent is stored")
        agent = agents[0]
        if not agent.is_model:
            return Finding("different", _WITHOUT_SAMPLING.get(agent.kind, "a script"))
        return compare_sampling(agent, temperature, max_tokens, more)

    return compare


_WITHOUT_SAMPLING = {
    "human": "a person",
    "recorded": "recorded answers",
    "simulated": "replies of a program",
}


def compare_sampling(
    agent: AnswererFacts, temperature: float | None, max_tokens: int | None, more: str = ""
) -> Finding:
    """Compare a model's parameters with published ones; one that is not sent is unknown."""
    sent = agent.parameters
    length = next((sent[name] for name in _LENGTHS if sent.get(name) is not None), None)
    wanted = [("temperature", sent.get("temperature"), temperature),
              ("most tokens", length, max_tokens)]  # fmt: skip
    words = [f"{name} {_number(value)}" for name, value, _ in wanted if value is not None]
    unsent = [name for name, value, paper in wanted if value is None and paper is not None]
    words += [f"{' and '.join(unsent)} left to the endpoint"] if unsent else []
    words += [more] if more else []
    here = f"{agent.model}: {', '.join(words) or 'the endpoint’s defaults'}"
    stated = [(value, paper) for _, value, paper in wanted if paper is not None]
    if more or any(value is not None and value != paper for value, paper in stated):
        return Finding("different", here)
    return Finding("unknown" if unsent or not stated else "same", here)


def _number(value: Any) -> str:
    return f"{value:,}" if isinstance(value, int) else str(value)


def models_fill(wanted: Mapping[str, Sequence[str]]) -> Compare:
    """Compare who fills roles with the published models: by the name of the model, as it is sent.

    A model's name agrees where it begins with the published one, in any case, after the name of its
    provider: ``openai/gpt-5.4-2026-01`` is GPT-5.4.
    """

    def compare(facts: RunFacts) -> Finding:
        here, verdicts = [], []
        for role, models in wanted.items():
            who = facts.fills(role)
            here.append(f"{role.replace('_', ' ')}: {_listed(who) or 'nobody'}")
            left = list(models)
            for one in who:
                left = _without(left, one.model) if one.is_model else left
            verdicts.append(not left and len(who) == len(models))
        return Finding("same" if all(verdicts) else "different", "; ".join(here))

    return compare


def _listed(who: Sequence[AnswererFacts]) -> str:
    return ", ".join(one.model if one.is_model else f"{one.title} ({one.kind})" for one in who)


def _without(models: list[str], model: str) -> list[str]:
    name = model.rpartition("/")[2].lower()
    agreeing = next((one for one in models if name.startswith(one.lower())), None)
    return [one for one in models if one != agreeing]


def whole_split(tasks: int, *splits: str) -> Compare:
    """Compare the tasks of a run with a published split: its name where stored, and its size."""

    def compare(facts: RunFacts) -> Finding:
        names = ", ".join(f"{count:,} {name}" for name, count in sorted(facts.splits.items()))
        here = f"{facts.tasks:,} tasks" + (f": {names}" if names else "")
        here += " of our own" if facts.demo else ""
        other = bool(splits) and bool(facts.splits) and set(facts.splits) != set(splits)
        if facts.tasks != tasks or facts.demo or other:
            return Finding("different", here)
        named = not splits or bool(facts.splits)
        return Finding("same" if named else "unknown", here)

    return compare


def dataset_is(*checksums: str, own: str = "written for this product") -> Compare:
    """Compare the digest of the dataset with those of the published files, where they are known."""

    def compare(facts: RunFacts) -> Finding:
        here = f"{facts.dataset}, {facts.checksum[:12]}"
        if facts.checksum in checksums:
            return Finding("same", here)
        if facts.demo:
            return Finding("different", f"{here}: {own}")
        return Finding("different" if checksums else "unknown", here)

    return compare
