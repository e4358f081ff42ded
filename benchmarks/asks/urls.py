"""URLs of asks that wait for a person."""

from django.urls import path

from benchmarks.asks import views

urlpatterns = [
    path("asks/", views.ask_list, name="ask_list"),
    path("asks/<int:ask_id>/", views.ask, name="ask"),
    path("asks/<int:ask_id>/next/", views.ask_next, name="ask_next"),
]
