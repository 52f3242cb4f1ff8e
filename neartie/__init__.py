"""Which orderings on a leaderboard can be believed, and which approximations say so rightly.

The names below are imported when they are first used, so that `import neartie` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neartie.audits.near_tie import audit_near_ties as audit_near_ties
    from neartie.audits.rank_result import ModelRanking as ModelRanking
    from neartie.audits.ranks import rank_models as rank_models
    from neartie.audits.result import NearTieAudit as NearTieAudit
    from neartie.audits.screen import ScreenSettings as ScreenSettings
    from neartie.audits.screen import screen_items as screen_items
    from neartie.audits.screen_result import ItemScreen as ItemScreen
    from neartie.audits.settings import AuditSettings as AuditSettings
    from neartie.data.battle_order import report_positions as report_positions
    from neartie.data.battle_order import resolve_swapped as resolve_swapped
    from neartie.data.battles import Battles as Battles
    from neartie.data.errors import CaveatWarning as CaveatWarning
    from neartie.data.errors import ConvergenceError as ConvergenceError
    from neartie.data.errors import DataError as DataError
    from neartie.data.example import load_example as load_example
    from neartie.data.read import read_responses as read_responses
    from neartie.data.read_battles import read_battles as read_battles
    from neartie.data.responses import Responses as Responses
    from neartie.data.simulate import simulate_leaderboard as simulate_leaderboard
    from neartie.data.summary import describe as describe
    from neartie.inference.bradley_terry import fit_bradley_terry as fit_bradley_terry
    from neartie.inference.bradley_terry_bootstrap import (
        bootstrap_bradley_terry as bootstrap_bradley_terry,
    )
    from neartie.inference.bradley_terry_result import BradleyTerryFit as BradleyTerryFit
    from neartie.report.audit_files import write_audit as write_audit
    from neartie.report.screen_files import write_screen as write_screen

__version__ = "0.1.0"

# Where each public name lives. A new name stands here, in `__all__` and in the imports above.
_HOMES = {
    "AuditSettings": "neartie.audits.settings",
    "Battles": "neartie.data.battles",
    "BradleyTerryFit": "neartie.inference.bradley_terry_result",
    "CaveatWarning": "neartie.data.errors",
    "ConvergenceError": "neartie.data.errors",
    "DataError": "neartie.data.errors",
    "ItemScreen": "neartie.audits.screen_result",
    "ModelRanking": "neartie.audits.rank_result",
    "NearTieAudit": "neartie.audits.result",
    "Responses": "neartie.data.responses",
    "ScreenSettings": "neartie.audits.screen",
    "audit_near_ties": "neartie.audits.near_tie",
    "bootstrap_bradley_terry": "neartie.inference.bradley_terry_bootstrap",
    "describe": "neartie.data.summary",
    "fit_bradley_terry": "neartie.inference.bradley_terry",
    "load_example": "neartie.data.example",
    "rank_models": "neartie.audits.ranks",
    "read_battles": "neartie.data.read_battles",
    "read_responses": "neartie.data.read",
    "report_positions": "neartie.data.battle_order",
    "resolve_swapped": "neartie.data.battle_order",
    "screen_items": "neartie.audits.screen",
    "simulate_leaderboard": "neartie.data.simulate",
    "write_audit": "neartie.report.audit_files",
    "write_screen": "neartie.report.screen_files",
}

__all__ = [
    "AuditSettings",
    "Battles",
    "BradleyTerryFit",
    "CaveatWarning",
    "ConvergenceError",
    "DataError",
    "ItemScreen",
    "ModelRanking",
    "NearTieAudit",
    "Responses",
    "ScreenSettings",
    "__version__",
    "audit_near_ties",
    "bootstrap_bradley_terry",
    "describe",
    "fit_bradley_terry",
    "load_example",
    "rank_models",
    "read_battles",
    "read_responses",
    "report_positions",
    "resolve_swapped",
    "screen_items",
    "simulate_leaderboard",
    "write_audit",
    "write_screen",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'neartie' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
