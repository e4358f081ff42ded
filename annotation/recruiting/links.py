"""The addresses that go to a platform and back."""

from urllib.parse import quote

from annotation.models import Recruit, RecruitingLink

Platform = RecruitingLink.Platform
PROLIFIC_COMPLETE = "https://app.prolific.com/submissions/complete?cc="
# What Prolific replaces in an address by the ids of a participant.
PROLIFIC_IDS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


def platform_link(url: str, platform: str) -> str:
    """Return the address to give to a platform; ``url`` is that of the link."""
    if platform == Platform.PROLIFIC:
        return f"{url}?{PROLIFIC_IDS}"
    return url


def return_link(recruit: Recruit, code: str) -> str:
    """Return where somebody goes back to with a code; empty where they only copy the code."""
    link = recruit.link
    if link.platform == Platform.PROLIFIC:
        return PROLIFIC_COMPLETE + quote(code, safe="")
    filled = link.return_url.replace("{code}", quote(code, safe=""))
    return filled.replace("{id}", quote(recruit.external_id, safe=""))
