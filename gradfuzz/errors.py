"""What gradfuzz raises on purpose: each carries one line for the person who can mend it."""


class GradfuzzError(Exception):
    """The base of every error of this package; its text is *place: what is, what should be*.

    `told` says that it is part of the JSON that a command has printed.
    """

    told = False


class UsageError(GradfuzzError):
    """A request that cannot be carried out: a wrong flag, an unknown op, a missing folder."""


class CaseFileError(GradfuzzError):
    """A case file that cannot be read or may not be run."""


class StorageError(GradfuzzError):
    """A corpus folder that cannot be written or read: read-only, full, or not a folder."""


class SlowError(GradfuzzError):
    """A check that takes too long to go on with."""


class ForwardError(GradfuzzError):
    """An op refused its arguments, so there is nothing to differentiate."""


class FunctionError(GradfuzzError):
    """A function of the user's, or its inputs, of which no gradient can be checked."""
