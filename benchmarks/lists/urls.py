"""URLs of the columns of lists."""

from django.urls import path

from benchmarks.lists import views

urlpatterns = [path("lists/<slug:name>/columns/", views.columns, name="list_columns")]
