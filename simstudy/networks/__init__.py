"""Bayesian networks: those of families, of learners and of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import attach

if TYPE_CHECKING:
    from simstudy.networks.bif import read_bif as read_bif
    from simstudy.networks.bif import write_bif as write_bif
    from simstudy.networks.model import Component as Component
    from simstudy.networks.model import Model as Model
    from simstudy.networks.network import Network as Network
    from simstudy.networks.xmlbif import read_xmlbif as read_xmlbif
    from simstudy.networks.xmlbif import write_xmlbif as write_xmlbif
else:
    __getattr__, __dir__ = attach(__name__)
