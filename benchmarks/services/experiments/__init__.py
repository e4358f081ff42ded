"""Experiments: a matrix of runs that is written down, counted, run, and looked at as one."""
