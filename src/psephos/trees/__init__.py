"""Searching and growing trees; for now the stump, from which the engine grows."""

from psephos.trees.stump import Stump, StumpSearch

__all__ = ["Stump", "StumpSearch"]
