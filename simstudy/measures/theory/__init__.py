"""Comparison of measures with each other, over ranked lists and over random answers."""

from simstudy.measures.theory.comparison import Comparison as Comparison
from simstudy.measures.theory.comparison import compare as compare
from simstudy.measures.theory.comparison import count_pairs as count_pairs
from simstudy.measures.theory.comparison import measure_of as measure_of
from simstudy.measures.theory.comparison import select as select
