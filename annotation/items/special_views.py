"""Add training and gold items to a running study: choose them, set expected answers, store.

As in the wizard for a new study, the form carries the draft from page to page.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import StudyAccess, fetch_managed_study
from annotation.errors import Refused
from annotation.items.forms import SpecialsForm
from annotation.items.specials import AddedSpecials, add_specials
from annotation.models import Item, Study
from annotation.planning.draft import USES, Draft, special_of
from annotation.planning.expected_answers import ExpectedForm
from annotation.planning.source_choices import choice_of
from annotation.planning.special_items import choosable_items, special_rows
from annotation.plans.study_plan import PlanError, PlanProblem
from annotation.study_frame.context import study_context
from benchmarks.access import signed_in, visibility


class _Page(NamedTuple):
    """A request with what it carries."""

    request: HttpRequest
    access: StudyAccess
    draft: Draft

    @property
    def study(self) -> Study:
        return self.access.study

    def show(
        self, *, form: SpecialsForm | None = None, problems: list[str] | None = None
    ) -> HttpResponseBase:
        """Show what was chosen so far."""
        given = self.request.POST if self.request.method == "POST" else None
        shown = form or SpecialsForm(given if given and "gold_each" in given else None,
                                     study=self.study)  # fmt: skip
        context = {
            **study_context(self.access, "items"),
            "draft": self.draft,
            "form": shown,
            "specials": special_rows(
                self.draft.specials, choice_of(self.study), visibility(self.request)
            ),
            "problems": problems,
        }
        status = 422 if problems or shown.errors else 200
        return render(self.request, "annotation/study_specials.html", context, status=status)

    def part(self, template: str, status: int, context: Mapping[str, Any]) -> HttpResponseBase:
        """Show one of the pages in between."""
        common = {"draft": self.draft, "study": self.study, "here": self.study.name}
        return render(self.request, template, {**common, **context}, status=status)


@require_http_methods(["GET", "POST"])
@signed_in
def specials(request: HttpRequest, pk: int) -> HttpResponseBase:
    """Show the steps of adding items. Whoever annotates blind may not know which items check
    them.
    """
    access = fetch_managed_study(request, pk)
    if access.blind:
        raise PermissionDenied("You annotate this study blind: another manager can add these.")
    page = _Page(request, access, Draft.read(request.POST.get("draft", "")))
    verb, _, rest = request.POST.get("go", "").partition(":")
    match verb:
        case "pick":
            return _pick(page)
        case "add" | "expect" | "keep" | "drop":
            return _special(page, verb, rest)
        case "store":
            return _store(page)
        case _:
            return page.show()


def _pick(page: _Page) -> HttpResponseBase:
    """Show items of where the study's items come from, but for those that it has."""
    study, chosen = page.study, choice_of(page.study)
    find = page.request.POST.get("find", "").strip()
    rows = choosable_items(
        chosen, study.questionnaire, visibility(page.request), find=find,
        taken={row["item"] for row in page.draft.specials},
        held=Item.objects.filter(study=study),
    )  # fmt: skip
    context = {"rows": rows, "find": find, "uses": USES}
    return page.part("annotation/study_new_pick.html", 200, context)


def _special(page: _Page, verb: str, rest: str) -> HttpResponseBase:
    """Choose an item, say what is right of it, or drop it."""
    use, _, number = rest.rpartition(":")
    item = int(number) if number.isdecimal() and len(number) < 19 else 0
    if verb == "drop":
        page.draft.drop_special(item)
        return page.show()
    if verb == "add":
        page.draft.add_special(use, item)
    row = page.draft.special(item)
    seen = visibility(page.request)
    expected = ExpectedForm.of(row, page.study.questionnaire, seen) if row is not None else None
    if row is None or expected is None:  # it is not there, or closed to whoever asks
        page.draft.drop_special(item)
        return page.show(problems=["This item is not there any more; choose another."])
    status = 200
    if verb == "keep":
        row["expected"] = expected.read(page.request.POST)
        if not expected.problems:
            return page.show()
        status = 422
    return page.part(
        "annotation/study_new_expected.html", status, {"expected": expected, "row": row}
    )


def _store(page: _Page) -> HttpResponseBase:
    study, draft = page.study, page.draft
    form = SpecialsForm(page.request.POST, study=study)
    if not form.is_valid():
        return page.show(form=form)
    chosen = choice_of(study)
    by_use = {
        use: [special_of(row, chosen) for row in draft.specials if row["use"] == use]
        for use in USES
    }
    try:
        added = add_specials(
            study=study, training=by_use["training"], gold=by_use["gold"],
            gold_each=form.cleaned_data.get("gold_each") or 0, by=page.access.user,
            seen=visibility(page.request),
        )  # fmt: skip
    except PlanError as error:
        return page.show(problems=[_words(draft, problem) for problem in error.problems])
    except Refused as refused:
        return page.show(problems=[f"{refused.reason[:1].upper()}{refused.reason[1:]}."])
    messages.success(page.request, _added_message(study, added))
    return redirect("annotation:study_more", pk=study.pk)


def _words(draft: Draft, problem: PlanProblem) -> str:
    words = f"{problem.words[:1].upper()}{problem.words[1:]}."
    use, _, number = problem.path.partition("[")
    return f"{use.capitalize()} item {number.partition(']')[0]}: {words}" if number else words


def _added_message(study: Study, added: AddedSpecials) -> str:
    """Return what was added, and to whom it went."""
    words = [f"Added: {added.training} for training, {added.gold} as gold."]
    if added.training:
        people = _people(added.trainees)
        words.append(f"{people} still to pass the training got it; it waits for all who join.")
    if added.gold and study.dealing == Study.Dealing.POOL:
        words.append("The gold is drawn for everybody who takes items from now on.")
    elif added.gold:
        words.append(f"The gold was hidden among the items of {_people(len(added.given))}.")
    if added.short:
        words.append(f"{_people(added.short)} got fewer than asked for, having too few items left.")
    return " ".join(words)


def _people(count: int) -> str:
    return f"{count} annotator{'' if count == 1 else 's'}"
