"""Mean profile sizes of the published dataset (paper, Table 2), to stand beside one's own."""

from benchmarks.core.ports.comparability import (
    NOT_STATED,
    PublishedAspect,
    PublishedSetting,
    dataset_is,
    decoding,
    models_fill,
    own_prompts,
    same,
    settings_are,
    unknown,
    whole_split,
)
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

COMPARABILITY = (
    PublishedSetting(
        "AdaPlanBench paper",
        {
            "prompt": PublishedAspect("the paper’s prompts (appendix E)", own_prompts),
            "shots": PublishedAspect(NOT_STATED, unknown("no examples")),
            "split": PublishedAspect("307 tasks made of MacGyver’s problems", whole_split(307)),
            "decoding": PublishedAspect(
                "temperature 0, at most 16,000 tokens", decoding(0.0, 16_000)
            ),
            "turns": PublishedAspect(
                "3 rounds with 3 planners", settings_are({"rounds": 3, "planners": 3})
            ),
            "judges": PublishedAspect(
                "planners GPT-4.1, DeepSeek-V3.2 and Qwen3.6-Flash; checker GPT-5.4",
                models_fill(
                    {
                        "agent": ("gpt-4.1",),
                        "planner": ("deepseek-v3.2", "qwen3.6-flash"),
                        "checker": ("gpt-5.4",),
                    }
                ),
            ),
            "scorer": PublishedAspect("constraints counted", same("constraints counted")),
            "dataset": PublishedAspect("MacGyver, digest not stated", dataset_is()),
        },
    ),
)
