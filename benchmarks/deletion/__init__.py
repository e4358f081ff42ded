"""Delete runs, experiments, imports and datasets: a plan first, then a mark, then the rows."""
