"""The columns of the lists of runs, datasets and tasks."""

from benchmarks.lists.columns import ListColumn

RUN_COLUMNS = (
    ListColumn(
        "run",
        "Run",
        {
            "run": "run.pk", "kind": "run.kind", "agent": "run.agent.name",
            "experiment": "run.experiment.name",
        },
        fixed=True,
    ),
    ListColumn(
        "dataset",
        "Dataset",
        {
            "dataset": "run.dataset.name", "dataset_version": "run.dataset.version",
            "system": "run.dataset.system",
        },
    ),
    ListColumn(
        "condition", "Condition", {"condition": "run.condition", "level": "run.level"}
    ),
    ListColumn("seed", "Seed", {"seed": "run.seed"}, usual=False),
    ListColumn(
        "progress",
        "Progress",
        {"status": "run.status", "trajectories": "progress.total", "ended": "progress.ended"},
    ),
    ListColumn("result", "Result", {"measure": "measure.title", "result": "result"}),
    ListColumn(
        "cost",
        "Cost",
        {"cost": "spent.amount", "cost_cap": "spent.cap", "currency": "spent.currency"},
    ),
    ListColumn("failed", "Failed", {"failed": "progress.failed"}),
    ListColumn("by", "Started by", {"started_by": "run.created_by.username"}, usual=False),
    ListColumn("begun", "Begun", {"begun": "run.created_at"}),
    ListColumn("ended", "Ended", {"ended_at": "run.finished_at"}, usual=False),
)  # fmt: skip
DATASET_COLUMNS = (
    ListColumn(
        "dataset", "Dataset", {"id": "pk", "dataset": "name", "version": "version"}, fixed=True
    ),
    ListColumn("system", "System", {"system": "system"}),
    ListColumn("tasks", "Tasks", {"tasks": "task_count"}),
    ListColumn("profiles", "Profiles", {"profiles": "profile_count"}),
    ListColumn("runs", "Runs", {"runs": "run_count"}),
    ListColumn("source", "Source", {"source": "source"}),
    ListColumn("licence", "Licence", {"licence": "licence"}),
    ListColumn("added", "Added", {"added": "created_at"}, usual=False),
)
TASK_COLUMNS = (
    ListColumn("task", "Task", {"id": "pk", "task": "external_id", "prompt": "prompt"}, fixed=True),
    ListColumn("category", "Category", {"category": "category"}),
    ListColumn("levels", "Levels", {"levels": "levels"}),
    ListColumn("trajectories", "Trajectories", {"trajectories": "plays"}),
)
