from django.conf import settings
from django.db import migrations, models
from django.db.models import F


def use_own_right(apps, schema_editor):
    """Approvals that were given before rights could be lent used the approver's own."""
    approvals = apps.get_model("catalog", "Approval")
    approvals.objects.using(schema_editor.connection.alias).filter(right_of=None).update(right_of=F("user"))


class Migration(migrations.Migration):
    # PostgreSQL alters no table whose rows the same transaction has changed.
    atomic = False

    dependencies = [("catalog", "0003_policies_and_people")]

    operations = [
        migrations.RunPython(use_own_right, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="approval",
            name="right_of",
            field=models.ForeignKey(
                on_delete=models.deletion.PROTECT, related_name="+", to=settings.AUTH_USER_MODEL
            ),
        ),
    ]
