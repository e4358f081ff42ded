"""Bounded, deterministic search over grounded problems: plans, proofs and shortest distances."""
