"""Recipes: one file per algorithm, grouped by family."""

from typing import Any

from psephos.modelfile import load, save
from psephos.registry import BUILTIN, builtin

__all__ = ["load", "save", *BUILTIN]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in BUILTIN:
        return builtin(name)
    raise AttributeError(f"module 'psephos.models' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
