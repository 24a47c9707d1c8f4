"""Claims about learners on data sets, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

DataRelation: TypeAlias = Literal[
    "beats",
    "never beats",
    "beats wherever",
    "wins more than it loses",
    "other winners",
    "correlation above",
    "correlation below",
]
AcrossTest: TypeAlias = Literal["wilcoxon", "sign"]
CORRELATIONS = ("correlation above", "correlation below")
OF_TWO_MEASURES = (*CORRELATIONS, "other winners")
OF_PAIRS = ("beats", "never beats", "beats wherever")


@dataclass(frozen=True)
class DataClaim:
    """A claim about learners on the data sets of a study.

    "beats" holds over all data sets, by a test of the means, or on each of those named, by the test
    of its splits. "never beats" leaves out the data sets named. "beats wherever": where ``rival``
    significantly beats a learner of ``against``, so do the learners, by their means. "wins more
    than it loses" counts significant differences from all other learners. "other winners": two
    measures name different winners on some data set. "correlation above" and "below" are of two
    measures over splits.

    Parameters
    ----------
    study : str
        The name of the study it is about.
    text : str
        The claim in words.
    relation : str
        The relation.
    learners : list of str
        The labels of the learners it is about; of correlations, all learners if empty.
    against : list of str
        The learners compared with.
    rival : str
        Of "beats wherever": the learner whose wins are followed.
    datasets : list of str
        Of "beats": the data sets; all of them together if empty. Of "never beats": exceptions.
    measure : str
        The measure it is about; the primary one if empty.
    other_measure : str
        The second one of two measures.
    value : float
        What the mean correlation is compared with.
    test : str
        Of "beats" over all data sets: Wilcoxon's signed ranks, or the sign test.
    source : str
        Where the source makes it.
    reading : str
        Assumptions that make it a statement about numbers.
    id : str
        A short name.
    """

    study: str
    text: str
    relation: DataRelation
    learners: list[str] = field(default_factory=list)
    against: list[str] = field(default_factory=list)
    rival: str = ""
    datasets: list[str] = field(default_factory=list)
    measure: str = ""
    other_measure: str = ""
    value: float = 0.0
    test: AcrossTest = "wilcoxon"
    source: str = ""
    reading: str = ""
    id: str = ""
