"""Pseudonyms of studies and people in exports."""

from django.utils.crypto import salted_hmac

from annotation.models import Study

# What a study that was imported remembers of where it came from, in its settings.
IMPORTED = "imported"


def pseudonym(*, study: int, user: int, role: str = "rater") -> str:
    """The name for a person in one study: stable, and another one in every study.

    It is derived with the installation's secret key, so nobody else can try names out.
    """
    return f"{role}-" + salted_hmac("annotation.exports", f"{study}:{user}").hexdigest()[:12]


class Pseudonyms:
    """The pseudonyms of a study's people; one that was imported keeps those of its file."""

    def __init__(self, study: Study) -> None:
        self.study = study.pk
        self.kept: dict[str, str] = study.settings.get(IMPORTED, {}).get("people", {})

    def rater(self, user: int) -> str:
        """The pseudonym of an annotator."""
        return self._of(user, "rater")

    def staff(self, user: int) -> str:
        """The pseudonym of somebody who runs the study."""
        return self._of(user, "staff")

    def _of(self, user: int, role: str) -> str:
        kept = self.kept.get(str(user))
        return kept or pseudonym(study=self.study, user=user, role=role)


def study_key(study: Study) -> str:
    """The name of a study in files: the same in every export of it, here and where it goes."""
    kept: str | None = study.settings.get(IMPORTED, {}).get("key")
    stamp = f"{study.pk}:{study.created_at.isoformat()}"
    return kept or "study-" + salted_hmac("annotation.studies", stamp).hexdigest()[:12]
