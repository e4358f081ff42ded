"""Limits of the formats of exports: what each cannot hold, or holds where other programs ignore it.

Pages, the API and the command name them before anything is written; the tests of exports hold each
format to its sentence.
"""

_RATINGS = "People's ratings are in the folder to publish only."
_WHOLE = "Holds all of a trajectory."
LIMITS: dict[str, str] = {
    "openai-chat": f"{_WHOLE} {_RATINGS}",
    "atif": "Moves each tool result into the step of its call. Scores, files and messages hidden "
    f"from the agent are under extra. Images are files beside it, not read back. {_RATINGS}",
    "inspect": "Leaves out tool definitions and undefined scores. Hidden conditions become lines "
    f"of the target. Tokens of a message and files are metadata. {_RATINGS}",
    "session-traces": "Leaves out the content of images. The Hub shows texts, reasoning, calls "
    f"and results; everything else is in the first line, which it ignores. {_RATINGS}",
    "huggingface": f"{_WHOLE} Holds people's ratings.",
    "huggingface-parquet": f"{_WHOLE} Holds people's ratings.",
}
