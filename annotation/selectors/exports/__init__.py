"""A study as files tell it: which columns, whose rows, under which names."""
