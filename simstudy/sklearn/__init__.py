"""The learners as scikit-learn estimators for categorical and mixed data.

>>> from simstudy.sklearn import AODEClassifier
>>> AODEClassifier().fit([["hot", "dry"], ["cold", "wet"]], ["out", "in"]).predict([["hot", "dry"]])
array(['out'], dtype='<U3')

Every column of ``X`` holds the values of one attribute: strings, numbers, booleans or a pandas
categorical, one type per column. Whole numbers are treated as categories. A column of fractions, or
of more than 50 different numbers, is cut by least description length, fitted to the training rows
as in a study, with a warning; discretise it yourself, or give ``categories``, to have it otherwise.
With ``categorical_features="from_dtype"`` all columns of numbers are cut, as in a study. ``X`` may
be a frame of pandas, polars, pyarrow, or another with the Arrow or the interchange protocol.

A missing value is a separate value of a column that lacks some in training, and else marginalised;
with ``missing="error"`` it raises an error.

A category not seen in training is marginalised ("ignore"), as if the value had not been observed.
Alternatives would distort the probabilities: an extra value with count 0 changes the smoothing of
all the others, and its own frequency, α/(n_c + …), is greatest in the rarest class. If all
categories are known, the probabilities are those of the learner for the same codes.

Two estimators differ: `C45Classifier` and `BoostedC45Classifier` treat numeric columns as numeric
unless ``categorical_features="all"``; rows with missing values or unseen categories are divided
among all branches of a tree.

The information reward is there as a metric, `information_reward`, and as a scorer for model
selection with any classifier that has ``predict_proba``. It is relative to the class frequencies of
the rows scored; with ``prior="train"`` to those of the training rows, as in a study, which needs a
classifier that records its class counts, as those here do:

>>> from sklearn.model_selection import cross_val_score
>>> from simstudy.sklearn import information_reward_scorer
>>> X, y = [["hot", "dry"], ["cold", "wet"], ["hot", "wet"]] * 20, ["out", "in", "in"] * 20
>>> rewards = cross_val_score(AODEClassifier(), X, y, scoring=information_reward_scorer())
>>> print(f"{rewards.mean():.2f} nats")
0.60 nats
>>> scoring = information_reward_scorer(prior="train", base=2)
>>> print(f"{cross_val_score(AODEClassifier(), X, y, scoring=scoring).mean():.2f} bits")
0.86 bits

To add an estimator, subclass `CategoricalClassifier` and set ``_of`` to the learner; its parameters
are inherited.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach

if TYPE_CHECKING:
    from simstudy.sklearn.base import CategoricalClassifier as CategoricalClassifier
    from simstudy.sklearn.estimators import AODEClassifier as AODEClassifier
    from simstudy.sklearn.estimators import BoostedC45Classifier as BoostedC45Classifier
    from simstudy.sklearn.estimators import C45Classifier as C45Classifier
    from simstudy.sklearn.estimators import CaMMLClassifier as CaMMLClassifier
    from simstudy.sklearn.estimators import CostSensitiveClassifier as CostSensitiveClassifier
    from simstudy.sklearn.estimators import DecisionStumpClassifier as DecisionStumpClassifier
    from simstudy.sklearn.estimators import HNBClassifier as HNBClassifier
    from simstudy.sklearn.estimators import KDBClassifier as KDBClassifier
    from simstudy.sklearn.estimators import LBRClassifier as LBRClassifier
    from simstudy.sklearn.estimators import MMLGraphClassifier as MMLGraphClassifier
    from simstudy.sklearn.estimators import MMLTreeClassifier as MMLTreeClassifier
    from simstudy.sklearn.estimators import NaiveBayesClassifier as NaiveBayesClassifier
    from simstudy.sklearn.estimators import OneRClassifier as OneRClassifier
    from simstudy.sklearn.estimators import PriorClassifier as PriorClassifier
    from simstudy.sklearn.estimators import TANClassifier as TANClassifier
    from simstudy.sklearn.metrics import information_reward as information_reward
    from simstudy.sklearn.metrics import information_reward_scorer as information_reward_scorer
else:
    __getattr__, __dir__ = attach(__name__)
