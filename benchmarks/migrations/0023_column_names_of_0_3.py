"""Give two columns the names of release 0.3 again, where a version before 0.4 renamed them."""

from django.db import migrations

RENAMED = (
    ("benchmarks_trajectory", "role_changes", "recast"),
    ("benchmarks_job", "woken_at", "rung_at"),
)


def name_back(apps, schema_editor):
    connection = schema_editor.connection
    quote = connection.ops.quote_name
    for table, new, old in RENAMED:
        with connection.cursor() as cursor:
            found = connection.introspection.get_table_description(cursor, table)
        if new in {column.name for column in found}:
            schema_editor.execute(
                f"ALTER TABLE {quote(table)} RENAME COLUMN {quote(new)} TO {quote(old)}"
            )


class Migration(migrations.Migration):
    tolerated_because = "databases of the previous release have these names"

    dependencies = [("benchmarks", "0022_endpoint_rules")]

    operations = [migrations.RunPython(name_back, migrations.RunPython.noop)]
