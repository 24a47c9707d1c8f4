import itertools
import logging
import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.formula.api import mixedlm

from simstudy.analysis.tests.anova import anova
from simstudy.analysis.tests.mixed_model import fit_mixed_model

SHAPE = (12, 3, 3)
COMPONENTS = ["model", "model:learner", "model:size", "residual"]


@pytest.fixture(autouse=True)
def _no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def long_table(values, factors=("learner", "size")):
    """Turn subjects × levels × … into a long table without rows for NaN."""
    axes = [range(length) for length in values.shape]
    table = pd.DataFrame(list(itertools.product(*axes)), columns=["model", *factors])
    return table.assign(information_reward=values.ravel()).dropna()


def draw(rng, shape=SHAPE, sd=(1.0, 0.6, 0.5, 0.7), missing=0.0):
    """Draw models × learners × sizes from the mixed model, without any fixed effect."""
    models, learners, sizes = shape
    values = sd[0] * rng.normal(size=(models, 1, 1)) + sd[1] * rng.normal(
        size=(models, learners, 1)
    )
    values = values + sd[2] * rng.normal(size=(models, 1, sizes)) + sd[3] * rng.normal(size=shape)
    values[rng.random(shape) < missing] = np.nan
    return values


@pytest.fixture
def unbalanced():
    """12 models, 3 learners, 3 sizes, 19 of 108 cells missing; all components above 0."""
    table = long_table(draw(np.random.default_rng(4), missing=0.2))
    result = fit_mixed_model(table)
    assert result.missing == 108 - len(table) > 10
    assert min(result.components.values()) > 0
    return table


class Dense:
    """The same model written out over all values at once, by the textbook."""

    def __init__(self, table):
        model, learner, size = (table[name].to_numpy() for name in ("model", "learner", "size"))
        alike = [np.equal.outer(codes, codes) for codes in (model, learner, size)]
        one = alike[0]
        self.structures = np.array([one, one & alike[1], one & alike[2], one & alike[1] & alike[2]])
        self.structures = self.structures.astype(float)
        self.design = np.equal.outer(learner * 3 + size, np.arange(9)).astype(float)
        self.values = table["information_reward"].to_numpy()

    def gls(self, variances):
        """Return the cell means, their covariance and V⁻¹."""
        inverse = np.linalg.inv(np.tensordot(variances, self.structures, 1))
        covariance = np.linalg.inv(self.design.T @ inverse @ self.design)
        return covariance @ self.design.T @ inverse @ self.values, covariance, inverse

    def log_likelihood(self, variances):
        mean, covariance, inverse = self.gls(variances)
        rest = self.values - self.design @ mean
        free = len(rest) - len(mean)
        determinants = np.linalg.slogdet(covariance)[1] + np.linalg.slogdet(inverse)[1]
        return -(free * np.log(2 * np.pi) - determinants + rest @ inverse @ rest) / 2

    def satterthwaite(self, variances, contrast):
        """By numerical derivatives of the variance, and tr(PAPA')/2 from the whole matrices."""
        _, covariance, inverse = self.gls(variances)
        projected = inverse - inverse @ self.design @ covariance @ self.design.T @ inverse
        turned = projected @ self.structures
        information = np.einsum("kij,lji->kl", turned, turned) / 2
        slopes = []
        for step in np.diag(1e-5 * variances):
            ends = [self.gls(variances + sign * step)[1] for sign in (1, -1)]
            slopes.append(contrast @ (ends[0] - ends[1]) @ contrast / (2 * step.sum()))
        spread = np.array(slopes) @ np.linalg.solve(information, slopes)
        return 2 * (contrast @ covariance @ contrast) ** 2 / spread


def variances_of(result):
    assert list(result.components) == COMPONENTS
    return np.array(list(result.components.values()))


def test_a_complete_table_gives_the_uncorrected_tests_of_r(reference):
    fit = fit_mixed_model(reference.table, "subject", reference.within, "reward")
    result = fit.table
    assert list(result.columns) == ["effect", "df1", "df2", "F", "p"]
    assert list(result["effect"]) == list(reference.r["anova"])
    for row in result.to_dict("records"):
        expected = reference.r["anova"][row["effect"]]
        for column in ("df1", "df2", "F"):
            assert row[column] == pytest.approx(expected[column], rel=1e-9, abs=0)
        assert row["p"] == pytest.approx(expected["p"], rel=1e-8, abs=0)
    assert fit.subjects == reference.r["subjects"]
    assert fit.cells == len(reference.table)
    assert (fit.missing, fit.note, fit.left_out) == (0, "", [])
    assert fit.converged


