"""The settings of a run."""

from benchmarks.core.system import Setting
from benchmarks.systems.sda_planner.repair.subtree import MAX_NODES

SDA, LOCAL, GLOBAL, TREE = "sda", "local", "global", "tree"
PLANNERS = (SDA, LOCAL, GLOBAL, TREE)
NO_ERROR, RELOCATE, OCCLUDE = "none", "relocate", "occlude"
SLIP, DROP, MIXED = "slip", "drop", "mixed"
ENV_ERRORS = (NO_ERROR, RELOCATE, OCCLUDE, SLIP, DROP, MIXED)
FULL, VISIBLE, NOTHING = "full", "visible", "none"
BUILTIN, DATASET, MODEL = "builtin", "dataset", "model"

SETTINGS = (
    Setting("planner", "choice", SDA, "How the plan changes when a step fails.", PLANNERS),
    Setting("adaptation", "bool", True,
            "SDA-Planner repairs its plan; without it, it skips the failed step (an ablation)."),
    Setting("search_tree", "bool", True,
            "SDA-Planner searches the subtree; without it, the agent writes the window anew, told "
            "what was missing (an ablation)."),
    Setting("graph", "choice", BUILTIN,
            "Where the state-dependency graph comes from.", (BUILTIN, DATASET, MODEL),
            title="State-dependency graph"),
    Setting("env_error", "choice", NO_ERROR,
            "Which errors of the environment are injected.", ENV_ERRORS, title="Injected error"),
    Setting("env_rate", "float", 0.5, "Chance of each injected error.", minimum=0, maximum=1,
            title="Chance of an error"),
    Setting("env_max", "int", 1, "Errors that are injected into a task at most.",
            minimum=1, maximum=5, title="Errors per task"),
    Setting("knowledge", "choice", FULL,
            "What the planner knows at the start: where everything is, what is not closed away, or "
            "nothing.", (FULL, VISIBLE, NOTHING), title="Knowledge at the start"),
    Setting("annotation", "int", 0,
            "Which annotation of the task is the instruction, from 0; a task with fewer gives its "
            "last.", minimum=0, maximum=9, title="Annotation of the task"),
    Setting("exclude_two_obj", "bool", False,
            "Leave out tasks with two objects, as LoTA-Bench does: they get no score.",
            title="Without two-object tasks"),
    Setting("lota_quirks", "bool", True,
            "Put down as in LoTA-Bench: after a find alone, and a failure drops the object.",
            title="Put down as in LoTA-Bench"),
    Setting("examples", "int", 1, "Solved examples in the agent's prompt.", minimum=0, maximum=2,
            title="Solved examples"),
    Setting("tree_plans", "int", 8, "Plans that the Tree Planner samples.", minimum=1, maximum=20,
            title="Plans sampled"),
    Setting("temperature", "float", 0.8, "Temperature at which the Tree Planner samples.",
            minimum=0, maximum=2),
    Setting("max_steps", "int", 100, "Steps in the house that an episode may take.",
            minimum=1, maximum=1000, title="Step limit"),
    Setting("max_corrections", "int", 10, "Corrections of the plan that an episode may take.",
            minimum=0, maximum=50, title="Correction limit"),
    Setting("max_nodes", "int", MAX_NODES, "Nodes at which the search of a subtree stops.",
            minimum=100, maximum=MAX_NODES, title="Node limit"),
)  # fmt: skip
