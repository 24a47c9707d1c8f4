"""Bayesian networks: those of families, of learners and of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.lazy import find

if TYPE_CHECKING:
    from simstudy.networks.bif import read_bif, write_bif
    from simstudy.networks.model import Component, Model
    from simstudy.networks.network import Network
    from simstudy.networks.xmlbif import read_xmlbif, write_xmlbif

_HOMES = {
    "simstudy.networks.bif": ["read_bif", "write_bif"],
    "simstudy.networks.model": ["Component", "Model"],
    "simstudy.networks.network": ["Network"],
    "simstudy.networks.xmlbif": ["read_xmlbif", "write_xmlbif"],
}

__all__ = [
    "Component",
    "Model",
    "Network",
    "read_bif",
    "read_xmlbif",
    "write_bif",
    "write_xmlbif",
]


def __getattr__(name: str) -> object:
    return find(name, __name__, _HOMES)


def __dir__() -> list[str]:
    return __all__
