"""Statistics: numbers in, frozen results out; no Django, no queries, no drawing.

Import the module that is needed (``from analysis.stats import agreement``). numpy is imported with
it, scipy only when a function that needs it is called; web processes import these modules inside
the view or task that uses them.
"""