def test_components_follow_from_the_mean_squares(table_a):
    # E(MS) of the strata: residual; + 3 of learner; + 4 of size; + 3, 4 and 12 of the subject.
    effects = anova(table_a, "subject", value="reward").table.set_index("effect")
    mean_squares = effects["ss_error"] / effects["df2"]
    residual = mean_squares["learner:size"]
    by_subject = table_a.groupby("subject")["reward"].mean()
    subjects = 12 * by_subject.var()
    found = fit_mixed_model(table_a, "subject", value="reward").components
    assert found["residual"] == pytest.approx(residual)
    assert found["subject:learner"] == pytest.approx((mean_squares["learner"] - residual) / 3)
    assert found["subject:size"] == pytest.approx((mean_squares["size"] - residual) / 4)
    rest = subjects - mean_squares["learner"] - mean_squares["size"] + residual
    assert found["subject"] == pytest.approx(rest / 12)


def test_effects_agree_with_generalized_least_squares(unbalanced):
    fit = fit_mixed_model(unbalanced)
    result = fit.table.set_index("effect")
    dense = Dense(unbalanced)
    variances = variances_of(fit)
    mean, covariance, _ = dense.gls(variances)
    differences, average = np.diff(np.eye(3), axis=0), np.full((1, 3), 1 / 3)
    effects = {
        "learner": np.kron(differences, average),
        "size": np.kron(average, differences),
        "learner:size": np.kron(differences, differences),
    }
    for effect, contrasts in effects.items():
        found = result.loc[effect]
        gaps = contrasts @ mean
        chi2 = gaps @ np.linalg.solve(contrasts @ covariance @ contrasts.T, gaps)
        assert found["F"] == pytest.approx(chi2 / found["df1"], rel=1e-9)
        basis = np.linalg.qr(contrasts.T)[0].T
        axes = np.linalg.eigh(basis @ covariance @ basis.T)[1].T @ basis
        df = [dense.satterthwaite(variances, axis) for axis in axes]
        assert min(df) - 1e-3 < found["df2"] < max(df) + 1e-3
        shares = sum(each / (each - 2) for each in df)  # E of the t² together
        assert found["df2"] == pytest.approx(2 * shares / (shares - len(df)), rel=1e-5)
        assert found["p"] == pytest.approx(stats.f.sf(found["F"], found["df1"], found["df2"]))


def test_the_restricted_likelihood_is_at_its_maximum(unbalanced):
    result = fit_mixed_model(unbalanced)
    dense = Dense(unbalanced)
    variances = variances_of(result)
    top = dense.log_likelihood(variances)
    assert result.log_likelihood == pytest.approx(top, rel=1e-10)
    for step in np.diag(variances):
        ends = [dense.log_likelihood(variances + sign * 1e-3 * step) for sign in (1, -1)]
        assert max(ends) < top
        assert abs(ends[0] - ends[1]) < 1e-5 * (2 * top - sum(ends)) + 1e-7


def test_the_fit_agrees_with_statsmodels(unbalanced):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "may be on the boundary": of any variance below 0.01
        random = {"learner": "0 + C(learner)", "size": "0 + C(size)"}
        formula = "information_reward ~ 0 + C(size):C(learner)"
        options = {"groups": "model", "re_formula": "1", "vc_formula": random}
        model = mixedlm(formula, unbalanced, **options)
        theirs = model.fit(reml=True)
    ours = fit_mixed_model(unbalanced)
    assert theirs.llf == pytest.approx(ours.log_likelihood, rel=1e-9)
    found = [theirs.cov_re.iloc[0, 0], *theirs.vcomp, theirs.scale]
    np.testing.assert_allclose(variances_of(ours), found, rtol=1e-3)


def test_one_learner_per_model_is_a_one_way_analysis_of_variance():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(30, 3))
    values[np.arange(30)[:, None] % 3 != np.arange(3)] = np.nan
    result = fit_mixed_model(long_table(values, ("learner",)), factors=["learner"])
    F, p = stats.f_oneway(*(values[place::3, place] for place in range(3)))
    (row,) = result.table.to_dict("records")
    assert (row["df1"], row["df2"]) == (2, pytest.approx(27))
    assert row["F"] == pytest.approx(F)
    assert row["p"] == pytest.approx(p)
    assert "the variance of model is omitted" in result.note


