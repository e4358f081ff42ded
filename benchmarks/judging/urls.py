"""URLs of judgings and judges."""

from django.urls import path

from benchmarks.judging import views

urlpatterns = [
    path("runs/<int:run_id>/judging/", views.judging_choose, name="judging_choose"),
    path("judges/", views.judge_list, name="judge_list"),
    path("judges/anew/", views.judging_new, name="judging_new"),
    path("judges/try/", views.judge_try, name="judge_try"),
    path("judges/try/<int:trial_id>/", views.judge_trial, name="judge_trial"),
]
