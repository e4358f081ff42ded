"""A registration as a document: which comparisons are planned, on which data, analysed how.

It names everything by words and by digests of contents, never by ids of one installation, so that
its SHA-256 verifies on every other.
"""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, with_config

from benchmarks.core.digests import canonical_json
from benchmarks.core.problems import Problems, Unquoted
from benchmarks.core.schemas import STRICT, Checked, Loc, Number, ShortText, expects, must

FORMAT = "planjury-registration/1"
LONGEST_TITLE, LONGEST_NAME, LONGEST_TEXT = 160, 200, 4000
# Comparisons of one registration; a file is at most this many bytes.
MOST_COMPARISONS, MOST_NAMES, LARGEST_FILE = 100, 200, 1_000_000

Scores = Literal["", "judges", "people", "corrected"]
Question = Literal["mean", "slope", "judge", "preference"]
Name = Annotated[str, ShortText(LONGEST_NAME)]
Text = Annotated[
    str,
    must("a text without NUL", lambda value: isinstance(value, str) and "\x00" not in value),
    Field(max_length=LONGEST_TEXT),
    expects(f"a text of at most {LONGEST_TEXT:,} characters"),
]
Names = Annotated[tuple[Name, ...], Field(max_length=MOST_NAMES)]
Count = Annotated[int, Field(strict=True, ge=1, le=10**9)]
Share = Annotated[Number, Field(ge=0, lt=1)]
Sha = Annotated[str, Field(pattern="^([0-9a-f]{8,64})?$"), expects("a digest in hexadecimal")]
Moment = Annotated[
    str,
    Field(pattern="^[0-9]{4}(-[0-9]{2}){2}T[0-9]{2}(:[0-9]{2}){2}Z$"),
    expects("a time such as 2026-05-12T09:30:00Z"),
]
Ordered = BeforeValidator(
    lambda value: tuple(sorted(value)) if isinstance(value, list | tuple) and all(
        isinstance(one, str) for one in value) else value
)  # fmt: skip


class QuestionKind:
    """A kind of question: its words, the pages that answer it, and the correction they use.

    ``of_study``: it is about people's answers in a study; ``paired``: families are all pairs.
    """

    def __init__(
        self, title: str, pages: Mapping[str, str], correction: str, *,
        of_study: bool = False, paired: bool = False,
    ) -> None:  # fmt: skip
        self.title, self.pages, self.correction = title, pages, correction
        self.of_study, self.paired = of_study, paired


QUESTIONS: Mapping[str, QuestionKind] = {
    "mean": QuestionKind(
        "Agents differ on a measure",
        {"leaderboard": "Leaderboard", "compare-models": "Compare models"}, "bonferroni",
        paired=True,
    ),
    "slope": QuestionKind("Scores change from turn to turn", {"decline": "Decline"}, "holm"),
    "judge": QuestionKind(
        "Judges stand in for people, or differ from them",
        {"judges": "Judges", "agreement": "Agreement"}, "bonferroni", of_study=True,
    ),
    "preference": QuestionKind(
        "People prefer one of two agents", {"preferences": "Preferences"}, "holm", of_study=True,
        paired=True,
    ),
}  # fmt: skip
CORRECTIONS = {
    "bonferroni": "Bonferroni", "holm": "Holm", "hochberg": "Hochberg",
    "bh": "Benjamini–Hochberg", "by": "Benjamini–Yekutieli", "none": "none",
}  # fmt: skip
SIGNS = {">": "is higher than", "<": "is lower than", "=": "equals", "≠": "differs from"}
# Besides agents and judges: what they may be compared with.
REFERENCES = ("people", "0", "all")


@with_config(STRICT)
@dataclass(frozen=True)
class Comparison:
    """Two agents, or a judge and people, and the direction that is expected."""

    first: Name
    direction: Literal[">", "<", "=", "≠"]
    second: Name

    def __str__(self) -> str:
        return f"{self.first} {self.direction} {self.second}"


