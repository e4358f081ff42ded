"""Designs of studies: who judges what, and in which order; names, ids and a seed in, no database.

``sampling`` chooses, ``dealing`` assigns (``queries`` does so as the paper did), ``orders`` puts
each person's items in order, ``placement`` adds training and gold items, and ``certificate`` says
how balanced the result is. docs/making-studies.md says what each method guarantees.
"""
