"""Planning problems in English: by the templates of a domain, or by general ones.

A domain's templates are a file ``text.yaml`` beside its PDDL. A phrase says what a predicate or
action means, with ``{0}``, ``{1}`` … for its objects; a second phrase of a predicate puts several
facts that differ in their first object into one, with ``{all}`` for these. What has no template is
described by its name, so that any domain has a text.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.core.yaml_files import read_yaml
from benchmarks.systems.acpbench_hard.pddl.conditions import Atom
from benchmarks.systems.acpbench_hard.pddl.domain import Domain, Types
from benchmarks.systems.acpbench_hard.pddl.instance import Instance, State, show_atom


class TextError(ValueError):
    """Templates that do not fit their domain; the text names the entry."""


@dataclass(frozen=True)
class Templates:
    """The phrases of a domain: what it is about, and by name its types, predicates and actions."""

    about: str = ""
    types: Mapping[str, Sequence[str]] = field(default_factory=dict)
    predicates: Mapping[str, Sequence[str]] = field(default_factory=dict)
    actions: Mapping[str, str] = field(default_factory=dict)


def read_templates(path: Path, domain: Domain) -> Templates:
    """Read templates and check that each fits the domain; ``TextError`` or ``FileRefused``."""
    content = read_yaml(path.read_text(encoding="utf-8")).value
    parts = {"about", "types", "predicates", "actions"}
    if not isinstance(content, dict) or not set(content) <= parts:
        raise TextError(f"{path.name}: expected about, types, predicates and actions")
    templates = Templates(
        str(content.get("about", "")).strip(),
        _phrases(path, "types", content.get("types"), 2),
        _phrases(path, "predicates", content.get("predicates"), 2),
        {
            name: texts[0]
            for name, texts in _phrases(path, "actions", content.get("actions")).items()
        },
    )
    for name, texts in templates.predicates.items():
        if name not in domain.predicates:
            raise TextError(f"{path.name}: the domain has no predicate {name}")
        for text in texts:
            _check(path, name, text, len(domain.predicates[name]), "{all}" in text)
    for name, text in templates.actions.items():
        if name not in domain.actions:
            raise TextError(f"{path.name}: the domain has no action {name}")
        _check(path, name, text, len(domain.actions[name].parameters))
    return templates


def _phrases(path: Path, part: str, content: Any, most: int = 1) -> dict[str, list[str]]:
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise TextError(f"{path.name}, {part}: expected phrases by name")
    phrases = {str(name).lower(): [texts] if isinstance(texts, str) else texts
               for name, texts in content.items()}  # fmt: skip
    for name, texts in phrases.items():
        whole = isinstance(texts, list) and all(isinstance(text, str) for text in texts)
        if not whole or not 1 <= len(texts) <= most:
            raise TextError(f"{path.name}, {part}, {name}: expected up to {most} phrases")
    return phrases


def _check(path: Path, name: str, text: str, size: int, grouped: bool = False) -> None:
    try:
        text.format(*("" for _ in range(size)), **({"all": ""} if grouped else {}))
    except (IndexError, KeyError, ValueError, AttributeError):
        raise TextError(
            f"{path.name}, {name}: expected a phrase with {{0}} to {{{size - 1}}}, found {text!r}"
        ) from None


class Describer(NamedTuple):
    """Puts states, actions and propositions of a domain into words."""

    domain: Domain
    templates: Templates = Templates()

    def about(self) -> str:
        """Return what the domain is about."""
        name = self.domain.name.replace("-", " ").replace("_", " ")
        return self.templates.about or f"This is a planning problem of the domain “{name}”."

    def context(self, instance: Instance, state: State, *, actions: bool, goal: bool) -> str:
        """Return the situation in words: objects, what never changes, what holds now, and what is
        named.

        ``actions``: the actions are listed, otherwise the propositions. ``goal``: the goal is told.
        """
        fluents = self.domain.fluents
        fixed = self.facts(atom for atom in state if atom[0] not in fluents)
        now = self.facts(atom for atom in state if atom[0] in fluents)
        parts = [self.about(), self._objects(instance)]
        if fixed:
            parts.append(f"It always holds: {_joined(fixed, '; ')}.")
        parts.append(f"Currently, {_joined(now, '; ')}." if now else "Currently, nothing holds.")
        if goal:
            parts.append(f"The goal is that {self._goal(instance)}.")
        parts.append(self._actions() if actions else self._propositions())
        return "\n".join(part for part in parts if part)

    def facts(self, atoms: Iterable[Atom]) -> list[str]:
        """Describe atoms as phrases in a fixed order; those that differ in their first object
        become one.
        """
        groups: dict[tuple[str, ...], list[Atom]] = {}
        order = {name: place for place, name in enumerate(self.domain.predicates)}
        for atom in sorted(atoms, key=lambda atom: (order[atom[0]], atom[1:])):
            several = len(self.templates.predicates.get(atom[0], ())) > 1
            key = (atom[0], *atom[2:]) if several else atom
            groups.setdefault(key, []).append(atom)
        return [
            self.fact(group[0]) if len(group) == 1 else self._several(group)
            for group in groups.values()
        ]

    def fact(self, atom: Atom) -> str:
        """Return one atom as a phrase."""
        if phrases := self.templates.predicates.get(atom[0]):
            return phrases[0].format(*atom[1:])
        if len(atom) == 1:
            return f"{_words(atom[0])} holds"
        return f"“{_words(atom[0])}” holds for {_joined(atom[1:])}"

    def action(self, action: Atom) -> str:
        """Return one action as a phrase."""
        if phrase := self.templates.actions.get(action[0]):
            return phrase.format(*action[1:])
        return (
            f"{_words(action[0])} with {_joined(action[1:])}" if action[1:] else _words(action[0])
        )

    def _several(self, atoms: Sequence[Atom]) -> str:
        names = _joined([atom[1] for atom in atoms])
        # The first object is among those that {all} stands for.
        return self.templates.predicates[atoms[0][0]][1].format("", *atoms[0][2:], all=names)

    def _objects(self, instance: Instance) -> str:
        kinds: dict[Types, list[str]] = {}
        for name, types in instance.objects.items():
            kinds.setdefault(types, []).append(name)
        parts = []
        for types, names in kinds.items():
            one, many = self._type(types)
            parts.append(f"{len(names)} {one if len(names) == 1 else many} ({_joined(names)})")
        return (
            f"There {'is' if parts[0].startswith('1 ') else 'are'} {_joined(parts)}."
            if parts
            else ""
        )  # noqa: E501

    def _type(self, types: Types) -> tuple[str, str]:
        phrases = self.templates.types.get(types[0]) if len(types) == 1 else None
        if phrases:
            return phrases[0], phrases[-1]
        name = " or ".join(_words(one) for one in types)
        return f"object of type {name}", f"objects of type {name}"

    def _goal(self, instance: Instance) -> str:
        cases = []
        for case in instance.goal:
            phrases = self.facts(tuple(map(str, template)) for template in case.positive)
            phrases += [
                f"it does not hold that {self.fact(tuple(map(str, template)))}"
                for template in case.negative
            ]
            cases.append(_joined(phrases))
        return ", or ".join(cases)

    def _actions(self) -> str:
        parts = []
        for action in self.domain.actions.values():
            names = tuple(name for name, _ in action.parameters)
            parts.append(
                f"{show_atom((action.name, *names))} - {self.action((action.name, *names))}"
            )
        return f"The available actions are: {'; '.join(parts)}."

    def _propositions(self) -> str:
        """Return the propositions that actions change; what never changes is none that is asked
        for.
        """
        parts = []
        for name, kinds in self.domain.predicates.items():
            if name in self.domain.fluents:
                atom = (name, *_variables(kinds))
                parts.append(f"{show_atom(atom)} - {self.fact(atom)}")
        return f"The available propositions are: {'; '.join(parts)}."


def _variables(kinds: Sequence[Types]) -> list[str]:
    """Return names for the places of a predicate, after their types."""
    names = [kind[0] if len(kind) == 1 else "object" for kind in kinds]
    return [
        f"?{name}" if names.count(name) == 1 else f"?{name}{names[:place].count(name) + 1}"
        for place, name in enumerate(names)
    ]


def _words(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def _joined(texts: Sequence[str], between: str = ", ") -> str:
    """Join texts to one, with “and” before the last."""
    if len(texts) < 2:
        return "".join(texts)
    if between != ", ":
        return between.join(texts)
    last = ", and " if len(texts) > 2 else " and "
    return between.join(texts[:-1]) + last + texts[-1]
