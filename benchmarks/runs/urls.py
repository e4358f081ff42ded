"""URLs of runs."""

from django.urls import path

from benchmarks.runs import views

urlpatterns = [
    path("runs/", views.run_list, name="run_list"),
    path("runs/new/", views.run_new, name="run_new"),
    path("runs/<int:run_id>/", views.run, name="run"),
    path("runs/<int:run_id>/export/", views.run_export, name="run_export"),
    path("runs/<int:run_id>/progress/", views.run_progress, name="run_progress"),
    path("runs/<int:run_id>/pause/", views.run_pause, name="run_pause"),
    path("runs/<int:run_id>/resume/", views.run_resume, name="run_resume"),
    path("runs/<int:run_id>/cancel/", views.run_cancel, name="run_cancel"),
    path("runs/<int:run_id>/cap/", views.run_cap, name="run_cap"),
]
