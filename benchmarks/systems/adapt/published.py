"""Figures of the ADAPT paper (Tables 1 and 2) as reference rows, and its experiments."""

from collections.abc import Iterator

from benchmarks.core.ports.comparability import (
    NOT_STATED,
    Finding,
    PublishedAspect,
    PublishedSetting,
    RunFacts,
    dataset_is,
    decoding,
    different,
    own_prompts,
    setting_words,
    unknown,
    whole_split,
)
from benchmarks.core.ports.published import PaperPreset, PaperStatements, Published, ReportPart
from benchmarks.systems.adapt.metrics import QUESTIONS_SEEN, QUESTIONS_UNSEEN, SEEN, UNSEEN
from benchmarks.systems.adapt.settings import (
    ALWAYS_ASK,
    BASELINE,
    NEVER_ASK,
    NO_DPO,
    NO_FOLD,
    NO_REFLECTION,
    REACT,
    REFLECTION_DPO,
    STAR_GATE,
    TEACHER,
)

MODEL = "Llama-3.1-70B-Instruct"
METRICS = (SEEN, UNSEEN, QUESTIONS_SEEN, QUESTIONS_UNSEEN)
# By method: (value, standard error) of each metric.
Row = tuple[tuple[float, float], tuple[float, float], tuple[float, float], tuple[float, float]]
TABLE_1: dict[str, Row] = {
    NEVER_ASK: ((27.5, 0.7), (28.6, 1.2), (0.0, 0.0), (0.0, 0.0)),
    BASELINE: ((34.7, 0.8), (34.3, 1.3), (2.3, 0.0), (2.3, 0.1)),
    REACT: ((36.1, 0.8), (36.8, 1.4), (2.3, 0.0), (2.4, 0.1)),
    STAR_GATE: ((34.1, 0.8), (33.5, 1.4), (2.0, 0.0), (2.0, 0.0)),
    REFLECTION_DPO: ((44.1, 1.0), (42.9, 1.6), (9.8, 0.1), (9.5, 0.2)),
    ALWAYS_ASK: ((52.1, 0.9), (50.8, 1.6), (22.2, 0.1), (22.4, 0.2)),
    TEACHER: ((65.5, 1.1), (65.5, 1.9), (0.0, 0.0), (0.0, 0.0)),
}
TABLE_2: dict[str, Row] = {
    NO_REFLECTION: ((17.5, 0.7), (16.5, 1.2), (1.0, 0.0), (0.9, 0.0)),
    NO_DPO: ((35.3, 0.8), (34.9, 1.4), (2.9, 0.1), (2.9, 0.1)),
}
_LEVEL = "household and rules are not published, so levels do not compare"


def _rows() -> Iterator[Published]:
    for source, table in (("Table 1", TABLE_1), ("Table 2", TABLE_2)):
        for method, values in table.items():
            for metric, (value, error) in zip(METRICS, values, strict=True):
                note = f"n not stated; {_LEVEL}"
                name = f"{metric}@method={method}"
                if source == "Table 2":
                    name = f"{metric}@ablation={method}"
                yield Published(MODEL, name, value, None, source, note, 1, error)


PUBLISHED = tuple(_rows())

PAPER = PaperStatements(name="ADAPT paper", tasks="8 tasks × 16 personas of the paper")

_MEASURES = ("satisfaction", "questions", "completed", "disclosed")
PRESETS = (
    PaperPreset(
        "adapt-methods", "Seven methods and two ablations", "Tables 1 and 2, Figures 3 to 5",
        "Preferences satisfied, questions and unasked food by each method and ablation on all "
        "personas and tasks, beside the published rows; questions by applicable preferences, the "
        "course of trajectories, and an example from question to preference; completion, and how "
        "many preferences were told in time.",
        (
            ReportPart("asking", "asking"),
            *(
                ReportPart("effects", f"effects-{measure.replace('_', '-')}",
                     {"factor": "method", "measure": measure})
                for measure in (*_MEASURES, *METRICS)
            ),
        ),
        ("Table 1", "Table 2"),
        "ADAPT",
    ),
    PaperPreset(
        "adapt-ablations", "Ablations of Reflection-DPO", "Table 2",
        "Reflection-DPO and both ablations beside the baseline. Each is a fine-tuned model of its "
        "own: add them as agents at endpoints, and set the ablation that they stand for.",
        (
            ReportPart("asking", "asking"),
            *(
                ReportPart("effects", f"effects-{measure.replace('_', '-')}",
                     {"factor": "ablation", "measure": measure})
                for measure in METRICS
            ),
        ),
        ("Table 2",),
        "ADAPT",
    ),
)  # fmt: skip


# --- the setting of the figures (section 6, appendix B) -------------------------------------------


def _split(facts: RunFacts) -> Finding:
    split = whole_split(8 * 16)(facts)
    fold = facts.settings.get("fold", NO_FOLD)
    here = f"{split.here}; fold left out: {fold}"
    apart = split.verdict == "different" or fold == NO_FOLD
    return Finding("different" if apart else split.verdict, here)


def _decoding(facts: RunFacts) -> Finding:
    decoded = decoding(None)(facts)
    if decoded.verdict == "different":
        return decoded
    form = facts.settings.get("reply_format")
    held = "a JSON object" if form == "json" else "free text, no grammar"
    return Finding("unknown" if form == "json" else "different", f"{decoded.here}; {held}")


def _persona(facts: RunFacts) -> Finding:
    who = facts.fills("persona")
    if not who:
        return Finding("unknown", "nobody is stored")
    if who[0].is_model:
        return Finding("unknown", who[0].model)
    return Finding("different", f"{who[0].title} ({who[0].kind})")


def _turns(facts: RunFacts) -> Finding:
    names = ("max_actions", "max_questions")
    limits = ", ".join(setting_words(name, facts.settings.get(name, NOT_STATED)) for name in names)
    return Finding("unknown", limits)


COMPARABILITY = (
    PublishedSetting(
        PAPER.name,
        {
            "prompt": PublishedAspect("the paper’s prompts (appendix)", own_prompts),
            "shots": PublishedAspect("none (zero-shot)", unknown("no examples, but the rules")),
            "split": PublishedAspect(
                "8 tasks × 16 personas, 12 seen and 4 unseen by turns", _split
            ),
            "decoding": PublishedAspect(
                "a grammar of valid actions with 82 verbs; temperature not stated", _decoding
            ),
            "turns": PublishedAspect(NOT_STATED, _turns),
            "judges": PublishedAspect("a language model plays the persona", _persona),
            "scorer": PublishedAspect(
                "rules of the paper’s simulator, not published",
                different("rules of our own for each preference"),
            ),
            "dataset": PublishedAspect("household not published", dataset_is()),
        },
    ),
)
