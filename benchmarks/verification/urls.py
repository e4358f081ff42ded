"""URLs of verification of runs, and of prompts."""

from django.urls import path

from benchmarks.verification import views

urlpatterns = [
    path("runs/<int:run_id>/verification/", views.run_verification, name="run_verification"),
    path("systems/<slug:key>/prompts/<int:version>/", views.prompts, name="prompts"),
]
