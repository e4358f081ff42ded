"""The settings of a study, and whether it is archived before it is deleted."""

from typing import Any, cast

from django import forms
from django.conf import settings

from annotation.annotator_quality.rule import (
    ACTIONS,
    CODE_CHECK,
    CODE_CHECKS,
    GOLD_RULE,
    LEAST_SECONDS,
    MOST_SECONDS,
    TRAIN,
    code_check,
    gold_rule,
    least_seconds,
)
from annotation.form_fields import reason_field
from annotation.models import Study
from annotation.planning.forms import GoldRuleForm, RetentionForm, SettledField
from annotation.plans.adjudication_rule import (
    ADJUDICATE_FROM,
    ADJUDICATOR_SEES,
    MOST_POINTS,
    SEES,
    adjudicate_from,
    adjudicator_sees,
)
from annotation.plans.retention_rule import RETENTION, retention_rule
from annotation.plans.study_plan import BOUNDS
from annotation.studies.services import ERASURE, SCORES_TOO, WORDS_ALONE

MOMENT = "%Y-%m-%dT%H:%M"


class ArchiveForm(forms.Form):
    """Whether a study is exported before it is deleted."""

    archive = forms.BooleanField(
        label="Archive the study first",
        required=False,
        help_text="The server exports everything, with account names, into its archive folder. If "
        "that fails, nothing is deleted. manage.py import_study makes the study anew from it.",
    )


class SettingsForm(GoldRuleForm, RetentionForm):
    """The settings that may change while a study runs."""

    field_order = (
        "name", "closes_at", "lease_minutes", "idle_seconds", "break_minutes",
        "gold_action", "gold_answers", "gold_percent", "least_seconds", "code_check",
        "adjudicate_from", "adjudicator_sees",
        "erasure", "retention_platform_ids", "retention_invitations", "retention_answers",
        "retention_archive", "reason",
    )  # fmt: skip

    name = forms.CharField(max_length=160, help_text="Annotators see it above every item.")
    closes_at = forms.DateTimeField(
        label="Close automatically at",
        required=False,
        input_formats=[MOMENT, f"{MOMENT}:%S"],
        widget=forms.DateTimeInput(attrs={"type": "datetime-local"}, format=MOMENT),
        help_text="After this time no answers are accepted and open items are returned. Leave "
        f"empty to close the study yourself. Time zone: {settings.TIME_ZONE}.",
    )
    lease_minutes = forms.IntegerField(
        label="Return unanswered items after (minutes)",
        min_value=BOUNDS["lease_minutes"][0],
        max_value=BOUNDS["lease_minutes"][1],
        help_text="Pool only. After this time without an answer, somebody else gets the item.",
    )
    idle_seconds = forms.IntegerField(
        label="Pause timer after (idle seconds)",
        min_value=BOUNDS["idle_seconds"][0],
        max_value=BOUNDS["idle_seconds"][1],
        help_text="Longer time without a key, click or scroll is not counted as work.",
    )
    break_minutes = forms.IntegerField(
        label="Suggest a break after (minutes)",
        min_value=BOUNDS["break_minutes"][0],
        max_value=BOUNDS["break_minutes"][1],
        help_text="Minutes of work without a break. 0: never.",
    )
    least_seconds = forms.IntegerField(
        label="Least active time per item (seconds)",
        min_value=0,
        max_value=MOST_SECONDS,
        help_text="Managers see an alert when the median active time of somebody’s latest items is "
        "shorter. 0: never.",
    )
    code_check = SettledField(
        label="Before the completion code",
        choices=list(CODE_CHECKS.items()),
        help_text="For recruited participants. Whoever waits for a check reads that it is being "
        "done; you decide on the page Recruiting. Nobody is refused without you.",
    )
    adjudicate_from = forms.IntegerField(
        label="Adjudicate scores from a difference of (points)",
        min_value=0,
        max_value=MOST_POINTS,
        help_text="On a scale of 1 to 5; other scales in proportion. 0: every difference. Choices "
        "and marks are adjudicated wherever people differ.",
    )
    adjudicator_sees = SettledField(
        label="Before an adjudicator decides",
        choices=list(SEES.items()),
        help_text="The export says of every decision whether the raters’ answers were seen.",
    )
    erasure = SettledField(
        label="When a person is erased",
        choices=[
            (
                WORDS_ALONE,
                "Delete their name and texts; keep scores and marks, excluded from analyses",
            ),
            (SCORES_TOO, "Their scores and marks go too"),
        ],
        help_text="Administrators erase people on request. State this rule in the consent text.",
    )
    reason = reason_field(required=False)

    def __init__(self, data: Any = None, *, study: Study) -> None:
        names = ("name", "closes_at", "lease_minutes", "idle_seconds", "break_minutes")
        stored = {name: getattr(study, name) for name in names}
        rule = gold_rule(study)
        quality = {
            "gold_action": rule.action,
            "gold_answers": rule.answers,
            "gold_percent": round(100 * rule.share),
            LEAST_SECONDS: least_seconds(study),
            CODE_CHECK: code_check(study),
            ADJUDICATE_FROM: adjudicate_from(study),
            ADJUDICATOR_SEES: adjudicator_sees(study),
        }
        erasure = {ERASURE: study.settings.get(ERASURE, WORDS_ALONE)}
        retention = self.retention_initial(retention_rule(study))
        super().__init__(data, initial=stored | quality | erasure | retention)
        if not study.trains:
            actions = [choice for choice in ACTIONS.items() if choice[0] != TRAIN]
            cast(SettledField, self.fields["gold_action"]).choices = actions
        if study.dealing == Study.Dealing.NAMED:
            del self.fields["lease_minutes"]

    @property
    def wishes(self) -> dict[str, Any]:
        """The changed settings; the rest stays as it is stored, to the second."""
        given = self.cleaned_data
        changed = {name for name in self.changed_data if name != "reason"}
        gold = {name for name in changed if name.startswith("gold_")}
        kept = {name for name in changed if name.startswith("retention_")}
        wishes = {name: given[name] for name in changed - gold - kept}
        if gold:
            wishes[GOLD_RULE] = self.rule.stored
        if kept:
            wishes[RETENTION] = self.retention.stored
        return wishes
