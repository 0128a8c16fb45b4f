"""The errors a user can meet: each is a sentence saying what, where, and what to do."""

_LENGTH = 160  # characters of another library's message


class PsephosError(ValueError):
    """A value that cannot be used; the message names the place and the remedy."""


class PsephosTypeError(PsephosError, TypeError):
    """A value of the wrong type; the message names the place and the remedy."""


class ModelFileError(PsephosError):
    """A model file that cannot be written or read."""


class MissingFileError(ModelFileError, FileNotFoundError):
    """A file that does not exist."""


class MissingExtraError(PsephosError, ImportError):
    """An optional package is needed; the message carries the command that installs it."""

    def __init__(self, package: str, purpose: str, extra: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}; install it with: "
            f"pip install 'psephos[{extra}]'"
        )


class CollapseWarning(UserWarning):
    """A row was left out, because no hypothesis left agrees with it."""


class WeakLabelsWarning(UserWarning):
    """No row is without a label, where a model learns from rows without one."""


class ConstantAnswerWarning(UserWarning):
    """A fitted classifier predicts one class for every training row."""


class UnknownLevelWarning(UserWarning):
    """Some values of a categorical column are none of the model's categories: read as missing."""


class TableWarning(UserWarning):
    """A caution on a table (docs/cautions.md); `code` is its number, such as 'FD004'."""

    def __init__(self, words: str, code: str = "") -> None:
        super().__init__(words)
        self.code = code


def shortly(error: Exception) -> str:
    """Return another library's message as a part of ours: its beginning, if it quotes a file."""
    words = str(error)
    return words if len(words) <= _LENGTH else f"{words[:_LENGTH]} …"
