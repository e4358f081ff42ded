import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('annotation', '0004_fill_items'),
    ]

    operations = [
        migrations.AlterField(
            model_name='assignment',
            name='item',
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='assignments', to='annotation.item'),
        ),
        migrations.RemoveField(
            model_name='assignment',
            name='asked',
        ),
        migrations.DeleteModel(
            name='AssignmentEvent',
        ),
    ]
