"""What a graph of tools is made of: data types as nodes, tools as edges, each with its place."""

from dataclasses import dataclass, field

from benchmarks.systems.planbench_xl.walk import MISLEADING, NOTHING, REFUSED, RELIABLE

_LINE = 20  # characters of a name in a line
OPEN, BLOCKED = "open", "blocked"
_WORDS = {
    OPEN: "on a catalogued path",
    BLOCKED: "blocked",
    RELIABLE: "called, reliable",
    MISLEADING: "called, unreliable",
    NOTHING: "called, nothing found",
    REFUSED: "call refused",
}


@dataclass
class Node:
    """A data type. ``found`` is the step that found it, ``misled`` those with a false value."""

    name: str
    given: bool
    target: bool
    layer: int = 0
    x: float = 0
    y: float = 0
    found: int | None = None
    misled: list[int] = field(default_factory=list)
    catalogued: bool = True

    @property
    def lines(self) -> list[str]:
        """The name in one line or two, cut at an underscore."""
        if len(self.name) <= _LINE:
            return [self.name]
        cut = self.name.rfind("_", 1, _LINE) + 1 or _LINE
        rest = self.name[cut:]
        return [self.name[:cut], rest if len(rest) <= _LINE else rest[: _LINE - 1] + "…"]

    @property
    def state(self) -> str:
        if self.given:
            return "given"
        if self.found is not None:
            return "found"
        return "misled" if self.misled else "unknown"

    @property
    def note(self) -> str:
        """What stands under the name."""
        said = ["asked for"] if self.target else []
        if self.given:
            said.append("given")
        elif self.found is not None:
            said.append(f"✓ step {self.found}")
        elif self.misled:
            said.append(f"? step {self.misled[0]}")
        return ", ".join(said)


@dataclass
class Edge:
    """A tool. ``key`` is the letter that stands at its lines; ``steps`` are its calls.

    ``drawn_with`` counts the tools that share its lines.
    """

    key: str
    tool: str
    inputs: tuple[str, ...]
    output: str
    state: str
    blocked: bool = False
    steps: tuple[int, ...] = ()
    stands_for: str = ""
    noise: str = ""
    lines: list[str] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    x: float = 0
    y: float = 0
    drawn_with: int = 0

    @property
    def words(self) -> str:
        """What became of it."""
        said = _WORDS[self.state]
        if self.blocked and self.state != BLOCKED:
            said += ", blocked"
        if self.noise:
            said += f" ({self.noise})"
        return said

    @property
    def label(self) -> str:
        marks = {BLOCKED: " ✕", MISLEADING: " ▲", NOTHING: " ∅", REFUSED: " ⊘"}
        steps = "·" + ",".join(map(str, self.steps[:2])) if self.steps else ""
        more = "…" if len(self.steps) > 2 else ""
        if self.drawn_with:
            return f"{self.key} +{self.drawn_with}{marks.get(self.state, '')}"
        return f"{self.key}{steps}{more}{marks.get(self.state, '')}"

    @property
    def label_width(self) -> float:
        return 10 + 7 * len(self.label)

    @property
    def half(self) -> float:
        return self.label_width / 2
