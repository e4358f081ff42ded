"""The form of a registration, about one dataset or one study."""

from typing import Any

from django import forms

from analysis.filters.page_filters import known_dimensions, measures_here
from analysis.registrations.document import (
    CORRECTIONS,
    LONGEST_TEXT,
    LONGEST_TITLE,
    MOST_COMPARISONS,
    MOST_NAMES,
    QUESTIONS,
    read_comparison,
)
from analysis.registrations.text import SCORES
from annotation.models import Study
from annotation.questionnaires import load_questionnaire
from benchmarks.core.conditions import STANDARD
from benchmarks.core.problems import FileRefused
from benchmarks.datasets.selectors import dataset_levels
from benchmarks.models import Dataset

EPSILONS = (
    ("0.1", "0.1: beside crowd workers"),
    ("0.15", "0.15: beside skilled annotators"),
    ("0.2", "0.2: beside experts"),
)


def _text(label: str, rows: int, help: str, *, required: bool = False) -> forms.CharField:
    area = forms.Textarea(attrs={"rows": rows})
    return forms.CharField(
        label=label, widget=area, help_text=help, required=required, max_length=LONGEST_TEXT
    )


class RegistrationForm(forms.Form):
    """What to fix before the first answer; fields that the data do not have are left out."""

    use_required_attribute = False

    title = forms.CharField(label="Title", max_length=LONGEST_TITLE)
    question = forms.ChoiceField(label="Question")
    measure = forms.ChoiceField(label="Measure")
    comparisons = _text(
        "Hypotheses", 4,
        "One a line: a name, one of &gt; &lt; = ≠, and a name. Such as "
        "<code>careful-planner &gt; coin-flipper</code>; of changes per turn also "
        "<code>all &lt; 0</code>.",
        required=True,
    )  # fmt: skip
    agents = _text(
        "Other agents in the family", 2,
        "One a line. Pages correct over all pairs of the agents of the data: name all of them.",
    )  # fmt: skip
    experiment = forms.CharField(
        label="Experiment", max_length=160, required=False,
        help_text="The name of the experiment that you will start. Left empty, all runs of these "
        "agents on the dataset are meant.",
    )  # fmt: skip
    level = forms.ChoiceField(label="Level")
    condition = forms.CharField(label="Condition", max_length=200, required=False)
    judges = _text("Judges", 2, "One a line, by policy or endpoint. Left empty, any may judge.")
    scores = forms.ChoiceField(label="Scores of", choices=list(SCORES.items()), required=False)
    correction = forms.ChoiceField(
        label="Correction", required=False,
        choices=[("", "The page’s own"), *CORRECTIONS.items()],
        help_text="Bonferroni, on Decline and Preferences Holm. Another one makes every page "
        "exploratory.",
    )  # fmt: skip
    family = forms.IntegerField(
        label="Comparisons in the family", min_value=1, required=False,
        help_text="Left empty, all pairs of the agents.",
    )  # fmt: skip
    epsilon = forms.ChoiceField(label="ε", choices=EPSILONS, required=False)
    simulated = forms.ChoiceField(
        label="Simulated annotators",
        choices=[("exclude", "Left out"), ("include", "Counted")],
    )
    unblinded = forms.ChoiceField(
        label="Answers after unblinding",
        choices=[("", "Counted"), ("exclude", "Left out")], required=False,
    )  # fmt: skip
    all_tasks = forms.BooleanField(
        label="Count also tasks that their own reference does not solve", required=False
    )
    exclusions = _text("Other exclusions", 2, "In words: pages cannot check these.")
    tasks = forms.IntegerField(
        label="Tasks for each agent", min_value=1, required=False,
        help_text="Left empty, all tasks of the dataset.",
    )  # fmt: skip
    trajectories = forms.IntegerField(
        label="Trajectories for each agent", min_value=1, required=False,
        help_text="Left empty, one for each task.",
    )  # fmt: skip
    stopping = _text(
        "Stopping rule", 2, "When collecting data ends, and why not earlier or later.",
        required=True,
    )  # fmt: skip
    reasons = _text("Reasons", 3, "Why you expect this.")

    def __init__(self, *args: Any, dataset: Dataset | None = None, study: Study | None = None,
                 **kwargs: Any) -> None:  # fmt: skip
        super().__init__(*args, **kwargs)
        of_study = study is not None
        choices = [(key, kind.title) for key, kind in QUESTIONS.items()
                   if kind.of_study == of_study]  # fmt: skip
        if study is not None:
            questionnaire = load_questionnaire(study.questionnaire)
            pairs = questionnaire.unit == "pair"
            choices = [one for one in choices if (one[0] == "preference") == pairs]
            measures = {"all": "All that is asked"} | {
                (one.dimension or one.key): one.title for one in questionnaire.questions
            }
            levels: list[str] = []
            gone = ["experiment", "scores", "all_tasks", "tasks", "trajectories", "condition"]
            gone += ["epsilon", "judges"] if pairs else ["agents"]
            if not pairs:
                self.fields["comparisons"].help_text = (
                    "One a line: a judge, one of &gt; &lt; = ≠, and people; = says that the judge "
                    "may stand in. Such as <code>strict = people</code>."
                )
        else:
            assert dataset is not None
            measures = {key: one.title for key, one in measures_here(dataset.system).items()}
            if not known_dimensions(dataset.system):
                choices = [one for one in choices if one[0] != "slope"]
            levels = dataset_levels(dataset)
            gone = ["epsilon", "simulated", "unblinded"]
            self.fields["condition"].initial = STANDARD
        for name in gone:
            del self.fields[name]
        if not levels:
            del self.fields["level"]
        for name, offered in (("question", choices), ("measure", list(measures.items())),
                              ("level", [(level, level) for level in levels])):  # fmt: skip
            field = self.fields.get(name)
            if isinstance(field, forms.ChoiceField):
                field.choices = offered

    def clean_comparisons(self) -> list[dict[str, str]]:
        """Return the hypotheses, line by line."""
        lines = self.cleaned_data["comparisons"].splitlines()
        wanted = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
        if len(wanted) > MOST_COMPARISONS:
            raise forms.ValidationError(f"At most {MOST_COMPARISONS} hypotheses.")
        compared = []
        for number, line in wanted:
            one = read_comparison(line)
            if one is None:
                raise forms.ValidationError(
                    f"Line {number} is no comparison: write a name, then > < = or ≠ between "
                    "spaces, then a name."
                )
            compared.append({"first": one.first, "direction": one.direction, "second": one.second})
        return compared

    def clean_agents(self) -> list[str]:
        return self._names("agents")

    def clean_judges(self) -> list[str]:
        return self._names("judges")

    def _names(self, field: str) -> list[str]:
        lines = (line.strip() for line in self.cleaned_data[field].splitlines())
        names = list(dict.fromkeys(filter(None, lines)))
        if len(names) > MOST_NAMES:
            raise forms.ValidationError(f"At most {MOST_NAMES} names.")
        return names

    def values(self) -> dict[str, Any]:
        """Return the fields of the plan; what was left empty is left to the service."""
        values = {name: value for name, value in self.cleaned_data.items()
                  if value not in ("", None, [])}  # fmt: skip
        if "epsilon" in values:
            values["epsilon"] = float(values["epsilon"])
        return values

    def add_faults(self, refused: FileRefused) -> None:
        """Put the faults that the service found beside their fields."""
        for problem in refused.problems:
            field = problem.where.partition(".")[0]
            text = f"Expected {problem.expected}; found {problem.found}."
            self.add_error(field if field in self.fields else None, text)
