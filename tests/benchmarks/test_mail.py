"""Tests of messages where a mail server refuses, as the standard library raises its errors."""

import smtplib
import socket
import ssl

import pytest
from pytest_django import Settings

from benchmarks.mail import mail_problem

UNTRUSTED = ssl.SSLCertVerificationError(1, "certificate verify failed")
UNTRUSTED.verify_message = "self-signed certificate"


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (smtplib.SMTPAuthenticationError(535, b"5.7.8 No"), "name and password in PLANJURY_SMTP"),
        (smtplib.SMTPNotSupportedError("STARTTLS extension not supported"), "?tls=off"),
        (smtplib.SMTPNotSupportedError("SMTP AUTH extension not supported"), "takes no password"),
        (smtplib.SMTPRecipientsRefused({"a@x": (550, b"Unknown")}), "the address (550 Unknown)"),
        (smtplib.SMTPSenderRefused(553, b"Not yours", "b@x"), "PLANJURY_MAIL_FROM (553 Not yours)"),
        (smtplib.SMTPResponseException(454, "TLS\r\nnot available"), "454 TLS not available"),
        (smtplib.SMTPServerDisconnected("Connection unexpectedly closed"), "did not answer"),
        (TimeoutError("timed out"), "did not answer"),
        (UNTRUSTED, "mail.example.org:587 is not trusted: self-signed certificate"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER]"), "does not begin with encryption"),
        (socket.gaierror(-2, "Name or service not known"), "reached: Name or service not known"),
        (ConnectionRefusedError(111, "Connection refused"), "reached: Connection refused"),
        (ValueError("Header values can't contain newlines\nat all"), "can't contain newlines"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Exception) else "",
)
def test_problems_are_told_in_words(settings: Settings, error: Exception, words: str) -> None:
    settings.EMAIL_HOST, settings.EMAIL_PORT = "mail.example.org", 587
    problem = mail_problem(error)
    assert words in problem and "\n" not in problem
