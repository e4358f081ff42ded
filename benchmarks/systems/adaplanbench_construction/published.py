"""Mean profile sizes of the published dataset (paper, Table 2), to stand beside one's own."""

from benchmarks.core.ports.published import Published

_SIZES = {
    "world": {"low": 9.76, "mid": 19.61, "high": 37.73},
    "user": {"low": 10.91, "mid": 21.78, "high": 41.79},
}
PUBLISHED = tuple(
    Published("AdaPlanBench", f"{kind}_{level}", size, 307, "Table 2")
    for kind, sizes in _SIZES.items()
    for level, size in sizes.items()
)
