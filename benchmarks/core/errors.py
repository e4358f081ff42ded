"""Errors that cross the border between protocols, answerers and the driver."""


class CoreError(Exception):
    """Base of every error that the core raises on purpose; its text is fit to be shown."""


class UnreadableReply(CoreError):
    """A reply that its parser cannot read. The text says what was expected and what was found."""


class SettingError(CoreError):
    """A condition setting that is unknown or out of range."""

    def __init__(self, name: str, expected: str, found: object) -> None:
        self.name, self.expected, self.found = name, expected, found
        super().__init__(f"setting {name!r}: expected {expected}, found {found!r}")


class UnknownName(CoreError):
    """A name that no registry entry answers to; lists the ones that do."""

    def __init__(self, kind: str, name: str, known: list[str]) -> None:
        self.kind, self.name, self.known = kind, name, known
        super().__init__(f"unknown {kind} {name!r}; known: {', '.join(known) or 'none'}")


class MadeElsewhere(UnknownName):
    """No system stands behind imported trajectories: nothing is run or judged on them here."""

    def __init__(self, system: str) -> None:
        super().__init__("system", system, [])
        self.args = (
            "these trajectories were made elsewhere and imported: no protocol, script or judge "
            "here knows their tasks, so nothing can be run or judged on them",
        )


class ImportRefused(CoreError):
    """Raised for an import that contradicts stored data; nothing was changed."""


class ExportRefused(CoreError):
    """Raised if there is nothing to export, or its file cannot be written or exists already."""


class AnswererFailed(CoreError):
    """Infrastructure let an answerer down (endpoint gone, file missing). Never enters an episode.

    The text must be free of secrets: it is stored and shown. ``tries`` is how often the ask was
    sent in vain.
    """

    def __init__(self, reason: str, tries: int = 1) -> None:
        self.tries = tries
        super().__init__(reason)


class OutcomeUnknown(AnswererFailed):
    """The ask was sent, and nobody knows what became of it: it may have been answered and billed.

    It may be put ``again``, as another attempt, so that the log shows every such call.
    """

    def __init__(self, reason: str, tries: int = 1, again: bool = True) -> None:
        self.again = again
        super().__init__(reason, tries)


class CapReached(CoreError):
    """A call was not sent, because it might have cost more than the run has left."""


class AskMismatch(CoreError):
    """Replay produced an ask that differs from the stored one: the versions no longer agree.

    ``message`` is the place of the first message that differs, from 0, where one does, and
    ``derived`` its text as it is asked now.
    """

    def __init__(
        self, step: int, slot: int, difference: str, message: int | None = None, derived: str = ""
    ) -> None:
        self.step, self.slot, self.difference = step, slot, difference
        self.message, self.derived = message, derived
        super().__init__(f"step {step}, slot {slot}: {difference}")


class TurnMismatch(CoreError):
    """Replay derived a turn that differs from the stored one."""

    def __init__(self, index: int, difference: str) -> None:
        self.index, self.difference = index, difference
        super().__init__(f"turn {index}: {difference}")
