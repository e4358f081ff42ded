"""What runs of SDA-Planner are varied in: planner, ablations, injected errors, knowledge."""

from benchmarks.core.ports.comparisons import Comparisons, Factor, Grouping, Named
from benchmarks.systems.sda_planner.labels import GROUP_VALUES, GROUPS

FACTORS: tuple[Factor, ...] = (
    Factor(
        "planner",
        "Planner",
        "setting",
        {
            "sda": Named("SDA-Planner", "Repairs the part of the plan that the failure concerns."),
            "local": Named("Local", "Writes the rest of the plan anew after each failure."),
            "global": Named("Global", "Starts over with a new plan; the house is put back."),
            "tree": Named("Tree Planner", "Goes to another branch of plans sampled at the start."),
        },
        where="Table 1",
        said="SDA-Planner succeeds most often; Global corrects least often, Local most often",
    ),
    Factor(
        "adaptation",
        "Adaptation",
        "setting",
        {
            True: Named("With", "The plan is repaired when a step fails."),
            False: Named("Without", "A failed step is skipped."),
        },
        where="Figure 4",
        said="without adaptation success and goal conditions fall, more so with a weaker model",
    ),
    Factor(
        "search_tree",
        "Search tree",
        "setting",
        {
            True: Named("With", "The subtree is searched."),
            False: Named("Without", "The agent writes the window anew, told what was missing."),
        },
        where="Figure 5",
        said="without the search tree success and goal conditions fall",
    ),
    Factor(
        "env_error",
        "Injected error",
        "setting",
        {
            "none": Named("None", "Only the plan can be wrong."),
            "relocate": Named("Moved", "A needed thing is somewhere else."),
            "occlude": Named("Hidden", "A needed thing cannot be seen from one side."),
            "slip": Named("Slip", "A skill has no effect once."),
            "drop": Named("Fall", "A thing falls down when it is taken."),
            "mixed": Named("Mixed", "One of the four at random."),
        },
    ),
    Factor(
        "knowledge",
        "Knowledge at the start",
        "setting",
        {
            "full": Named("Full", "Where everything is."),
            "visible": Named("Visible", "What is not closed away."),
            "none": Named("None", "Nothing."),
        },
    ),
    Factor(
        "graph",
        "State-dependency graph",
        "setting",
        {
            "builtin": Named("Shipped", "The graph that the product ships."),
            "dataset": Named("Dataset’s", "The graph kept with the dataset."),
            "model": Named("Agent’s", "The agent writes the graph at the start."),
        },
    ),
)

COMPARISONS = Comparisons(
    factors=FACTORS,
    groups={name: Grouping(title, GROUP_VALUES) for name, title in GROUPS.items()},
)
