"""Designs of studies: who judges what, in which order. Pure functions without a database.

``sampling`` chooses items, ``dealing`` assigns them (``deal_queries`` as the paper did),
``orders`` orders each person's items, ``placement`` adds training and gold items, and
``certificate`` reports the balance of the result. docs/making-studies.md says what each method
guarantees.
"""
