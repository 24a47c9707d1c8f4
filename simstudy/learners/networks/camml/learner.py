"""CaMML: Bayesian networks by minimum message length.

Wallace, Korb & Dai (1996), the fourth learner of Hope & Korb (2004); exact summation where the
original samples.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from simstudy.arrays import FloatArray, IntArray
from simstudy.data.sample import Sample
from simstudy.learners.base import Generative, Learner, Limits, require, require_choices
from simstudy.learners.networks.camml import equivalence
from simstudy.learners.networks.camml.averaging import Mixture, ModelAverage
from simstudy.learners.networks.camml.costs import MAX_CELLS
from simstudy.learners.networks.camml.exact import ExactPosterior
from simstudy.learners.networks.estimated import ALPHA, EstimatedNetwork, FamilyTables
from simstudy.networks.elimination import members
from simstudy.networks.network import Network, variable_names
from simstudy.texts import arc_text, counted

if TYPE_CHECKING:
    import pandas as pd
    from pgmpy.models import DiscreteBayesianNetwork

    from simstudy.learners.networks.camml.sampling import SampledPosterior

    Posterior: TypeAlias = ExactPosterior | SampledPosterior

# Maximum number of variables for the exact posterior, by default and at all.
EXACT_BY_DEFAULT, MAX_EXACT = 10, 12
# A set of variables is a signed 64-bit mask.
MAX_SAMPLED = 62
# Components of a mixture below this probability are skipped.
_MIN_COMPONENT = 1e-6
# Warn if the DAGs that form the classes hold less of the posterior than this.
_MIN_LISTED = 0.5


@dataclass(frozen=True)
class CaMML(Learner):
    """CaMML: Bayesian networks by minimum message length (Wallace, Korb & Dai 1996).

    Parameters
    ----------
    select : {"mmlec", "map", "sec", "average", "sec_average"}
        The predictor: the representative of the best MML equivalence class (CaMML as published);
        the totally ordered model of minimum cost; the most probable DAG of the most probable
        statistical equivalence class; the full Bayesian average over totally ordered models; or a
        mixture of the most probable DAGs of the listed statistical classes by posterior.
    search : {"auto", "exact", "sample"}
        Exact summation over all models (up to 12 variables), sampling as in the original, or
        ("auto") exact up to 10 variables and sampled beyond.
    arithmetic : {"stable", "program"}
        How "mmlec" computes the gains of joining equivalence classes: in logarithms, or as
        differences of r ln r in double precision, as in the public program. There, r may span so
        many orders of magnitude that rounding decides which classes are joined.

    Notes
    -----
    The sum of the row weights is N: scale the weights of a population accordingly.

    References
    ----------
    C. S. Wallace, K. B. Korb & H. Dai (1996). Causal discovery via MML. ICML-96.
    """

    select: Literal["mmlec", "map", "sec", "average", "sec_average"] = "mmlec"
    search: Literal["auto", "exact", "sample"] = "auto"
    arithmetic: Literal["stable", "program"] = "stable"

    def __post_init__(self) -> None:
        require_choices(self)

    def check_design(self, variables: Limits, values: Limits, sizes: Sequence[int]) -> None:
        """Refuse more variables or values than `fit` allows, and sampling without numba."""
        number = variables[1]
        if values[1] > MAX_CELLS:
            raise ValueError(f"a variable has {values[1]} values; at most {MAX_CELLS} are allowed")
        samples = self._samples(number)
        limit = MAX_SAMPLED if samples else MAX_EXACT
        remedy = f"at most {limit} are allowed" if samples else "use 'auto' or 'sample'"
        allowed = f"{number} variables are too many; {remedy}"
        require(number <= limit, "search", self.search, allowed)
        if samples and find_spec("numba") is None:
            text = f"with {number} variables and search = '{self.search}' the posterior is sampled"
            raise ValueError(f"{text}, which needs numba: pip install 'simstudy[sampling]'")

    def warm_up(self) -> None:
        """Compile or load the sampler, so that this is not timed as part of a fit."""
        if self.search != "exact" and find_spec("numba") is not None:
            rows = np.arange(16)[:, None] // np.array([1, 2, 4, 8]) % 2
            CaMML(search="sample").fit(Sample(rows, (2, 2, 2, 2)), np.random.default_rng(0))

    def fit(self, sample: Sample, rng: np.random.Generator | None = None) -> FittedCaMML:
        variables = len(sample.cards)
        self.check_design((variables, variables), (0, max(sample.cards)), ())
        if self._samples(variables):
            from simstudy.learners.networks.camml.sampling import SampledPosterior

            sampled = SampledPosterior(sample, rng or np.random.default_rng(0))
            return FittedCaMML(sample, self, sampled)
        return FittedCaMML(sample, self, ExactPosterior(sample))

    def _samples(self, variables: int) -> bool:
        """Whether the posterior over networks with this many variables is sampled."""
        return self.search == "sample" or (self.search == "auto" and variables > EXACT_BY_DEFAULT)


class FittedCaMML(Generative):
    """A fitted CaMML: the posterior over networks, and the network or mixture that predicts.

    Attributes
    ----------
    arc_probability : float
        The arc probability p at its fixed point.
    best_cost : float
        The minimum cost of a totally ordered model, in nits.
    """

    def __init__(self, sample: Sample, learner: CaMML, posterior: Posterior) -> None:
        self.cards = sample.cards
        self.arc_probability, self.best_cost = posterior.arc_probability, posterior.best_cost
        self._sample, self._posterior = sample, posterior
        self._select, self._arithmetic = learner.select, learner.arithmetic
        self._predictor = self._make_predictor()

    @cached_property
    def dag(self) -> tuple[tuple[int, ...], ...]:
        """The parents of each variable in the chosen network.

        For averages, the network of the most probable statistical class.
        """
        return tuple(members(mask) for mask in self._chosen)

    @property
    def arc_posteriors(self) -> FloatArray:
        """``arc_posteriors[u, v]``: the posterior probability of an arc from u to v."""
        return self._posterior.arcs

    def node_cost(self, child: int, parents: Sequence[int]) -> float:
        """Return the message length of a variable given its parents, in nits.

        Infinite for a variable among its own parents, more than 7 parents, and tables of more than
        64,000 cells.
        """
        named = {*map(int, (child, *parents))}
        if not 0 <= min(named) <= max(named) < len(self.cards):
            raise ValueError(f"variables go from 0 to {len(self.cards) - 1}; {named} were named")
        if child in parents:
            return math.inf
        return self._posterior.message(child, sum(1 << int(u) for u in {*parents}))

    @property
    def message(self) -> tuple[float, float] | None:
        """The two parts of the message in nits: the chosen network, and the rows given it.

        The rows are encoded with the network's parameters; the rest of its cost as a totally
        ordered model states the arcs and those parameters. None for averages over networks.
        """
        if not isinstance(self._predictor, Network):
            return None
        parents, p = self.dag, self.arc_probability
        arcs, pairs = sum(map(len, parents)), math.comb(len(parents), 2)
        total = -arcs * math.log(p) - (pairs - arcs) * math.log1p(-p)
        total += sum(self.node_cost(child, parents[child]) for child in range(len(parents)))
        weights = 1.0 if self._sample.weights is None else self._sample.weights
        joint = self._predictor.log_joint(self._sample.attributes)
        logs = joint[np.arange(len(joint)), self._sample.target]
        data = -float(np.where(np.asarray(weights) > 0, logs * weights, 0.0).sum())
        return total - data, data

    def log_joint(self, codes: IntArray) -> FloatArray:
        return self._predictor.log_joint(codes)

    def _facts(self) -> list[str]:
        shape = super()._facts()
        if isinstance(self._predictor, Mixture):
            return [*shape, f"{self._select} of {counted(len(self._predictor), 'network')}"]
        if isinstance(self._predictor, ModelAverage):
            return [*shape, "average over all networks"]
        quality = f"{self.best_cost:.1f} nits"
        if self._select != "map":
            best = self.mml_classes[0] if self._select == "mmlec" else self.statistical_classes[0]
            quality = f"posterior {best.posterior:.2g}"
        return [*shape, quality, arc_text(self.dag, variable_names(len(self.cards)))]

    def joint_grid(self) -> FloatArray:
        if isinstance(self._predictor, Network):
            return self._predictor.joint_grid()
        return super().joint_grid()

    @cached_property
    def statistical_classes(self) -> list[equivalence.StatisticalClass]:
        """The statistical equivalence classes (SECs), the most probable first."""
        dags, mass = self._posterior.clean_dags
        if mass.sum() < _MIN_LISTED:
            text = f"the {len(mass)} DAGs listed hold only {mass.sum():.1%} of the posterior, "
            text += "which is too little for reliable equivalence classes; select = 'average' or "
            warnings.warn(f"{text}'map' does not depend on them", stacklevel=6)
        return equivalence.statistical_classes(dags, mass, self._posterior.likelihood)

    @cached_property
    def mml_classes(self) -> list[equivalence.MMLClass]:
        """The MML equivalence classes (MMLECs), the most probable first."""
        families = FamilyTables(self._sample, ALPHA)  # which they share
        network = partial(EstimatedNetwork, self._sample, families=families)
        classes, rows = self.statistical_classes, self._sample.total
        return equivalence.mml_classes(classes, network, rows, self._arithmetic)

    @property
    def listed_posterior(self) -> float:
        """Total posterior probability of the DAGs that form the equivalence classes.

        The remaining DAGs are too many or too improbable to be listed.
        """
        return float(self._posterior.clean_dags[1].sum())

    def sec_table(self) -> pd.DataFrame:
        """Return the statistical equivalence classes and their MML classes as a table.

        One row per class, the most probable first: its posterior, that of its most probable DAG,
        the number of DAGs found, that DAG's arcs, the MML class (numbered from 0; −1 for a class
        too improbable to be considered) and the parents, by variable.
        """
        import pandas as pd

        joined = {id(c): i for i, whole in enumerate(self.mml_classes) for c in whole.members}
        classes = self.statistical_classes
        shown = ["posterior", "dag_posterior", "dags", "arcs"]
        columns = {name: [getattr(c, name) for c in classes] for name in shown}
        columns["mmlec"] = [joined.get(id(c), -1) for c in classes]
        columns["parents"] = [tuple(map(members, c.parents)) for c in classes]
        return pd.DataFrame(columns)

    def to_pgmpy(self, names: Sequence[str] | None = None) -> DiscreteBayesianNetwork:
        """Return the chosen network for pgmpy; default names are x0, x1, … and y."""
        return EstimatedNetwork(self._sample, self._chosen).to_pgmpy(names)

    @cached_property
    def _chosen(self) -> tuple[int, ...]:
        if self._select == "mmlec":
            return self.mml_classes[0].representative.parents
        if self._select == "map":
            return tuple(self._posterior.best_parents)
        return self.statistical_classes[0].parents

    def _make_predictor(self) -> Network | Mixture | ModelAverage:
        if self._select == "average" and isinstance(self._posterior, ExactPosterior):
            return ModelAverage(self._sample, self._posterior)
        if self._select == "average":
            dags, mass = (array.tolist() for array in self._posterior.clean_dags)
            components = [*zip(dags, mass, strict=True)]
        elif self._select == "sec_average":
            components = [(c.parents, c.posterior) for c in self.statistical_classes]
        else:
            return EstimatedNetwork(self._sample, self._chosen)
        kept = [component for component in components if component[1] >= _MIN_COMPONENT]
        networks = [EstimatedNetwork(self._sample, parents) for parents, _ in kept]
        return Mixture(networks, [mass for _, mass in kept])
