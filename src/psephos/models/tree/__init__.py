"""Single trees."""

from psephos.models.tree.c45 import C45Classifier
from psephos.models.tree.c45_rules import C45RulesClassifier
from psephos.models.tree.cart import CARTClassifier, CARTRegressor
from psephos.models.tree.linear_tree import LinearTreeClassifier, LinearTreeRegressor
from psephos.models.tree.soft_tree import SoftTreeClassifier, SoftTreeRegressor

__all__ = [
    "C45Classifier",
    "C45RulesClassifier",
    "CARTClassifier",
    "CARTRegressor",
    "LinearTreeClassifier",
    "LinearTreeRegressor",
    "SoftTreeClassifier",
    "SoftTreeRegressor",
]
