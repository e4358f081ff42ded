"""URLs of certificates of validity."""

from django.urls import path

from benchmarks.validity import views

urlpatterns = [
    path("datasets/<int:dataset_id>/validity/", views.dataset_validity, name="dataset_validity"),
]
