"""Squashed migrations and those that they replace lead to the same place."""

from django.db.migrations.loader import MigrationLoader

from config.backups.schema import Schema


def test_no_migration_follows_a_replaced_one() -> None:
    """Where one did, a backup could not tell which of both ways a database came."""
    loader = MigrationLoader(None, replace_migrations=False)
    replaced = {old for squashed in loader.replacements.values() for old in squashed.replaces}
    for node, migration in loader.disk_migrations.items():
        if node not in replaced:
            assert not replaced.intersection(migration.dependencies), node


def test_a_backup_made_before_squashing_has_the_same_tables() -> None:
    """It names the replaced migrations alone; a newer one names both."""
    loader = MigrationLoader(None, replace_migrations=False)
    squashed = set(loader.replacements)
    replaced = {old for migration in loader.replacements.values() for old in migration.replaces}
    new, old = (
        Schema([node for node in loader.graph.nodes if node not in without], whose="The backup")
        for without in (set(), squashed)
    )
    assert not new.is_older and not old.is_older
    assert old.leaves == new.leaves == sorted(MigrationLoader(None).graph.leaf_nodes())
    half = Schema(replaced - {("annotation", "0008_live_sessions")}, whose="The backup")
    assert half.is_older
    assert ("annotation", "0007_failure_labels") in half.leaves
    assert "annotation_livesession" not in half.models
