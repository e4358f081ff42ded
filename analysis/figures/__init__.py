"""Figures: results in, Plotly figures as plain dictionaries out; no statistics, no Django.

A figure has no template and names colours as ``var(--series-1)``: the page fills in its light or
dark values and its own template (``static/js/figure-look.js``). Send it with ``theme.figure_json``.
"""
