"""Labels print as they are, whatever words they have, in every kind of study.

A study is run twice: with labels of ordinary words, which stand in sentences too, and with labels
of the same lengths that do not. Whatever is written must be the same but for the labels.
"""

import codecs
import io
import re

import pytest

from simstudy import make_study, run_study
from simstudy.experiments import experiment, names
from simstudy.report.files import ENDINGS, write_figures, write_methods, write_tables
from simstudy.report.terminal import _Console, print_summary
from simstudy.workflow.compare import compare_studies
from tests.report.packed import files, unpacked

pytestmark = pytest.mark.slow

WORDS = ["leave a learner out", "Base learners", "size", "model", "training rows"]
# Labels of measures have no spaces, nor are they columns of all scores.
COLUMNS = ["leave-a-learner-out", "Base-learners", "sizes", "models", "training-rows"]
TREATMENTS = {
    "learners": ["naive_bayes", "tan", "prior", "one_r", "aode"],
    "measures": ["accuracy", "log_loss", "auc", "information_reward", "rmse"],
    "estimators": [
        "resubstitution",
        *(("cross_validation", {"folds": folds}) for folds in (2, 3, 4)),
        ("bootstrap_632", {"repeats": 4}),
    ],
    "tests": [
        "mcnemar",
        "five_by_two_t",
        *(("resampled_t", {"repeats": repeats}) for repeats in (3, 4, 5)),
    ],
}
DATA = {
    "learners": {"train_sizes": [10, 40], "test_size": "exact"},
    "measures": {"train_sizes": [30], "test_sizes": [10, 40], "repeats": 3},
    "estimators": {"train_sizes": [12, 30], "training_sets": 3},
    "tests": {"train_sizes": [30, 60], "repeats": 3},
}
FAILING = """
from dataclasses import dataclass
from simstudy import Learner, register_learner
from simstudy.learners import TAN

@register_learner("fails_for_labels")
@dataclass(frozen=True)
class Sometimes(Learner):
    def fit(self, sample, rng=None):
        if sample.codes[0].sum() % 5 == 0:
            raise RuntimeError("not these rows")
        return TAN().fit(sample, rng)
"""
LEARNER_WORDS = re.compile(r".*\b(?:learners?|training (?:rows?|sizes?))\b.*", re.IGNORECASE)


def unlike_words(label):
    """A label of the same length that has no word of a sentence, but for articles."""
    return re.sub(r"\w{2,}", lambda word: codecs.encode(word[0], "rot13"), label)


def made(kind, labels, plugin=""):
    """The study of a kind with some labels; with a plugin, one of its learners fails at times."""

    def specs(names, labels):
        pairs = zip(names, labels, strict=True)
        given = [(one if isinstance(one, tuple) else (one, {}), label) for one, label in pairs]
        return [{"name": name, "label": label, **more} for (name, more), label in given]

    study = {"name": "words", "seed": 2, "models": 4, "data": DATA[kind]}
    study |= {"family": {"name": "tan", "variables": [4, 4]}, "plugins": [plugin] * bool(plugin)}
    learners = specs(["fails_for_labels" if plugin else "tan", "prior"], ["first", "second"])
    study["learners"] = learners[:1] if kind == "estimators" else learners
    study["measures"] = {"primary": "accuracy"}
    treatments = specs(TREATMENTS[kind], labels)
    if kind == "measures":
        first, *others = treatments
        study["measures"] = {"primary": first, "also": others, "targets": ["kl_divergence"]}
    else:
        study[kind] = treatments
    return make_study(study | ({} if kind == "learners" else {"compare": kind}))


def written(results, directory):
    """Everything that is written for a study, by name."""
    page = (results.directory / "report.html").read_text(encoding="utf-8")
    texts = {
        f"page {name}": text
        for name, text in files(page).items()
        if name not in ("seconds.csv", "versions.csv")
    }
    page = unpacked(page)
    page = re.sub(r'<section id="cost">.*?</section>', "", page, flags=re.DOTALL)  # has times
    page = page.replace(results.manifest["fingerprint"], "")
    texts["page"] = re.sub(r"\b[\d,]+ s\b", "", page)
    for details in (False, True):
        buffer = io.StringIO()
        print_summary(results, _Console(emoji=False, file=buffer, width=120), details)
        texts[f"terminal, details {details}"] = buffer.getvalue().replace(
            str(results.directory), ""
        )
    for format in ENDINGS:
        for path in write_tables(results, directory / format, format):
            texts[f"{format} {path.name}"] = path.read_text(encoding="utf-8")
        if format != "csv":
            for path in write_methods(results, directory / f"methods in {format}", format):
                texts[f"{format} {path.name}"] = path.read_text(encoding="utf-8")
    drawn, skipped = write_figures(results, directory / "figures", "svg")
    texts["skipped"] = "\n".join(skipped)
    for path in drawn:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".svg":  # whose comments have its texts
            text = "\n".join(re.findall("<!-- (.*?) -->", text, flags=re.DOTALL))
        texts[f"figure {path.name}"] = text
    for variants in (False, True):
        page = compare_studies([results, results], ["first", "second"], variants=variants)
        texts[f"comparison, variants {variants}"] = unpacked(page)
    return texts


@pytest.fixture(scope="module", params=names())
def pair(request, tmp_path_factory):
    """A kind, and what is written with labels of ordinary words, and with others."""
    directory, texts = tmp_path_factory.mktemp(request.param), []
    words = COLUMNS if request.param == "measures" else WORDS
    plugin = ""
    if request.param in ("measures", "estimators"):  # in which a cell may fail
        plugin = str(directory / "fails_for_labels.py")
        (directory / "fails_for_labels.py").write_text(FAILING, encoding="utf-8")
    for number, labels in enumerate((words, [*map(unlike_words, words)])):
        study = made(request.param, labels, plugin)
        results = run_study(study, directory / f"words{number}" / "out", jobs=1)
        assert results.treatments == labels
        texts.append(written(results, directory / f"words{number}"))
    return request.param, *texts


def test_labels_of_ordinary_words_print_as_they_are(pair):
    _, with_words, without = pair
    every = re.findall(r"[A-Za-z]{2,}", " ".join(WORDS + COLUMNS))
    words = {unlike_words(word): word for word in every}
    pattern = re.compile("|".join(sorted(words, key=len, reverse=True)))

    def with_labels(text):
        return pattern.sub(lambda found: words[found[0]], text)

    assert [*with_words] == [*without]
    for name, text in without.items():
        assert with_words[name] == with_labels(text), name


def test_sentences_have_the_words_of_the_kind(pair):
    kind, _, texts = pair
    words = experiment(kind)
    kept = ("terminal", "markdown", "skipped", "figure")
    texts = {name: text for name, text in texts.items() if "methods" not in name}  # of learners too
    sentences = "\n".join(text for name, text in texts.items() if name.startswith(kept))
    sentences = re.sub("(?m)^.*reliability: .*$", "", sentences)  # only of learners
    # Captions of tests and of measures say what these compare.
    about = r"(?:copies of a|two|different) learners?\b|the training rows"
    sentences = re.sub(about, "", sentences)
    assert f"by {words.treatment} and {words.dose} rows" in sentences
    assert not re.search(r"\ba (estimator|available)\b|\ban (learner|measure|test)\b", sentences)
    assert f"Differences between {words.name}" in texts["page"]
    if kind != "learners":
        assert not LEARNER_WORDS.findall(sentences)
