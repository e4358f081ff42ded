"""Backup and restore of everything in the database, whichever engine it is on.

docs/decisions/backups.md says why it is made this way.

``manifest``    what a backup says of itself
``archive``     the file: written aside and put into place, read only when it is whole
``schema``      tables and columns as a set of applied migrations has them
``values``      what a column's value looks like in the file, and back
``dump``        database → file, in one snapshot
``sqlite``      a database built beside the live one, and the moment in which it takes its place
``postgresql``  the same in one transaction
``restoring``   file → database
"""
