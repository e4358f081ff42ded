"""What a tidy table looks like: for whoever reads, writes or explains one; without numpy."""

COLUMNS = ("dataset", "item", "criterion", "rater", "rater_kind", "score")
TASK = "task"
KINDS = ("human", "llm")
GZIP = b"\x1f\x8b"
# Pairs of raters are listed for up to so many.
MOST_RATERS = 40
