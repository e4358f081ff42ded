"""Backup and restore, by the tools of the database's own engine.

docs/decisions/backups.md says why it is made this way.

``archive``     the file: manifest, digest, and the database as its engine's tool wrote it
``sqlite``      SQLite's online backup API
``postgresql``  pg_dump and pg_restore
``rows``        rows copied from one engine to the other
``backup``      database → file
``restore``     file → database
``errors``      what goes wrong, as one line
"""
