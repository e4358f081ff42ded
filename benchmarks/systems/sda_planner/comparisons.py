"""The factors of runs of SDA-Planner: planner, ablations, injected errors, knowledge."""

from benchmarks.core.ports.comparisons import Caption, Comparisons, Factor, Grouping
from benchmarks.systems.sda_planner.labels import GROUP_VALUES, GROUPS
from benchmarks.systems.sda_planner.scripted import BRACKET

FACTORS: tuple[Factor, ...] = (
    Factor(
        "planner",
        "Planner",
        "setting",
        {
            "sda": Caption(
                "SDA-Planner", "Repairs the part of the plan that the failure concerns."
            ),
            "local": Caption("Local", "Writes the rest of the plan anew after each failure."),
            "global": Caption("Global", "Starts over with a new plan; the house is put back."),
            "tree": Caption(
                "Tree Planner", "Goes to another branch of plans sampled at the start."
            ),
        },
        where="Table 1",
        finding="SDA-Planner succeeds most often; Global corrects least often, Local most often",
    ),
    Factor(
        "adaptation",
        "Adaptation",
        "setting",
        {
            True: Caption("With", "The plan is repaired when a step fails."),
            False: Caption("Without", "A failed step is skipped."),
        },
        where="Figure 4",
        finding="without adaptation success and goal conditions fall, more so with a weaker model",
    ),
    Factor(
        "search_tree",
        "Search tree",
        "setting",
        {
            True: Caption("With", "The subtree is searched."),
            False: Caption("Without", "The agent writes the window anew, told what was missing."),
        },
        where="Figure 5",
        finding="without the search tree success and goal conditions fall",
    ),
    Factor(
        "env_error",
        "Injected error",
        "setting",
        {
            "none": Caption("None", "Only the plan can be wrong."),
            "relocate": Caption("Moved", "A needed thing is somewhere else."),
            "occlude": Caption("Hidden", "A needed thing cannot be seen from one side."),
            "slip": Caption("Slip", "A skill has no effect once."),
            "drop": Caption("Fall", "A thing falls down when it is taken."),
            "mixed": Caption("Mixed", "One of the four at random."),
        },
    ),
    Factor(
        "knowledge",
        "Knowledge at the start",
        "setting",
        {
            "full": Caption("Full", "Where everything is."),
            "visible": Caption("Visible", "What is not closed away."),
            "none": Caption("None", "Nothing."),
        },
    ),
    Factor(
        "graph",
        "State-dependency graph",
        "setting",
        {
            "builtin": Caption("Shipped", "The graph that the product ships."),
            "dataset": Caption("Dataset’s", "The graph kept with the dataset."),
            "model": Caption("Agent’s", "The agent writes the graph at the start."),
        },
    ),
)

COMPARISONS = Comparisons(
    factors=FACTORS,
    groups={name: Grouping(title, GROUP_VALUES) for name, title in GROUPS.items()},
    bracket=BRACKET,
)
