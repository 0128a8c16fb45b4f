"""Classifiers for labels that are partly missing or one-sidedly wrong."""

from psephos.models.weak.liois import LIoISClassifier
from psephos.models.weak.one_sided import OneSidedNoiseClassifier
from psephos.models.weak.pu import PUClassifier

__all__ = ["LIoISClassifier", "OneSidedNoiseClassifier", "PUClassifier"]
