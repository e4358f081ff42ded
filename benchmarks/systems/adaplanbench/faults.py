"""What goes wrong in trajectories of AdaPlanBench: which constraints plans violate."""

from benchmarks.core.ports.faults import Fault, Faults

FAULTS = Faults(
    kinds={
        "world": Fault("World constraint violated", "violate a world constraint"),
        "user": Fault("User constraint violated", "violate a user constraint"),
        "disclosed": Fault(
            "Disclosed constraint violated again",
            "violate a constraint again after it was disclosed",
        ),
    },
    violations={"world": "world", "user": "user"},
    violated_again="disclosed",
)
