"""Addresses of the annotation app."""

from django.urls import URLPattern, URLResolver, path

from annotation.models import Assignment
from annotation.views import desk, desk_answers, exports, home, new_study, studies

app_name = "annotation"
Part = Assignment.Part


def _desk(folder: str, prefix: str, part: str) -> list[URLPattern]:
    """The desk of one part: its page, the saving of answers, and submitting."""
    at, kwargs = f"studies/<int:pk>/{folder}<int:position>/", {"part": part}
    return [
        path(at, desk.desk, kwargs, name=f"{prefix}desk"),
        path(f"{at}answers/", desk_answers.answers, kwargs, name=f"{prefix}answers"),
        path(f"{at}submit/", desk_answers.submit, kwargs, name=f"{prefix}submit"),
    ]


urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("demo/progress/", home.demo, name="demo"),
    path("demo/again/", home.load_again, name="load_again"),
    path("studies/", studies.study_list, name="study_list"),
    path("studies/new/", new_study.study_new, name="study_new"),
    path("studies/<int:pk>/", studies.study, name="study"),
    path("studies/<int:pk>/status/", studies.study_status, name="study_status"),
    path("studies/<int:pk>/export/", exports.study_export, name="study_export"),
    path("studies/<int:pk>/export/file/", exports.study_download, name="study_download"),
    path("studies/<int:pk>/annotate/", desk.next_item, name="next_item"),
    *_desk("annotate/", "", Part.MAIN),
    *_desk("training/", "training_", Part.TRAINING),
    *_desk("background/", "background_", Part.BACKGROUND),
]
