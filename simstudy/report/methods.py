"""The methods and results of a study in words, to paste into a paper with their references."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from simstudy.components import registry as kinds
from simstudy.components.describe import describe_component
from simstudy.experiments.page import Passage
from simstudy.report.prose.design import SCIKIT, conventions
from simstudy.report.prose.phrases import listed, opening
from simstudy.report.references import bibliography, cited
from simstudy.report.tables.facts import options
from simstudy.report.tables.formats import as_latex, as_markdown, latex_text, markdown_text
from simstudy.report.tables.table import Table, make_table, words
from simstudy.results.read.open import Results
from simstudy.texts import counted

# By ending: how text, a paragraph with its heading and citations are written.
_FORMATS = {
    "tex": (latex_text, r"\paragraph{%s.} %s", r"~\cite{%s}", ","),
    "md": (markdown_text, "**%s.** %s", " [@%s]", "; @"),
}


def documents(results: Results) -> dict[str, str]:
    """Return methods and results as LaTeX and Markdown, and their bibliography, by ending."""
    results = results.shown
    study, methods = results.study, [*_methods(results)]
    found: list[Passage] = [(text, []) for text in study.page.results(results)]
    entries = bibliography(text for _, references in methods for text in references)
    made = {"bib": "\n\n".join(entry.bibtex for entry in entries) + "\n"}
    for ending, (escape, paragraph, cite, comma) in _FORMATS.items():
        parts = []
        for name, passages in (("Methods", methods), ("Results", found)):
            texts = []
            for text, references in passages:
                keys = comma.join(entry.key for entry in bibliography(references))
                texts.append(f"{escape(text.removesuffix('.'))}{cite % keys if keys else ''}.")
            parts.append(paragraph % (name, " ".join(texts)))
        made[ending] = "\n\n".join(parts)
    table, note = _ademp(results), f"{opening(conventions(study))}."
    made["tex"] += "\n\n" + as_latex(table, note, f"tab:{study.name}-ademp")
    made["md"] += "\n\n" + as_markdown(table, note)
    return made


def _ademp(results: Results) -> Table:
    """The design as aims, data-generating mechanism, estimands, methods, performance measures."""
    study, page, score = results.study, results.study.page, f"{opening(results.info().label)}."
    rows = {
        "Aims": page.aims(study),
        "Data-generating mechanism": " ".join(text for text, _ in page.mechanism(results)),
        "Estimands": page.estimands(study, results.info()),
        "Methods": f"{opening(study.compare)}: {listed(study.labels, most=len(study.labels))}.",
        "Performance measures": " ".join([score, *(text for text, _ in page.analysis(results))]),
    }
    lines = [[words(name), words(text)] for name, text in rows.items()]
    return make_table("ademp", f"{study.heading}: the design", ["", "design"], lines)


def _methods(results: Results) -> Iterator[Passage]:
    """What was done, from the aim to the software."""
    study, page, manifest = results.study, results.study.page, results.manifest
    aims, measures = page.aims(study), {each.label: each for each in study.measured}
    yield f"The aim was {aims[0].lower()}{aims[1:]}", ["ademp"]
    yield from page.mechanism(results)
    measures |= {target.label: target for target in study.targets}
    components: dict[kinds.AnyRegistry, Sequence[kinds.Spec]]
    components = {kinds.LEARNERS: study.learners, kinds.ESTIMATORS: study.estimators}
    components |= {kinds.TESTS: study.tests, kinds.MEASURES: [*measures.values()]}
    if any(":" in spec.name and not spec.name.startswith("pgmpy:") for spec in study.learners):
        yield SCIKIT, []
    for registry, specs in components.items():
        for spec in specs:
            text, references = _component(results, registry, spec), cited(registry, [spec])
            # What is cited needs no reference in words.
            yield re.sub(r" \([^()]*\b\d{4}\)", "", text) if references else text, references
    letters = "; n: size of the training set, k: number of classes" * (
        study.measures.cutoff != "none"
    )
    yield f"The primary score is {results.info().label}; {conventions(study)}{letters}", []
    yield f"Estimands: {page.estimands(study, results.info())}", []
    yield from page.analysis(results)
    failed, cells = manifest["failures"], counted(manifest["cells"], "cell")
    lost = f"{failed:,} of {cells} failed and have no score; {page.consequence(study)}"
    yield lost if failed else f"None of {cells} failed", []
    packages = [f"{name} {version}" for name, version in manifest["packages"].items()]
    made = listed([*packages, f"Python {manifest['python']}"], most=len(packages))
    yield f"Software: {made}, on {manifest['platform']}", ["simstudy"]


def _component(results: Results, registry: kinds.AnyRegistry, spec: kinds.Spec) -> str:
    """What a component is, with its parameters and, if it is third-party, its version."""
    about = results.about(registry.kind, spec.name)
    if not about and registry.is_own(spec.name):
        about = describe_component(registry, spec.name).summary
    if ":" in spec.name and registry is kinds.MEASURES:
        about = "the first measure, and where it ties the second"
    name, _, rest = about.partition(": ")
    about = rest if name.lower() == spec.label.lower().replace("_", " ") else about
    version = results.manifest["conditions"]["source"].get(spec.name, "")[:12]
    stated = ", ".join(f"{key} = {value}" for key, value in (spec.stated_preparation or {}).items())
    more = [f"version {version}" * bool(version), options(spec)]
    more = [spec.name * (spec.name != spec.label), *more, f"prepared with {stated}" * bool(stated)]
    text = f"{opening(registry.kind)} {spec.label}: {about.removesuffix('.') or 'third-party'}"
    return text + f" ({'; '.join(filter(None, more))})" * any(more)
