"""The tables, figures and the page that a study leaves beside its scores."""

from __future__ import annotations

from simstudy.report.figures import kept_figures
from simstudy.report.names import PAGE
from simstudy.report.page import report_page
from simstudy.results.results import Results
from simstudy.results.store import Store
from simstudy.texts import as_csv


def write_report(results: Results, store: Store) -> None:
    """Write the tables of all measures, the figures of the primary one, and the page."""
    results.check_files()  # here, where what is damaged is an error and not a remark on a page
    tables = results.study.page.files(results)
    files = {name: as_csv(table).encode() for name, table in tables.items()}
    files |= kept_figures(results)
    files[PAGE] = report_page(results).encode()
    store.drop_report()  # which may have had other files
    for name, content in files.items():
        store.folder.write(name, content)
    store.record_report([*files])
