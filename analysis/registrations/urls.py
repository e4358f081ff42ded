"""Addresses of registrations, which the addresses of the app take in."""

from django.urls import URLPattern, path

from analysis.registrations import views

LIST = "analysis/registrations/"
ONE = f"{LIST}<int:registration_id>/"
registration_paths: list[URLPattern] = [
    path(LIST, views.registration_list, name="registration_list"),
    path(f"{LIST}new/", views.registration_new, name="registration_new"),
    path(ONE, views.registration, name="registration"),
    path(f"{ONE}withdraw/", views.registration_withdraw, name="registration_withdraw"),
    *(
        path(
            f"{ONE}registration.{ending}", views.registration_file, {"ending": ending},
            f"registration_{name}",
        )
        for ending, name in (("json", "json"), ("txt", "text"))
    ),
]  # fmt: skip
