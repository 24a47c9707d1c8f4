"""Measures of decisions: of the most probable class as a prediction, by the confusion matrix."""

import math

import numpy as np

from simstudy.arrays import Class, FloatArray, Labels, Proba, weights_in
from simstudy.measures.base import Undefined, Weights, divided, measure, modal_class
from simstudy.measures.positive_class import one_sided, positive_class
from simstudy.measures.scores.losses import accuracy


def confusion_matrix(proba: Proba, y: Labels, *, weights: Weights = None) -> FloatArray:
    """Return the confusion matrix: the weight of the rows of each actual and predicted class.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    array of shape (k, k)
        Rows are actual classes, columns predicted ones.
    """
    k = np.shape(proba)[1]
    cells = np.asarray(y, dtype=np.intp) * k + modal_class(proba)
    return weights_in(cells, weights, k * k).reshape(k, k)


@measure(greater_is_better=False, label="error rate")
def error_rate(proba: Proba, y: Labels) -> FloatArray:
    """Error rate: the share of rows whose most probable class is not the true class.

    With m the modal class, ``0`` if m is the true class, else ``1``: 1 minus `accuracy`.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.

    Returns
    -------
    array of shape (n,)
        1 for a wrong prediction, 0 for a correct one.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    return 1.0 - accuracy(proba, y)


@measure(greater_is_better=True, label="kappa", zero="agreement by chance", over="set")
def kappa(proba: Proba, y: Labels, *, weights: Weights = None) -> float:
    """Cohen's kappa: agreement of predicted and true classes beyond chance.

    Cohen 1960: ``(observed − chance)/(1 − chance)``, where observed is the accuracy and chance the
    accuracy of random predictions that have each class as often: Σ_c (rows of c)·(predictions of
    c)/n².

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        At most 1; undefined if all rows are of one class and predicted as it (Weka: 1).

    References
    ----------
    J. Cohen (1960). A coefficient of agreement for nominal scales. Educational and Psychological
    Measurement 20.

    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    matrix = confusion_matrix(proba, y, weights=weights)
    by_chance = np.outer(matrix.sum(axis=1), matrix.sum(axis=0))
    # Sums of the disagreements, not differences from 1, are exactly 0 where there are none.
    np.fill_diagonal(by_chance, 0.0)
    total, chance = matrix.sum(), by_chance.sum()
    np.fill_diagonal(matrix, 0.0)
    if chance == 0:
        return Undefined("all rows are of one class and predicted as it")
    return float(1.0 - matrix.sum() * total / chance)


@measure(greater_is_better=True, label="balanced accuracy", over="set")
def balanced_accuracy(proba: Proba, y: Labels, *, weights: Weights = None) -> float:
    """Balanced accuracy: the mean over classes of the share of their rows predicted correctly.

    ``(1/k) Σ_c recall_c`` over the k classes that occur in the rows; with two classes, the mean of
    sensitivity and specificity (Brodersen et al. 2010).

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        From 0 to 1. Classes without rows are left out.

    References
    ----------
    K. H. Brodersen, C. S. Ong, K. E. Stephan & J. M. Buhmann (2010). The balanced accuracy and its
    posterior distribution. ICPR 2010.
    """
    recalls = Counts(proba, y, weights).recalls
    return float(recalls[~np.isnan(recalls)].mean())


@measure(greater_is_better=True, label="Matthews correlation", zero="no association", over="set")
def matthews(proba: Proba, y: Labels, *, weights: Weights = None) -> float:
    """Matthews correlation of predicted and true classes; R_K with more than two classes.

    Gorodkin 2004: with t_c and p_c the numbers of rows of class c and predicted as c, r the number
    predicted correctly and n that of all rows,
    ``(r n − Σ_c t_c p_c)/sqrt((n² − Σ_c t_c²)(n² − Σ_c p_c²))``. With two classes it is Matthews's
    (TP·TN − FP·FN)/sqrt((TP+FP)(TP+FN)(TN+FP)(TN+FN)).

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.

    Returns
    -------
    float
        From −1 to 1; 0 if one class is predicted for all rows; undefined if all rows are of one
        class.

    References
    ----------
    B. W. Matthews (1975). Comparison of the predicted and observed secondary structure of T4 phage
    lysozyme. Biochimica et Biophysica Acta 405.

    J. Gorodkin (2004). Comparing two K-category assignments by a K-category correlation
    coefficient. Computational Biology and Chemistry 28.
    """
    counts = Counts(proba, y, weights)
    # Sums of products are exactly 0 where only one class occurs or is predicted.
    actual, predicted = counts.actual, counts.predicted
    spread, predicted_spread = (float((n * (n.sum() - n)).sum()) for n in (actual, predicted))
    if spread == 0:
        return Undefined("all rows are of one class")
    if predicted_spread == 0:
        return 0.0
    shared = float((counts.right * counts.total - actual * predicted).sum())
    return shared / (math.sqrt(spread) * math.sqrt(predicted_spread))


@measure(greater_is_better=True, label="sensitivity × specificity", over="set")
def sensitivity_specificity(
    proba: Proba, y: Labels, *, weights: Weights = None, rarer: Class = None, positive: Class = None
) -> float:
    """Sensitivity times specificity: product of the shares of both kinds of rows found.

    Witten, Frank & Hall 2011, section 5.7: ``TP·TN/((TP + FN)(FP + TN))``. With more than two
    classes the positive one is taken against the rest.

    Parameters
    ----------
    proba : array of shape (n, k)
        The learner's probabilities; ties for the mode go to the lowest class index.
    y : array of shape (n,)
        The true classes.
    weights : array of shape (n,), optional
        Row weights.
    rarer : int, optional
        The class that is rarer in the population.
    positive : int, optional
        The positive class; the rarer one if not given.

    Returns
    -------
    float
        From 0 to 1; undefined if the positive class has no rows, or all.

    References
    ----------
    I. H. Witten, E. Frank & M. A. Hall (2011). Data Mining, third edition, chapter 5.
    """
    matrix = confusion_matrix(proba, y, weights=weights)
    chosen = positive_class(positive, rarer, y, len(matrix), weights)
    rest = np.delete(matrix, chosen, axis=0)
    positives, negatives = matrix[chosen].sum(), rest.sum()
    if reason := one_sided(positives, negatives):
        return Undefined(reason)
    specificity = 1.0 - rest[:, chosen].sum() / negatives
    return float(matrix[chosen, chosen] / positives * specificity)


class Counts:
    """The rows of each class, those predicted as it, and those of it predicted as it."""

    def __init__(self, proba: Proba, y: Labels, weights: Weights) -> None:
        matrix, self.y, self.weights = confusion_matrix(proba, y, weights=weights), y, weights
        self.actual: FloatArray = matrix.sum(axis=1)
        self.predicted: FloatArray = matrix.sum(axis=0)
        self.right: FloatArray = matrix.diagonal()
        self.false: FloatArray = (matrix * (1.0 - np.eye(len(matrix)))).sum(axis=0)
        self.total, self.classes = float(self.actual.sum()), len(matrix)

    @property
    def recalls(self) -> FloatArray:
        """The recall of each class; NaN without rows."""
        return divided(self.right, self.actual)

    @property
    def false_rates(self) -> FloatArray:
        """The share of the rows of other classes that are predicted as each; NaN without such."""
        # Sums over the other classes are exactly 0 where there are none, differences might not be.
        rest = [np.delete(self.actual, place).sum() for place in range(self.classes)]
        return divided(self.false, rest)
