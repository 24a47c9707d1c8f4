"""The page of a list with studies of data sets: statements, verdicts, printed values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simstudy.analysis.claims import StatementVerdict
from simstudy.analysis.published import Agreement
from simstudy.report.prose import claims
from simstudy.report.prose.published import summary
from simstudy.report.tables.comparison import statements
from simstudy.report.tables.published import published_tables
from simstudy.report.templating import render
from simstudy.results.results import Results
from simstudy.study.claims import Claim
from simstudy.study.data_claims import DataClaim
from simstudy.study.published import Published


def statement_page(
    studies: Mapping[str, Results],
    verdicts: Sequence[StatementVerdict],
    printed: Sequence[tuple[Published, Agreement]] = (),
    *,
    title: str,
    citation: str = "",
    note: str = "",
) -> str:
    """Write the page as HTML.

    Parameters
    ----------
    studies
        The results by the names of the studies, in directories of these names beside the page.
    verdicts
        On statements about them.
    printed
        Printed values, and how ours agree with them.
    title, citation, note
        Of the page, where the statements are from, and remarks.
    """

    def unit(claim: Claim | DataClaim) -> str:
        known = studies.get(claim.study)
        return known.info(claim.measure or None).unit if known else ""

    groups = [
        (name, studies[name], [one for one in verdicts if one.statement.study == name])
        for name in studies
    ]
    return render(
        "statements.html",
        manifest=next(iter(studies.values())).manifest,
        title=title,
        citation=citation,
        note=note,
        found=claims.counts(verdicts),
        failed=claims.not_reproduced(verdicts),
        studies=[
            {
                "name": name,
                "title": results.study.title or name,
                "counts": claims.counts(own) if own else "",
                "page": (results.directory / "report.html").exists(),
            }
            for name, results, own in groups
        ],
        statements=statements(verdicts, unit) if verdicts else None,
        published=[
            {
                "title": f"{one.source}: {one.study}",
                "sentences": summary(one, found),
                "tables": published_tables(one, found),
            }
            for one, found in printed
        ],
    )
