"""Addresses of the pages for developers."""

from django.urls import path

from devtools import style_guide

app_name = "devtools"
urlpatterns = [
    path("styleguide/", style_guide.guide, name="style_guide"),
    path("styleguide/desk/", style_guide.guide, {"page": "desk"}, name="style_guide_desk"),
    path("styleguide/figure.json", style_guide.figure, name="style_guide_figure"),
]
