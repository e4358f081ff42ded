"""Which registered data are gone: deleted, or answers of people that count no more."""

from django.db.models import Count, Exists, OuterRef, QuerySet, Sum

from analysis.registrations.document import Plan
from analysis.reports.formatting import listed, plural
from annotation.models import Aspect, Assignment, Item, Rating, Study
from annotation.ratings.selectors import left_out, of_those_who_stay
from benchmarks.models import COUNTED, Run


def registered_runs(plan: Plan) -> QuerySet[Run]:
    """Return the runs of a plan's agents, or of all where it names none, on its dataset of any
    version.
    """
    runs = Run.objects.filter(
        COUNTED, dataset__system=plan.system, dataset__name=plan.dataset, level=plan.level,
        condition=plan.condition, removed_at=None,
    )  # fmt: skip
    if plan.agents:
        runs = runs.filter(agent__name__in=plan.agents)
    return runs.filter(experiment__name=plan.experiment) if plan.experiment else runs


def registered_study(plan: Plan, study: Study | None) -> Study | None:
    """Return the study that was registered: itself where that is known, else the one so named."""
    return study or Study.objects.filter(name=plan.study, removed_at=None).first()


def gone(plan: Plan, study: Study | None = None) -> str:
    """Return how much of the data of the registered comparisons is gone; empty if none is.

    What was not collected yet is not gone: a run counts all trajectories that it ever had, an item
    of a study all submissions.
    """
    if not plan.study:
        return _gone_trajectories(plan)
    known = registered_study(plan, study)
    return _gone_answers(plan, known) if known is not None else ""


def _gone_trajectories(plan: Plan) -> str:
    """Return how many trajectories of the compared agents' newest runs were deleted."""
    runs = registered_runs(plan).filter(dataset__version=plan.version)
    counts = runs.annotate(kept=Count("trajectories")).order_by("pk")
    newest = {
        agent: (created, kept)
        for agent, created, kept in counts.values_list("agent__name", "created_trajectories",
                                                       "kept")
        if agent in plan.compared or not plan.agents
    }  # fmt: skip
    lost = {agent: created - kept for agent, (created, kept) in newest.items() if created > kept}
    words = [
        f"{lost[agent]:,} of {newest[agent][0]:,} registered trajectories of {agent}"
        for agent in sorted(lost)
    ]
    if words:
        return f"{listed(words)} {'is' if sum(lost.values()) == 1 else 'are'} gone"
    without = [agent for agent in plan.compared if agent not in newest]
    if newest and plan.is_pooled and without:
        return f"no run of {listed(without)} is here: deleted, or not made yet"
    return ""


def _gone_answers(plan: Plan, study: Study) -> str:
    """Return how many registered items or ratings are gone that nobody will give again."""
    items = Item.objects.filter(study=study, use=Item.Use.MAIN)
    sums = items.aggregate(n=Count("pk"), wanted=Sum("wanted"), done=Sum("done"))
    wanted, done = sums["wanted"] or 0, sums["done"] or 0
    if plan.items is not None and sums["n"] < plan.items:
        return (
            f"{plan.items - sums['n']:,} of {plural(plan.items, 'registered item')} are not in the "
            "study: deleted, or never added"
        )
    planned = plan.items * plan.raters if plan.items and plan.raters else wanted
    counted = counted_answers(study)
    states = (Assignment.State.SUBMITTED, Assignment.State.VOIDED)
    stored = Assignment.objects.filter(study=study, item__use=Item.Use.MAIN, state__in=states)
    given = max(stored.count(), done)
    still_to_come = wanted - done if study.status in Study.WORKING else 0
    count = min(given, planned) - counted - still_to_come
    if count <= 0:
        return ""
    words = left_out(study).words
    return (
        f"{count:,} of {plural(planned, 'registered rating')} "
        f"{'is' if count == 1 else 'are'} gone{f': {words}' if words else ', deleted'}"
    )


def counted_answers(study: Study) -> int:
    """Return how many submitted items of a study have answers that count."""
    answers = Rating.objects.filter(assignment=OuterRef("pk"), aspect=Aspect.ANSWER)
    submitted = Assignment.objects.filter(
        Exists(of_those_who_stay(answers)), study=study, item__use=Item.Use.MAIN,
        state=Assignment.State.SUBMITTED,
    )  # fmt: skip
    return submitted.count()
