"""Concept learning: conjunctions consistent with the rows, and votes by their posterior."""

from psephos.models.concepts.bayes_optimal import BayesOptimalClassifier
from psephos.models.concepts.gibbs import GibbsClassifier
from psephos.models.concepts.version_space import VersionSpaceClassifier

__all__ = ["BayesOptimalClassifier", "GibbsClassifier", "VersionSpaceClassifier"]