def test_a_component_at_0_pools_its_error_with_the_residual():
    values = draw(np.random.default_rng(1), (14, 3, 3), (1.0, 0.0, 0.8, 1.0))
    table = long_table(values)
    result = fit_mixed_model(table)
    assert result.note == "the variance of model:learner is estimated at 0"
    assert result.components["model:learner"] == 0
    assert result.converged
    effects = anova(table).table.set_index("effect")
    pooled = effects.loc[["learner", "learner:size"]]
    assert effects["ss_error"]["learner"] / 26 < effects["ss_error"]["learner:size"] / 52
    found = result.table.set_index("effect").loc["learner"]
    assert found["df2"] == pytest.approx(78)
    mean_square = pooled["ss_error"].sum() / 78
    assert found["F"] == pytest.approx(effects["ss"]["learner"] / 2 / mean_square)


@settings(deadline=None, max_examples=10)
@given(seed=st.integers(0, 10**6), unit=st.floats(1e-6, 1e6), shift=st.floats(-10, 10))
def test_neither_unit_nor_origin_nor_order_of_the_rows_matters(seed, unit, shift):
    table = long_table(draw(np.random.default_rng(seed), (15, 2, 3), missing=0.1))
    plain = fit_mixed_model(table).table
    moved = table.assign(information_reward=unit * (table["information_reward"] + shift))
    moved = fit_mixed_model(moved.sample(frac=1, random_state=seed)).table
    columns = ["df1", "df2", "F", "p"]
    np.testing.assert_allclose(moved[columns], plain[columns], rtol=1e-5, atol=1e-9)


def test_the_cells_that_failed_are_named(table_a, caplog):
    table = table_a.assign(status="ok")
    table.loc[(table["subject"] == "m03") & (table["learner"] == "tree"), "reward"] = np.nan
    table.loc[table["subject"] == "m05", "reward"] = np.nan
    table.loc[5, ["reward", "status"]] = [np.nan, "error"]  # m01, tree, 1000
    with caplog.at_level(logging.WARNING, logger="simstudy.analysis"):
        result = fit_mixed_model(table, "subject", value="reward")
    assert (result.subjects, result.missing) == (39, 16)
    assert result.cells == 464
    assert [entry.subject for entry in result.left_out] == ["m01", "m03", "m05"]
    assert result.left_out[0].reason.endswith("learner tree, size 1,000 (error)")
    (record,) = caplog.records
    assert record.getMessage().startswith("in the mixed model without some of their cells: 3 of 40")
    # The few cells lost change little.
    whole = fit_mixed_model(table_a, "subject", value="reward").table
    np.testing.assert_allclose(result.table["F"], whole["F"], rtol=0.1)


def test_an_infinite_value_is_left_out_and_noted(unbalanced):
    table = unbalanced.copy()
    table.iloc[[0, 7], 3] = -np.inf
    result = fit_mixed_model(table)
    note = "2 infinite values were omitted, which biases the means of these cells"
    assert result.note == note
    without = fit_mixed_model(unbalanced.drop(unbalanced.index[[0, 7]])).table
    np.testing.assert_allclose(result.table["F"], without["F"])
    assert "(infinite)" in result.left_out[0].reason


def test_values_without_spread_leave_nothing_to_test():
    same = fit_mixed_model(long_table(np.full((5, 3, 2), 0.1)))
    assert same.table[["df2", "F", "p"]].isna().all(axis=None)
    assert same.note.startswith("all subjects have the same values")


def test_a_sum_of_model_and_cell_has_no_residual():
    models = np.array([0.13, 0.57, 0.91, 0.4])[:, None, None]
    result = fit_mixed_model(long_table(models + np.array([[0.0, 0.2], [0.1, 0.4]])))
    assert result.table[["df2", "F", "p"]].isna().all(axis=None)
    assert "the residual variance is estimated at 0" in result.note
    assert result.components["residual"] == 0
    assert not result.converged


def test_what_cannot_be_fitted_is_refused_in_a_sentence(scores):
    with pytest.raises(ValueError, match=r"the factor 'size' has one level \(50\); a mixed model"):
        fit_mixed_model(scores[scores["size"] == 50])
    failed = scores.assign(
        information_reward=scores["information_reward"].where(scores["learner"] == "nb")
    )
    with pytest.raises(
        ValueError, match="no model has a finite information reward for learner tan"
    ):
        fit_mixed_model(failed)
    with pytest.raises(
        ValueError, match=r"no model has .* for learner tan, size 50; a mixed model"
    ):
        fit_mixed_model(scores.drop(index=[2, 6, 10]))
    with pytest.raises(ValueError, match=r"no model has .* for any cell"):
        fit_mixed_model(scores.assign(information_reward=np.nan))
    with pytest.raises(ValueError, match="only one model has a finite information reward"):
        fit_mixed_model(scores[scores["model"] == 0])
    with pytest.raises(ValueError, match=r"no cell has a finite .* of more than one model"):
        fit_mixed_model(scores.loc[[0, 1, 2, 7]])
