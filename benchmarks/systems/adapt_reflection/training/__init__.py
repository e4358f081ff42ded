"""Training on exported rows, and scoring by a local model; both need the extra ``train``.

``options``, ``files`` and ``commands`` are plain Python. ``dpo`` and ``local_scorer`` import torch
and are imported by a command that was called, never by the web app.
"""
