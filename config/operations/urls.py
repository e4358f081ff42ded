"""Addresses of the page for administrators."""

from django.urls import path

from config.operations import views

urlpatterns = [
    path("", views.server, name="server"),
    path("jobs/<int:job_id>/retry", views.job_retry, name="server_job_retry"),
    path("mail", views.mail_try, name="server_mail_try"),
]
