"""A study of sessions, made on one page: chosen, looked at with its balance, then made."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.contrib import messages
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from annotation.access import person
from annotation.designs.certificate import Certificate
from annotation.errors import Refused
from annotation.live.setup.design import Drawn, in_words
from annotation.live.setup.design_forms import LiveStudyForm
from annotation.live.setup.services import DesignWish, create_sessions, draw_design
from annotation.live.setup.views import choose_dataset
from annotation.studies.balance_tables import BalanceTable, balance_tables
from benchmarks.access import START, allow, signed_in, visibility
from benchmarks.core.digests import canonical_json
from benchmarks.roles.services import ensure_scripted_agents


@dataclass(frozen=True)
class Preview:
    """What would be made: a table of rows with their sessions in order, and its balance."""

    certificate: Certificate
    tables: Sequence[BalanceTable]
    rows: Sequence[tuple[str, Sequence[str]]]
    warnings: Sequence[str]
    sessions: int

    @property
    def mark(self) -> str:
        """What tells whether the same would still be made."""
        named = [[name, list(words)] for name, words in self.rows]
        return hashlib.sha256(canonical_json([self.certificate.sha256, named]).encode()).hexdigest()


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def live_study_new(request: HttpRequest) -> HttpResponseBase:
    """Choose and look; a POST with what was looked at makes it."""
    allow(request, START)
    ensure_scripted_agents()
    chosen = choose_dataset(request)
    if chosen is None:
        return render(request, "annotation/live_study_new.html", {"datasets": []})
    data = request.POST if request.method == "POST" else None
    form = LiveStudyForm(
        data, dataset=chosen["dataset"], mode=chosen["mode"], seen=visibility(request)
    )
    context = {**chosen, "form": form}
    if form.is_valid():
        try:
            design = form.design()
            drawn = draw_design(design=design, seed=form.cleaned_data["seed"])
            preview = _preview(drawn, design)
            if request.POST.get("made") == preview.mark:
                study = create_sessions(wish=form.wish(), design=design, by=person(request))
                messages.success(request, f"The study has {drawn.sessions} sessions.")
                return redirect("annotation:study_sessions", pk=study.pk)
            context |= {"preview": preview, "stale": bool(request.POST.get("made"))}
        except Refused as refused:
            form.add_error(None, f"{refused.reason[:1].upper()}{refused.reason[1:]}.")
    status = 422 if form.errors else 200
    return render(request, "annotation/live_study_new.html", context, status=status)


def _preview(drawn: Drawn, design: DesignWish) -> Preview:
    agents = [agent.title for agent in design.agents]
    tables = balance_tables(drawn.certificate, hide_models=False)
    return Preview(
        drawn.certificate,
        [
            replace(table, title=in_words(table.title), head=in_words(table.head))
            for table in tables
        ],
        [
            (
                name,
                [
                    f"{design.tasks[task].external_id}{f' with {agents[agent]}' if agents else ''}"
                    for agent, task in pairs
                ],
            )
            for name, pairs in drawn.rows
        ],
        [in_words(warning) for warning in drawn.certificate.warnings],
        drawn.sessions,
    )
