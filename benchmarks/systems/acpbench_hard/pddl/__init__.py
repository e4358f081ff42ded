"""Planning problems in PDDL: read, checked, simulated and grounded.

``instance.read_instance`` reads a domain with a problem, ``grounding.ground`` grounds it into bit
sets. What is supported: STRIPS, types (also ``either``), constants, equality, negation, ``or`` and
``imply`` in conditions. Costs are read past, because the benchmark counts actions.
"""
