"""The reason why mail was not sent, in words."""

import smtplib
import socket
import ssl

from django.conf import settings


def mail_problem(error: Exception) -> str:
    """Return what an error of the mail server means, and which setting it is about."""
    server = f"{settings.EMAIL_HOST}:{settings.EMAIL_PORT}"
    match error:
        case smtplib.SMTPAuthenticationError():
            return (
                f"{server} does not accept the user name and password in PLANJURY_SMTP_URL "
                f"({_answer(error)})"
            )
        case smtplib.SMTPNotSupportedError() if "STARTTLS" in str(error):
            return (
                f"{server} offers no encryption by STARTTLS. Write smtps:// in PLANJURY_SMTP_URL "
                "if it is encrypted from the start (usually port 465), or ?tls=off if it is never"
            )
        case smtplib.SMTPNotSupportedError() if "AUTH" in str(error):
            return f"{server} takes no password: leave it out of PLANJURY_SMTP_URL"
        case smtplib.SMTPRecipientsRefused():
            answers = (_words(*answer) for answer in error.recipients.values())
            return f"{server} refuses the address ({', '.join(answers)})"
        case smtplib.SMTPSenderRefused():
            return f"{server} refuses the sender in PLANJURY_MAIL_FROM ({_answer(error)})"
        case smtplib.SMTPResponseException():
            return f"{server} answered {_answer(error)}"
        case smtplib.SMTPServerDisconnected() | TimeoutError():
            return (
                f"{server} did not answer, or closed the connection. Check the port, and whether "
                "it is encrypted from the start (smtps:// in PLANJURY_SMTP_URL)"
            )
        case ssl.SSLCertVerificationError():
            return f"the certificate of {server} is not trusted: {error.verify_message}"
        case ssl.SSLError():
            return (
                f"{server} does not begin with encryption: write smtp:// in PLANJURY_SMTP_URL, "
                "which asks for it by STARTTLS"
            )
        case socket.gaierror() | ConnectionError():
            return f"{server} cannot be reached: {error.strerror}"
    return next(iter(str(error).splitlines()), type(error).__name__)


def _answer(error: smtplib.SMTPResponseException) -> str:
    return _words(error.smtp_code, error.smtp_error)


def _words(code: int, text: bytes | str) -> str:
    """A line of the server, without the codes that follow its number."""
    line = text.decode(errors="replace") if isinstance(text, bytes) else text
    return f"{code} {' '.join(line.split())[:200]}".strip()
