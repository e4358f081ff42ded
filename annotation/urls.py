"""Addresses of the annotation app."""

from django.urls import URLPattern, URLResolver, path

from annotation.views import desk, exports, home, new_study, studies

app_name = "annotation"
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
    path("studies/<int:pk>/annotate/<int:position>/", desk.desk, name="desk"),
    path("studies/<int:pk>/annotate/<int:position>/answers/", desk.answers, name="answers"),
    path("studies/<int:pk>/annotate/<int:position>/submit/", desk.submit, name="submit"),
]
