"""The learners as scikit-learn estimators, for tables of categories.

>>> from simstudy.sklearn import AODEClassifier
>>> AODEClassifier().fit([["hot", "dry"], ["cold", "wet"]], ["out", "in"]).predict([["hot", "dry"]])
array(['out'], dtype='<U3')

Every column of ``X`` holds one attribute's categories: strings, numbers, booleans or a pandas
categorical, one kind in each column. Numbers are categories too: discretise continuous columns
first. Missing values are refused; fill them, or give them a category of their own.

A category that training never saw says nothing about the class ("ignore"): it is summed over, as
if the value had not been observed. The alternatives would distort probabilities. One more value
of zero count changes the smoothing of all the others, and its own frequency, α/(n_c + …), is
greatest in the rarest class. Where all categories are known, the probabilities are those that
the learner itself gives for the same codes.

Two estimators differ: `C45Classifier` and `BoostedC45Classifier` take columns of numbers as
numbers, and cut between them, unless ``categorical_features="all"`` says that they are categories;
missing values, and categories that training never saw, go down all branches of a tree in parts.

To add a learner: a subclass whose ``_of`` is the learner; its parameters come with it.
"""

from simstudy.sklearn.base import CategoricalClassifier
from simstudy.sklearn.estimators import (
    AODEClassifier,
    BoostedC45Classifier,
    C45Classifier,
    CaMMLClassifier,
    DecisionStumpClassifier,
    HNBClassifier,
    KDBClassifier,
    LBRClassifier,
    MMLGraphClassifier,
    MMLTreeClassifier,
    NaiveBayesClassifier,
    OneRClassifier,
    PriorClassifier,
    TANClassifier,
)

__all__ = [
    "AODEClassifier",
    "BoostedC45Classifier",
    "C45Classifier",
    "CaMMLClassifier",
    "CategoricalClassifier",
    "DecisionStumpClassifier",
    "HNBClassifier",
    "KDBClassifier",
    "LBRClassifier",
    "MMLGraphClassifier",
    "MMLTreeClassifier",
    "NaiveBayesClassifier",
    "OneRClassifier",
    "PriorClassifier",
    "TANClassifier",
]
