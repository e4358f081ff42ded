"""Addresses of the annotation app."""

from django.urls import URLPattern, URLResolver, path

from annotation.views import desk, home, studies

app_name = "annotation"
urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("demo/progress/", home.demo, name="demo"),
    path("demo/again/", home.load_again, name="load_again"),
    path("studies/", studies.study_list, name="study_list"),
    path("studies/new/", studies.study_new, name="study_new"),
    path("studies/<int:pk>/", studies.study, name="study"),
    path("studies/<int:pk>/status/", studies.study_status, name="study_status"),
    path("studies/<int:pk>/answers.csv", studies.ratings_csv, name="ratings_csv"),
    path("studies/<int:pk>/history.csv", studies.history_csv, name="history_csv"),
    path("studies/<int:pk>/questions.csv", studies.questions_csv, name="questions_csv"),
    path("studies/<int:pk>/annotate/", desk.next_item, name="next_item"),
    path("studies/<int:pk>/annotate/<int:position>/", desk.desk, name="desk"),
    path("studies/<int:pk>/annotate/<int:position>/answers/", desk.answers, name="answers"),
    path("studies/<int:pk>/annotate/<int:position>/submit/", desk.submit, name="submit"),
]
