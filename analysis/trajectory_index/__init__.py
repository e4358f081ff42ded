"""The trajectory index: what lists filter, count and sort by, in columns, one row a trajectory."""
