"""The client: a method for everything that the HTTP API of PlanJury offers.

Methods return what the API returns, as dictionaries and lists; `docs/api.md` of the server and its
page ``/api/v1/docs`` describe the fields. Lists are iterators that follow the pages. Methods that
end in ``_frame`` give pandas data frames.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from planjury_client import frames
from planjury_client.reports import Analysis, Report
from planjury_client.transport import JobFailed, PlanJuryError, Transport

T = TypeVar("T")
# A run in one of these goes on only when somebody does something.
HALTED = ("paused", "waiting", "attention")


class PlanJury(Transport):
    """A server with a token. Address and token default to ``PLANJURY_URL`` and ``PLANJURY_TOKEN``.

    Every refusal raises ``PlanJuryError`` with status, code, message and field.
    """

    # --- Systems, datasets, agents, endpoints -----------------------------------------------------

    def systems(self) -> list[dict[str, Any]]:
        """Return all benchmark systems with their roles, settings and dimensions."""
        return list(self._get("/systems"))

    def system(self, key: str) -> dict[str, Any]:
        """Return one system."""
        return dict(self._get("/systems/{key}", key=key))

    def datasets(self) -> Iterator[dict[str, Any]]:
        """Yield datasets, the newest first."""
        return self._pages("/datasets", {"limit": 100})

    def dataset(self, dataset: int) -> dict[str, Any]:
        """Return one dataset with its levels."""
        return dict(self._get("/datasets/{dataset_id}", dataset_id=dataset))

    def delete_dataset(self, dataset: int, *, dry_run: bool = False) -> dict[str, Any]:
        """Delete a dataset that no run uses; with ``dry_run`` count what would go."""
        return self._delete("/datasets/{dataset_id}", dry_run=dry_run, dataset_id=dataset)

    def find_dataset(self, name: str) -> dict[str, Any]:
        """Return the newest dataset of a name; KeyError without one."""
        return _named(self.datasets(), name, "dataset")

    def tasks(self, dataset: int, *, q: str = "", category: str = "") -> Iterator[dict[str, Any]]:
        """Yield the tasks of a dataset."""
        query = {"q": q, "category": category, "limit": 100}
        return self._pages("/datasets/{dataset_id}/tasks", query, dataset_id=dataset)

    def task(self, task: int) -> dict[str, Any]:
        """Return one task with its hidden constraints."""
        return dict(self._get("/tasks/{task_id}", task_id=task))

    def agents(self) -> Iterator[dict[str, Any]]:
        """Yield all agents."""
        return self._pages("/agents", {"limit": 100})

    def agent(self, agent: int) -> dict[str, Any]:
        """Return one agent."""
        return dict(self._get("/agents/{agent_id}", agent_id=agent))

    def endpoints(self) -> Iterator[dict[str, Any]]:
        """Yield model endpoints, the newest first."""
        return self._pages("/endpoints", {"limit": 100})

    def endpoint(self, endpoint: int) -> dict[str, Any]:
        """Return one endpoint."""
        return dict(self._get("/endpoints/{endpoint_id}", endpoint_id=endpoint))

    def create_endpoint(
        self, title: str, base_url: str, model: str, **fields: Any
    ) -> dict[str, Any]:
        """Make an endpoint, where you may: ``parameters``, ``price_in``, ``key_variable`` and more.

        A key is never sent; ``key_variable`` names the server's environment variable that holds it.
        """
        body = {"title": title, "base_url": base_url, "model": model, **fields}
        return dict(self._post("/endpoints", body, once=True))

    # --- Runs -------------------------------------------------------------------------------------

    def runs(self, **filters: Any) -> Iterator[dict[str, Any]]:
        """Return runs, the newest first: ``dataset``, ``agent``, ``level``, ``status``,
        ``kind``, ``experiment``.
        """
        return self._pages("/runs", {"limit": 100, **filters})

    def run(self, run: int) -> dict[str, Any]:
        """Return one run with progress, settings, roles, versions and cost."""
        return dict(self._get("/runs/{run_id}", run_id=run))

    def start_runs(
        self,
        dataset: int,
        agents: str | Sequence[str],
        *,
        levels: Sequence[str] = (),
        settings: Mapping[str, Any] | None = None,
        roles: Mapping[str, Sequence[str]] | None = None,
        tasks: Sequence[str] = (),
        seed: int = 0,
        cost_cap: float | None = None,
        name: str = "",
        accept_undefined: bool = False,
    ) -> dict[str, Any]:
        """Start one run for each agent and level, all or none; ``runs`` of the answer are ids.

        ``cost_cap`` is what each run may cost.
        """
        body = {
            "dataset": dataset,
            "agents": [agents] if isinstance(agents, str) else list(agents),
            "levels": list(levels),
            "settings": dict(settings or {}),
            "roles": {role: list(names) for role, names in (roles or {}).items()},
            "tasks": list(tasks),
            "seed": seed,
            "cost_cap": cost_cap,
            "name": name,
            "accept_undefined": accept_undefined,
        }
        return dict(self._post("/runs", body, once=True))

    def pause_run(self, run: int) -> dict[str, Any]:
        """Begin nothing further; what is under way is still stored."""
        return dict(self._post("/runs/{run_id}/pause", run_id=run))

    def resume_run(self, run: int, *, cost_cap: float | None = None) -> dict[str, Any]:
        """Go on where a paused run was left, with a new cost cap if one is given."""
        return dict(self._post("/runs/{run_id}/resume", {"cost_cap": cost_cap}, run_id=run))

    def cancel_run(self, run: int) -> dict[str, Any]:
        """End a run for good; what has ended before is kept."""
        return dict(self._post("/runs/{run_id}/cancel", run_id=run))

    def delete_run(self, run: int, *, dry_run: bool = False) -> dict[str, Any]:
        """Delete an ended run and its trajectories; with ``dry_run`` count what would go."""
        return self._delete("/runs/{run_id}", dry_run=dry_run, run_id=run)

    def delete_experiment(self, experiment: int, *, dry_run: bool = False) -> dict[str, Any]:
        """Delete an experiment with all its runs; with ``dry_run`` count what would go."""
        route = "/experiments/{experiment_id}"
        return self._delete(route, dry_run=dry_run, experiment_id=experiment)

    def wait_for_run(self, run: int, *, seconds: float = 3600, every: float = 2) -> dict[str, Any]:
        """Wait until a run is done. Raises ``JobFailed`` if it halts or is cancelled."""

        def look() -> dict[str, Any] | None:
            state = self.run(run)
            if state["status"] == "cancelled" or state["status"] in HALTED:
                raise JobFailed(
                    f"run {run} is {state['status']}: {state['problem'] or 'no reason'}"
                )
            return state if state["status"] == "done" else None

        return _wait(look, f"run {run}", seconds, every)

    def metrics(self, run: int, *, every_task: bool = False) -> dict[str, Any]:
        """Return the metrics of a run, with what is left out of each and why.

        With ``every_task``, tasks count that their own reference does not solve.
        """
        query = {"every_task": True} if every_task else {}
        return dict(self._get("/runs/{run_id}/metrics", query, run_id=run))

    def export_run(self, run: int, target: str | Path, *, format: str = "openai-chat") -> Path:
        """Write a run to a file: ``openai-chat``, ``atif``, ``inspect``, ``session-traces`` or
        ``huggingface``; the API's documentation says what each of them cannot hold.
        """
        return self._download("/runs/{run_id}/export", target, {"format": format}, run_id=run)

    # --- Branches ---------------------------------------------------------------------------------

    def branches(self, trajectory: int) -> list[dict[str, Any]]:
        """Return the branches that leave a trajectory, oldest first."""
        return list(self._get("/trajectories/{trajectory_id}/branches", trajectory_id=trajectory))

    def branch_results(self, run: int) -> dict[str, Any]:
        """Return what the replays of a run of branches come to, with figures and tables."""
        return dict(self._get("/branches/{run_id}", run_id=run))

    def start_branches(self, trajectory: int, **fields: Any) -> dict[str, Any]:
        """Say something else at a ``turn`` (``text``, ``replays``, ``compare``, …) and play on.

        Without a ``turn`` every turn is asked again, to see which one decided a failure.
        """
        route = "/trajectories/{trajectory_id}/branches"
        return dict(self._post(route, fields, once=True, trajectory_id=trajectory))

    # --- Re-judging -------------------------------------------------------------------------------

    def judgings(self, run: int) -> list[dict[str, Any]]:
        """Return the judgings of a run, oldest first."""
        return list(self._get("/runs/{run_id}/judgings", run_id=run))

    def plan_judging(self, roles: Mapping[str, Sequence[str]], **fields: Any) -> dict[str, Any]:
        """Count what a re-judging of ``runs`` or ``trajectories`` would take; starts nothing."""
        return dict(self._post("/judgings/plan", {"roles": dict(roles), **fields}))

    def start_judging(self, roles: Mapping[str, Sequence[str]], **fields: Any) -> dict[str, Any]:
        """Have judges look at stored trajectories again: ``runs``, ``name``, ``cost_cap``, …"""
        return dict(self._post("/judgings", {"roles": dict(roles), **fields}, once=True))

    def choose_judging(self, run: int, judging: int | None) -> list[dict[str, Any]]:
        """Make one of a run's judgings the primary one."""
        return list(self._post("/runs/{run_id}/judging", {"judging": judging}, run_id=run))

    # --- Trajectories and scores ------------------------------------------------------------------

    def trajectories(self, **filters: Any) -> Iterator[dict[str, Any]]:
        """Return trajectories by ``run``, ``agent``, ``valid``, ``end`` and the page's other
        filters.
        """
        return self._pages("/trajectories", {"limit": 100, **filters})

    def trajectory(self, trajectory: int) -> dict[str, Any]:
        """Return one trajectory with turns, violations, scores and metrics."""
        return dict(self._get("/trajectories/{trajectory_id}", trajectory_id=trajectory))

    def exchanges(self, trajectory: int, *, turn: int | None = None) -> Iterator[dict[str, Any]]:
        """Return the log of a trajectory: each prompt and the reply to it."""
        query = {"turn": turn, "limit": 100}
        route = "/trajectories/{trajectory_id}/exchanges"
        return self._pages(route, query, trajectory_id=trajectory)

    def scores(self, run: int | Sequence[int] = (), **filters: Any) -> Iterator[dict[str, Any]]:
        """Yield judges' scores of runs, or of a ``trajectory``, one row each."""
        return self._pages("/scores", {"run": _ids(run), "limit": 1000, **filters})

    def scores_frame(self, run: int | Sequence[int] = (), **filters: Any) -> Any:
        """Return the same as a data frame."""
        return frames.frame_of(self.scores(run, **filters), frames.SCORES)

    def save_scores(
        self, target: str | Path, run: int | Sequence[int] = (), **filters: Any
    ) -> Path:
        """Write judges' scores as CSV."""
        return self._download("/scores.csv", target, {"run": _ids(run), **filters})

    def turns(self, run: int | Sequence[int] = (), **filters: Any) -> Iterator[dict[str, Any]]:
        """Yield the turns of runs, or of a ``trajectory``: text, feedback, number of violations."""
        return self._pages("/turns", {"run": _ids(run), "limit": 1000, **filters})

    def turns_frame(self, run: int | Sequence[int] = (), **filters: Any) -> Any:
        """Return the same as a data frame."""
        return frames.frame_of(self.turns(run, **filters), frames.TURNS)

    # --- Imports ----------------------------------------------------------------------------------

    def formats(self) -> list[dict[str, Any]]:
        """Return the formats that can be imported."""
        return list(self._get("/formats"))

    def import_file(
        self,
        path: str | Path,
        *,
        format: str = "",
        name: str = "",
        agent: str = "",
        turns: str = "",
        seconds: float = 3600,
        every: float = 2,
    ) -> dict[str, Any]:
        """Import trajectories and wait for it: ``dataset``, ``runs`` and counts.

        ``turns`` says what begins a turn: "user" (default), "step" or "plan".
        Raises ``JobFailed`` with the first faults of a file that is refused in the background.
        """
        fields = {"format": format, "name": name, "agent": agent, "turns": turns}
        given = {key: value for key, value in fields.items() if value}
        made = self._upload("/imports", Path(path), given)
        if "id" not in made:
            return dict(made)

        def look() -> dict[str, Any] | None:
            job = self.import_job(made["id"])
            if job["refused"] is not None:
                faults = "; ".join(
                    f"{one['where']}: expected {one['expected']}, found {one['found']}"
                    for one in job["refused"]["faults"]
                )
                raise JobFailed(f"{job['refused']['message']} {faults}".strip())
            if job["status"] in ("failed", "cancelled"):
                raise JobFailed(job["message"] or f"the import is {job['status']}")
            return job["result"] if job["status"] == "done" else None

        return _wait(look, f"import {made['id']}", seconds, every)

    def delete_import(self, job: int, *, dry_run: bool = False) -> dict[str, Any]:
        """Delete what an import stored; with ``dry_run`` count what would go."""
        return self._delete("/imports/{job_id}", dry_run=dry_run, job_id=job)

    def import_jobs(self) -> Iterator[dict[str, Any]]:
        """Yield imports in the background, the newest first."""
        return self._pages("/imports", {"limit": 100})

    def import_job(self, job: int) -> dict[str, Any]:
        """Return how far an import is."""
        return dict(self._get("/imports/{job_id}", job_id=job))

    # --- Studies ----------------------------------------------------------------------------------

    def studies(self) -> Iterator[dict[str, Any]]:
        """Yield the studies that you take part in, the newest first."""
        return self._pages("/studies", {"limit": 100})

    def study(self, study: int) -> dict[str, Any]:
        """Return one study."""
        return dict(self._get("/studies/{study_id}", study_id=study))

    def find_study(self, name: str) -> dict[str, Any]:
        """Return the newest study of a name; KeyError without one."""
        return _named(self.studies(), name, "study")

    def plan_study(self, plan: Mapping[str, Any]) -> dict[str, Any]:
        """Return the items, loads and balance of a plan; nothing is stored. Fields are those of
        a plan's file.
        """
        return dict(self._post("/studies/plan", {"plan": dict(plan)}))

    def create_study(self, plan: Mapping[str, Any], *, draft: bool = False) -> dict[str, Any]:
        """Make a study from a plan and become its manager."""
        return dict(self._post("/studies", {"plan": dict(plan), "draft": draft}, once=True))

    def progress(self, study: int) -> dict[str, Any]:
        """Return how far a study and its annotators are."""
        return dict(self._get("/studies/{study_id}/progress", study_id=study))

    def set_study_status(self, study: int, status: str, *, reason: str = "") -> dict[str, Any]:
        """Open, pause (``paused``), close (``closed``) or archive (``archived``) a study."""
        body = {"status": status, "reason": reason}
        return dict(self._post("/studies/{study_id}/status", body, study_id=study))

    def invite(
        self, study: int, labels: Sequence[str] = ("",), *, to: str = "people", **more: Any
    ) -> list[dict[str, str]]:
        """Make invitation links and return each with its label; they cannot be read again.

        ``to``: "people" (a link for each label), "lists" (one to each free list without one) or
        "everybody". ``more``: ``role``, ``days``.
        """
        body = {"to": to, "labels": list(labels), **more}
        return list(self._post("/studies/{study_id}/invitations", body, study_id=study))

    def make_recruiting_link(
        self, study: int, platform: str, places: int, **fields: Any
    ) -> dict[str, str]:
        """Make a link for people of "prolific", "mturk" or elsewhere ("other"); it cannot be read
        again. ``fields``: ``items_each``, ``days``, ``code``, ``screening`` and others of the page.
        """
        body = {"platform": platform, "places": places, **fields}
        return dict(self._post("/studies/{study_id}/recruiting-links", body, study_id=study))

    def delete_study(
        self, study: int, *, dry_run: bool = False, archive: bool = False
    ) -> dict[str, Any]:
        """Delete a closed study with its ratings; with ``dry_run`` count what would go.

        With ``archive`` the server exports the study into its archive first.
        """
        query = {"archive": archive} if archive else {}
        return self._delete("/studies/{study_id}", query, dry_run=dry_run, study_id=study)

    def study_retention(self, study: int) -> list[dict[str, Any]]:
        """Return what is deleted of a study after it was closed, and when."""
        return list(self._get("/studies/{study_id}/retention", study_id=study))

    def change_study_retention(self, study: int, **days: Any) -> list[dict[str, Any]]:
        """Set after how many days ``platform_ids``, ``invitations`` and ``answers`` are deleted;
        what is not named is kept. ``archive`` exports the study before answers go.
        """
        return list(self._post("/studies/{study_id}/retention", days, study_id=study))

    def ratings(self, study: int, **options: Any) -> Iterator[dict[str, Any]]:
        """Return the current ratings: one row for each rater, item, part and question."""
        return self._pages("/studies/{study_id}/ratings", {"limit": 100, **options}, study_id=study)

    def ratings_frame(self, study: int, **options: Any) -> Any:
        """Return the same as a data frame."""
        return frames.frame_of(self.ratings(study, **options), frames.RATINGS)

    def rating_edits(self, study: int, **options: Any) -> Iterator[dict[str, Any]]:
        """Yield every edit of every answer, in the order in which they were made."""
        return self._pages("/studies/{study_id}/edits", {"limit": 100, **options}, study_id=study)

    def export_study(
        self, study: int, target: str | Path, *, format: str = "csv", **options: Any
    ) -> Path:
        """Write a study to a file: ``archive`` (everything, as a ZIP), ``csv``, ``json``,
        ``parquet``, ``huggingface``, ``codebook``, ``history``, ``questions``, ``votes`` or
        ``plan``."""
        query = {"format": format, **options}
        return self._download("/studies/{study_id}/export", target, query, study_id=study)

    def save_ratings(self, study: int, target: str | Path, **options: Any) -> Path:
        """Write the ratings as CSV."""
        return self._download("/studies/{study_id}/ratings.csv", target, options, study_id=study)

    def save_history(self, study: int, target: str | Path, **options: Any) -> Path:
        """Write every edit of every answer as CSV."""
        return self._download("/studies/{study_id}/history.csv", target, options, study_id=study)

    def save_study(self, study: int, target: str | Path, **options: Any) -> Path:
        """Write the whole study as one JSON document, which another installation can import."""
        return self._download("/studies/{study_id}/study.json", target, options, study_id=study)

    # --- One's own assignments --------------------------------------------------------------------

    def next_step(self, study: int) -> dict[str, Any]:
        """Return what comes next for you; this takes an item where items are taken one by one."""
        return dict(self._post("/studies/{study_id}/next", study_id=study))

    def assignments(self, study: int, **filters: Any) -> Iterator[dict[str, Any]]:
        """Return your own assignments: ``part`` and ``state``."""
        route = "/studies/{study_id}/assignments"
        return self._pages(route, {"limit": 100, **filters}, study_id=study)

    def assignment(self, study: int, position: int, *, part: str = "main") -> dict[str, Any]:
        """Return one of your assignments that you have opened, with item, questions and edits."""
        route = "/studies/{study_id}/assignments/{item_part}/{position}"
        return dict(self._get(route, study_id=study, item_part=part, position=position))

    def open_assignment(self, study: int, position: int, *, part: str = "main") -> dict[str, Any]:
        """Open an assignment: item and questions."""
        route = "/studies/{study_id}/assignments/{item_part}/{position}/open"
        return dict(self._post(route, study_id=study, item_part=part, position=position))

    def rate(
        self,
        study: int,
        position: int,
        edits: Sequence[Mapping[str, Any]],
        *,
        part: str = "main",
        active_ms: int = 0,
    ) -> list[dict[str, Any]]:
        """Store answers and remarks, all or none; each gets an ``id`` where it has none."""
        made = [{"id": str(uuid.uuid4()), **edit} for edit in edits]
        route = "/studies/{study_id}/assignments/{item_part}/{position}/ratings"
        body = {"edits": made, "active_ms": active_ms}
        answer = self._post(route, body, study_id=study, item_part=part, position=position)
        return list(answer["edits"])

    def undo(self, study: int, position: int, edit: str, *, part: str = "main") -> dict[str, Any]:
        """Take back an edit by its id; the answer before it stands again."""
        return self.rate(study, position, [{"undoes": edit}], part=part)[0]

    def submit(
        self, study: int, position: int, *, part: str = "main", active_ms: int = 0
    ) -> dict[str, Any]:
        """Submit an assignment whose required questions are all answered."""
        route = "/studies/{study_id}/assignments/{item_part}/{position}/submit"
        body = {"active_ms": active_ms}
        return dict(self._post(route, body, study_id=study, item_part=part, position=position))

    def skip(self, study: int, position: int, reason: str, *, part: str = "main") -> dict[str, Any]:
        """Leave an item out, and say why."""
        route = "/studies/{study_id}/assignments/{item_part}/{position}/skip"
        body = {"reason": reason}
        return dict(self._post(route, body, study_id=study, item_part=part, position=position))

    def reopen(self, study: int, position: int, *, part: str = "main") -> dict[str, Any]:
        """Take a submitted or skipped item up again."""
        route = "/studies/{study_id}/assignments/{item_part}/{position}/reopen"
        return dict(self._post(route, study_id=study, item_part=part, position=position))

    # --- Sessions ---------------------------------------------------------------------------------

    def plan_sessions(self, sessions: Mapping[str, Any]) -> dict[str, Any]:
        """Return who would play what; nothing is stored. Fields are those of a file for
        sessions.
        """
        return dict(self._post("/sessions/plan", {"sessions": dict(sessions)}))

    def create_sessions(self, sessions: Mapping[str, Any]) -> dict[str, Any]:
        """Make a study with all sessions of a design."""
        return dict(self._post("/sessions", {"sessions": dict(sessions)}, once=True))

    def sessions(self, study: int, *, state: str | None = None) -> Iterator[dict[str, Any]]:
        """Yield the sessions of a study."""
        query = {"limit": 100, "state": state}
        return self._pages("/studies/{study_id}/sessions", query, study_id=study)

    def duels(self, study: int) -> Iterator[dict[str, Any]]:
        """Yield the blind duels of a study with their votes."""
        return self._pages("/studies/{study_id}/duels", {"limit": 100}, study_id=study)

    def session(self, session: int) -> dict[str, Any]:
        """Return where a session stands."""
        return dict(self._get("/sessions/{session_id}", session_id=session))

    # --- Analysis ---------------------------------------------------------------------------------

    def analyses(self) -> list[dict[str, Any]]:
        """Return the analysis pages with the question that each answers, and their filters."""
        return list(self._get("/analysis"))

    def analysis(
        self,
        page: str,
        *,
        wait: bool = False,
        seconds: float = 600,
        every: float = 1,
        **filters: Any,
    ) -> Analysis:
        """Return an analysis page; ``wait``: have the part computed that takes long, and wait
        for it.

        ``details=False`` leaves out what the page folds.
        """
        analysis = Analysis(self._get("/analysis/{page}", filters, page=page))
        if not wait or analysis.data["later"]["status"] in ("none", "ready"):
            return analysis
        chosen = {name: value for name, value in filters.items() if name != "details"}
        self._post("/analysis/{page}/later", None, chosen, page=page)

        def look() -> Analysis | None:
            state = Analysis(self._get("/analysis/{page}", filters, page=page))
            _refuse_failed(state.data["later"])
            ready = state.data["later"]["status"] == "ready" and not state.data["waits"]
            return state if ready else None

        return _wait(look, f"the page {page}", seconds, every)

    def save_table(
        self, page: str, target: str | Path, *, table: str, format: str = "csv", **filters: Any
    ) -> Path:
        """Write a table of a page as ``csv`` or ``latex``."""
        query = {"format": format, **filters}
        route = "/analysis/{page}/tables/{name}"
        return self._download(route, target, query, page=page, name=table)

    def save_figure(
        self, page: str, target: str | Path, *, figure: str, width: str = "column", **filters: Any
    ) -> Path:
        """Write a figure of a page as PDF, ``column`` (85 mm), ``wide`` or ``page`` wide."""
        query = {"width": width, **filters}
        route = "/analysis/{page}/figures/{name}"
        return self._download(route, target, query, page=page, name=figure)

    def papers(self) -> list[dict[str, Any]]:
        """Return the papers that you may read: pages on which parts of analysis are pinned."""
        return list(self._get("/papers"))

    def paper(self, paper: int, *, version: int | None = None) -> dict[str, Any]:
        """Return a paper with its texts and with what its pins show; by default its newest
        version.
        """
        return dict(self._get("/papers/{paper_id}", {"version": version}, paper_id=paper))

    def new_paper(self, title: str, *, sharing: str = "private") -> dict[str, Any]:
        """Begin a paper; ``sharing`` is "private", "read" or "edit"."""
        return dict(self._post("/papers", {"title": title, "sharing": sharing}, once=True))

    def pin(
        self, paper: int, source: str, name: str | int, parts: Sequence[str], *, query: str = ""
    ) -> dict[str, Any]:
        """Pin parts to a paper and return it; ``source`` is "page", "dataset" or "trajectory"."""
        body = {"source": source, "name": str(name), "parts": list(parts), "query": query}
        return dict(self._post("/papers/{paper_id}/pins", body, once=True, paper_id=paper))

    def change_paper(
        self, paper: int, base: int, blocks: Sequence[Mapping[str, Any]], *, title: str = ""
    ) -> dict[str, Any]:
        """Save blocks in this order, each with its ``id`` and what changes of it, as a version.

        ``base`` is the version that you read; blocks that are left out are removed.
        """
        body = {"base": base, "blocks": list(blocks), **({"title": title} if title else {})}
        return dict(self._post("/papers/{paper_id}", body, paper_id=paper))

    def compare_pin(self, paper: int, block: str) -> dict[str, Any]:
        """Return whether the data of a pin changed, and what differs."""
        return dict(self._get("/papers/{paper_id}/pins/{block_id}", paper_id=paper, block_id=block))

    def compare_trajectories(self, *trajectories: int, **how: Any) -> dict[str, Any]:
        """Return trajectories turn by turn, with the steps in which plans differ from the base's.

        ``how``: ``base``, ``align`` ("start" or "end"), ``first``.
        """
        return dict(self._get("/comparisons", {"t": list(trajectories), **how}))

    def save_paper(
        self, paper: int, target: str | Path, *, format: str = "pdf", version: int | None = None
    ) -> Path:
        """Write a paper as PDF, as HTML, as LaTeX, or as a ZIP folder with data and figures."""
        query = {"format": format, "version": version}
        return self._download("/papers/{paper_id}/file", target, query, paper_id=paper)

    def registrations(self) -> list[dict[str, Any]]:
        """Return the plans of analyses that were frozen before the first answer."""
        return list(self._get("/registrations"))

    def registration(self, registration: int) -> dict[str, Any]:
        """Return a registration with its document, SHA-256 and text for a registry."""
        return dict(self._get("/registrations/{registration_id}", registration_id=registration))

    def register(
        self, plan: dict[str, Any], *, dataset: int | None = None, study: int | None = None
    ) -> dict[str, Any]:
        """Freeze a plan about the runs on a dataset or the answers in a study, before the first
        of them.
        """
        body = {"dataset": dataset, "study": study, "plan": plan}
        return dict(self._post("/registrations", body))

    def failure_labels(
        self, *, trajectory: int | None = None, set: str = "", label: str = ""
    ) -> Iterator[dict[str, Any]]:
        """Yield the failure labels on trajectories: of one, of a label set, or of one label."""
        query = {"trajectory": trajectory, "set": set, "label": label, "limit": 100}
        return self._pages("/failure-labels", query)

    def put_failure_labels(self, set: str, labels: Sequence[Mapping[str, Any]]) -> int:
        """Import labels of a set that people put elsewhere, all or none; return how many are new.

        Each has ``trajectory``, ``label`` and ``who``, and may have ``turn`` and ``note``.
        """
        body = {"set": set, "labels": [dict(label) for label in labels]}
        return int(self._post("/failure-labels", body)["added"])

    def questions(self) -> Iterator[dict[str, Any]]:
        """Yield the questions that a model was asked about trajectories, with precision and recall
        against people's answers.
        """
        return self._pages("/questions", {"limit": 100})

    def question(self, question: int) -> dict[str, Any]:
        """Return a question, how far it is, and how right the model is."""
        return dict(self._get("/questions/{question_id}", question_id=question))

    def question_answers(self, question: int) -> list[dict[str, Any]]:
        """Return the model's answers, once you have looked at them on the question's page."""
        return list(self._get("/questions/{question_id}/answers", question_id=question))

    def ask_question(
        self, question: str, *, endpoint: str, trajectories: str = "", **choices: Any
    ) -> dict[str, Any]:
        """Have a model asked about a random part of a list's failures, such as ``run=4``.

        ``choices``: ``part``, ``seed``, ``token_cap``, ``cost_cap``.
        """
        body = {
            "question": question, "endpoint": endpoint, "trajectories": trajectories, **choices,
        }  # fmt: skip
        return dict(self._post("/questions", body))

    def failure_groups(
        self,
        trajectories: str = "",
        *,
        seconds: float = 600,
        every: float = 1,
        **choices: Any,
    ) -> Report:
        """Return groups of similar failures of a list, such as ``run=4``, as soon as they are made.

        ``choices``: ``among``, ``texts``, ``groups``, ``seed``.
        """
        query = {"trajectories": trajectories, **choices}
        groups = self._get("/failure-groups", query)
        if groups["status"] not in ("ready", "queued", "running"):
            self._post("/failure-groups", None, query)

        def look() -> dict[str, Any] | None:
            state = self._get("/failure-groups", query)
            _refuse_failed(state)
            return state if state["status"] == "ready" else None

        state = _wait(look, "the groups", seconds, every)
        return Report({**state["report"], **{k: v for k, v in state.items() if k != "report"}})


def _ids(run: int | Sequence[int]) -> list[int]:
    return [run] if isinstance(run, int) else list(run)


def _named(rows: Iterator[dict[str, Any]], name: str, kind: str) -> dict[str, Any]:
    known = []
    for row in rows:
        if row["name"] == name:
            return row
        known.append(row["name"])
    raise KeyError(f"no {kind} {name!r}; known: {', '.join(known[:20]) or 'none'}")


def _refuse_failed(state: Mapping[str, Any]) -> None:
    if state["status"] == "failed":
        raise JobFailed(state["message"] or "the job failed")


def _wait(look: Callable[[], T | None], what: str, seconds: float, every: float) -> T:
    """Wait until ``look`` finds something, and return it. Raises ``TimeoutError`` after a time."""
    limit = time.monotonic() + seconds
    while True:
        result = look()
        if result is not None:
            return result
        if time.monotonic() > limit:
            raise TimeoutError(f"{what} is not ready after {seconds:g} seconds")
        time.sleep(every)


__all__ = ["PlanJury", "PlanJuryError"]
