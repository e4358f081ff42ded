"""The form for writing a questionnaire."""

from typing import Any

from django import forms

from annotation.questionnaires import Questionnaire, QuestionnaireError
from annotation.questionnaires.services import LONGEST, check_name, check_questionnaire

BLANK = """\
kind: own
system: adaplanbench
title: My questions on a trajectory
shows: [plans, feedback]
instructions:
  - Read the query and the turns first.
sections:
  - {key: plan, title: About the final plan}
questions:
  - key: useful
    section: plan
    about: final
    title: Useful
    definition: Would this plan help the person who asked?
    needs: [final_plan]
    scale: {points: 5}
    anchors:
      1: It would not help at all.
      3: It would help in part.
      5: It would solve the problem.
    examples:
      1: "“Buy a new carpet.”"
      3: "“Blot it, then wait.”"
      5: "“Blot it, rinse with cold water, dry it with a towel.”"
"""


class QuestionnaireText(forms.Form):
    """A name, and the questionnaire itself in YAML."""

    use_required_attribute = False

    name = forms.CharField(
        max_length=60,
        widget=forms.TextInput(attrs={"spellcheck": "false", "autocapitalize": "off"}),
        help_text="Lowercase letters, digits and _. A name you used before gets its next version.",
    )
    text = forms.CharField(
        label="Questionnaire",
        max_length=LONGEST,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "yaml"}),
    )
    found: Questionnaire | None = None

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"].strip()
        try:
            check_name(name)
        except QuestionnaireError as error:
            raise forms.ValidationError(_sentence(str(error))) from None
        return name

    def clean(self) -> dict[str, Any]:
        given = self.cleaned_data
        if "name" in given and "text" in given:
            try:
                self.found = check_questionnaire(name=given["name"], text=given["text"])
            except QuestionnaireError as error:
                for problem in error.problems:
                    self.add_error("text", _sentence(problem))
        return given


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
