"""Figures of the ADAPT paper (Tables 1 and 2) as reference rows, and its experiments."""

from collections.abc import Iterator

from benchmarks.core.ports.published import PaperPreset, PaperStatements, Published, ReportPart
from benchmarks.systems.adapt.metrics import QUESTIONS_SEEN, QUESTIONS_UNSEEN, SEEN, UNSEEN
from benchmarks.systems.adapt.settings import (
    ALWAYS_ASK,
    BASELINE,
    NEVER_ASK,
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
    "without reflection": ((17.5, 0.7), (16.5, 1.2), (1.0, 0.0), (0.9, 0.0)),
    "without DPO": ((35.3, 0.8), (34.9, 1.4), (2.9, 0.1), (2.9, 0.1)),
}
_LEVEL = "household and rules are not published, so levels do not compare"


def _rows() -> Iterator[Published]:
    for source, table in (("Table 1", TABLE_1), ("Table 2", TABLE_2)):
        for method, values in table.items():
            for metric, (value, error) in zip(METRICS, values, strict=True):
                note = f"standard error {error:.1f}; n not stated; {_LEVEL}"
                name = f"{metric}@method={method}"
                if source == "Table 2":
                    name = f"{metric}@ablation={method}"
                yield Published(MODEL, name, value, None, source, note, 1)


PUBLISHED = tuple(_rows())

PAPER = PaperStatements(name="ADAPT paper", tasks="8 tasks × 16 personas of the paper")

_MEASURES = ("satisfaction", "questions", "completed", "disclosed")
PRESETS = (
    PaperPreset(
        "adapt-methods", "Seven methods", "Table 1, with Figures 3 to 5",
        "Preferences satisfied and questions asked by each method on all personas and tasks, "
        "beside the published rows; completion, and how many preferences were told in time. The "
        "pages of the runs draw the progress over time, questions by applicable preferences, and "
        "personas.",
        tuple(
            ReportPart("effects", f"effects-{measure.replace('_', '-')}",
                 {"factor": "method", "measure": measure})
            for measure in (*_MEASURES, *METRICS)
        ),
        ("Table 1",),
        "ADAPT",
    ),
    PaperPreset(
        "adapt-ablations", "Ablations of Reflection-DPO", "Table 2, with Figure 2",
        "Reflection-DPO beside the baseline. The two ablations are further fine-tuned models: add "
        "them as agents at endpoints.",
        tuple(
            ReportPart("effects", f"effects-{measure.replace('_', '-')}",
                 {"factor": "method", "measure": measure})
            for measure in METRICS
        ),
        ("Table 2",),
        "ADAPT",
    ),
)  # fmt: skip