@with_config(STRICT)
@dataclass(frozen=True)
class Plan:
    """The plan of an analysis. An empty value, or None, leaves that point open.

    ``dataset`` with ``version`` and ``checksum``, or ``study`` with ``questionnaire``, name the
    data. ``agents`` are all that the family is made of, ``family`` the number of comparisons that
    are corrected together. ``tasks`` and ``trajectories`` are planned for each agent, ``items`` and
    ``raters`` (of each item) for a study; ``task_set`` is the digest of the tasks' external ids.
    ``judges`` and ``settings`` (a digest) are those of the runs, where these exist already;
    ``versions`` those of the benchmark system.
    """

    title: Annotated[str, ShortText(LONGEST_TITLE)]
    question: Question
    measure: Name
    comparisons: Annotated[tuple[Comparison, ...], Field(min_length=1, max_length=MOST_COMPARISONS)]
    stopping: Text
    registered_at: Moment
    system: Annotated[str, Field(max_length=40), expects("the key of a system")] = ""
    dataset: Annotated[str, Field(max_length=120), expects("the name of a dataset")] = ""
    version: Annotated[str, Field(max_length=40), expects("a version")] = ""
    checksum: Sha = ""
    study: Annotated[str, Field(max_length=160), expects("the name of a study")] = ""
    questionnaire: Annotated[str, Field(max_length=80), expects("a questionnaire")] = ""
    correction: Literal["bonferroni", "holm", "hochberg", "bh", "by", "none"] = "bonferroni"
    family: Count | None = None
    alpha: Annotated[Number, Field(gt=0, lt=1)] = 0.05
    epsilon: Share | None = None
    experiment: Annotated[str, Field(max_length=160), expects("the name of an experiment")] = ""
    level: Annotated[str, Field(max_length=20), expects("a level")] = ""
    condition: Annotated[str, Field(max_length=200), expects("a condition")] = ""
    agents: Annotated[Names, Ordered] = ()
    judging: Annotated[str, Field(max_length=120), expects("the name of a judging")] = ""
    all_tasks: bool = False
    scores: Scores = ""
    simulated: Literal["exclude", "include"] = "exclude"
    unblinded: Literal["", "exclude"] = ""
    judges: Annotated[Names, Ordered] = ()
    tasks: Count | None = None
    trajectories: Count | None = None
    task_set: Sha = ""
    items: Count | None = None
    raters: Count | None = None
    versions: Annotated[
        Mapping[str, Annotated[str, Field(max_length=80)]], Field(max_length=20)
    ] = field(default_factory=dict)
    settings: Sha = ""
    exclusions: Text = ""
    reasons: Text = ""

    @property
    def kind(self) -> QuestionKind:
        return QUESTIONS[self.question]

    @property
    def is_pooled(self) -> bool:
        """Whether a comparison is of all agents together."""
        return any(one.first == "all" for one in self.comparisons)

    @property
    def compared(self) -> tuple[str, ...]:
        """The agents or judges that the comparisons are about, by name."""
        if self.is_pooled:
            return self.agents
        names = dict.fromkeys(name for one in self.comparisons for name in (one.first, one.second))
        return tuple(name for name in names if name not in REFERENCES)

    @property
    def whose_scores(self) -> Scores:
        """Whose scores are meant: a change per turn of all agents together is of the judges'."""
        return "judges" if self.is_pooled else self.scores

    @property
    def document(self) -> dict[str, Any]:
        """Return the plan as JSON values; its digest is that of this document."""
        return {"format": FORMAT, **json.loads(canonical_json(asdict(self)))}

    @property
    def data_name(self) -> str:
        """The dataset or study in words."""
        named = f"{self.dataset}, version {self.version}" if self.version else self.dataset
        return f"study “{self.study}”" if self.study else f"dataset “{named}”"


PLANS = Checked[Plan](Plan)


def sha256(document: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a document."""
    return hashlib.sha256(canonical_json(document).encode()).hexdigest()


def read_plan(document: Any, where: str = "the document") -> Plan:
    """Return the plan of a document; raise `FileRefused` with every fault by its field."""
    problems = Problems()
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        given = document.get("format") if isinstance(document, dict) else document
        problems.add(f"{where}, format", FORMAT, given)
        problems.check()
    plan = check_plan({name: value for name, value in document.items() if name != "format"},
                      problems, where)  # fmt: skip
    problems.check()
    assert plan is not None
    return plan


def check_plan(values: Mapping[str, Any], problems: Problems, where: str = "") -> Plan | None:
    """Return the plan with these values, or None with its faults noted."""

    def fault(loc: Loc, expected: str, found: Any) -> None:
        place = ".".join(map(str, loc))
        problems.add(", ".join(filter(None, (where, place))), expected, found)

    plan = PLANS.read(dict(values), fault)
    if plan is not None and bool(plan.study) == bool(plan.dataset):
        problems.add(where or "dataset", "a dataset or a study, and not both", Unquoted("another"))
    elif plan is not None and plan.kind.of_study != bool(plan.study):
        needs = "a study" if plan.kind.of_study else "a dataset"
        problems.add(where or "question", f"{needs} for this question", plan.question)
    return plan if not problems.total else None


def file_text(document: Mapping[str, Any], digest: str) -> str:
    """Return the file of a registration: the document with its digest."""
    content = {"document": document, "sha256": digest}
    return json.dumps(content, ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def read_file(data: bytes) -> tuple[dict[str, Any], Plan]:
    """Return document and plan of a file; raise `FileRefused` unless its digest verifies."""
    problems = Problems()
    content: Any = None
    if len(data) > LARGEST_FILE:
        problems.add("the file", f"at most {LARGEST_FILE:,} bytes", len(data))
        problems.check()
    try:
        content = json.loads(data.decode())
    except (ValueError, RecursionError):
        problems.add("the file", "a registration as JSON", Unquoted("something else"))
        problems.check()
    if not isinstance(content, dict) or set(content) != {"document", "sha256"}:
        problems.add("the file", "the fields document and sha256", content)
        problems.check()
    plan = read_plan(content["document"])
    try:
        digest = sha256(content["document"])
    except (ValueError, UnicodeEncodeError):
        digest = "none: it holds characters or numbers that JSON cannot"
    if digest != content["sha256"]:
        problems.add("sha256", f"{content['sha256']} of the document", Unquoted(digest))
    problems.check()
    return content["document"], plan


def read_comparison(line: str) -> Comparison | None:
    """Return the comparison of a line such as ``careful > coin``; None where it is none."""
    for sign in SIGNS:
        first, found, second = line.partition(f" {sign} ")
        if found and first.strip() and second.strip():
            return Comparison(first.strip(), sign, second.strip())  # type: ignore[arg-type]
    return None
