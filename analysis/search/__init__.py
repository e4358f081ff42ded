"""Words in plans, feedback and tasks: an index of the database's own, and what reads it.

``words``      what a word is, the same for what is stored and what is asked
``query``      what somebody typed, taken apart
``index``      the index: SQLite's FTS5 or PostgreSQL's tsvector under GIN
``find``       from typed words to trajectories
``snippets``   where in a trajectory the words stand

The index is derived: `analysis.search.services` fills it, and nothing is lost with it.
"""
