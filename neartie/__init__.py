"""Which orderings on a leaderboard can be believed, and which approximations say so rightly.

The names below are imported when they are first used, so that `import neartie` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from neartie.audits.attribution import Attribution as Attribution
    from neartie.audits.attribution import attribute_sources as attribute_sources
    from neartie.audits.collection import AuditCollection as AuditCollection
    from neartie.audits.collection import audit_collection as audit_collection
    from neartie.audits.collection import exact_common_models as exact_common_models
    from neartie.audits.collection_checks import CollectionChecks as CollectionChecks
    from neartie.audits.collection_checks import check_collection as check_collection
    from neartie.audits.common_models import compare_common_models as compare_common_models
    from neartie.audits.compare import compare as compare
    from neartie.audits.compare_estimates import compare_estimates as compare_estimates
    from neartie.audits.compare_simulated import simulate_comparison as simulate_comparison
    from neartie.audits.comparison import Comparison as Comparison
    from neartie.audits.comparison_boards import DesignBoards as DesignBoards
    from neartie.audits.comparison_boards import ModelBoards as ModelBoards
    from neartie.audits.comparison_boards import boards_like as boards_like
    from neartie.audits.comparison_settings import ComparisonSettings as ComparisonSettings
    from neartie.audits.confidence import calibrate_confidence as calibrate_confidence
    from neartie.audits.content_analysis import ContentAudit as ContentAudit
    from neartie.audits.content_analysis import analyse_content as analyse_content
    from neartie.audits.content_axes import ContentAxes as ContentAxes
    from neartie.audits.content_families import associate_families as associate_families
    from neartie.audits.content_sample import sample_content as sample_content
    from neartie.audits.content_sheets import read_content_key as read_content_key
    from neartie.audits.content_sheets import read_content_sheets as read_content_sheets
    from neartie.audits.content_sheets import write_content_sheets as write_content_sheets
    from neartie.audits.control_comparison import ControlComparison as ControlComparison
    from neartie.audits.control_comparison import compare_controls as compare_controls
    from neartie.audits.estimates_result import EstimateComparison as EstimateComparison
    from neartie.audits.family_shifts import FamilyShifts as FamilyShifts
    from neartie.audits.family_shifts import shift_families as shift_families
    from neartie.audits.further_checks import CheckChoices as CheckChoices
    from neartie.audits.further_checks import FurtherChecks as FurtherChecks
    from neartie.audits.further_checks import run_checks as run_checks
    from neartie.audits.judge_panel import JudgePanel as JudgePanel
    from neartie.audits.judge_panel import judge_panel as judge_panel
    from neartie.audits.near_tie import audit_near_ties as audit_near_ties
    from neartie.audits.pooled_signs import pool_attributions as pool_attributions
    from neartie.audits.posterior_checks import check_posterior as check_posterior
    from neartie.audits.posterior_checks import check_prior as check_prior
    from neartie.audits.predictive_result import PredictiveChecks as PredictiveChecks
    from neartie.audits.rank_deciders import GapDeciders as GapDeciders
    from neartie.audits.rank_deciders import who_decides as who_decides
    from neartie.audits.rank_needs import what_would_it_take as what_would_it_take
    from neartie.audits.rank_reading import read_scores as read_scores
    from neartie.audits.rank_result import ModelRanking as ModelRanking
    from neartie.audits.ranks import rank_models as rank_models
    from neartie.audits.recovery import Recovery as Recovery
    from neartie.audits.replication import Replication as Replication
    from neartie.audits.replication import replicate_signatures as replicate_signatures
    from neartie.audits.replication_families import FamilyReplication as FamilyReplication
    from neartie.audits.replication_families import (
        replicate_under_permuted_families as replicate_under_permuted_families,
    )
    from neartie.audits.result import NearTieAudit as NearTieAudit
    from neartie.audits.robustness import Robustness as Robustness
    from neartie.audits.robustness import check_robustness as check_robustness
    from neartie.audits.scorecard import make_scorecard as make_scorecard
    from neartie.audits.scorecard_result import Scorecard as Scorecard
    from neartie.audits.scorecard_settings import ScoreSettings as ScoreSettings
    from neartie.audits.screen import ScreenSettings as ScreenSettings
    from neartie.audits.screen import screen_items as screen_items
    from neartie.audits.screen_result import ItemScreen as ItemScreen
    from neartie.audits.settings import AuditSettings as AuditSettings
    from neartie.audits.validation import validate_design as validate_design
    from neartie.audits.validation_result import DesignValidation as DesignValidation
    from neartie.data.battle_order import report_positions as report_positions
    from neartie.data.battle_order import resolve_swapped as resolve_swapped
    from neartie.data.battles import Battles as Battles
    from neartie.data.errors import CaveatWarning as CaveatWarning
    from neartie.data.errors import ConvergenceError as ConvergenceError
    from neartie.data.errors import DataError as DataError
    from neartie.data.example import load_example as load_example
    from neartie.data.read import read_responses as read_responses
    from neartie.data.read_battles import read_battles as read_battles
    from neartie.data.read_score_inputs import read_score_inputs as read_score_inputs
    from neartie.data.responses import Responses as Responses
    from neartie.data.score_inputs import ScoreInputs as ScoreInputs
    from neartie.data.simulate import simulate_leaderboard as simulate_leaderboard
    from neartie.data.summary import describe as describe
    from neartie.inference.alignment import align_loadings as align_loadings
    from neartie.inference.bootstrap_offset import BootstrapOffset as BootstrapOffset
    from neartie.inference.bootstrap_offset import bootstrap_offsets as bootstrap_offsets
    from neartie.inference.bradley_terry import fit_bradley_terry as fit_bradley_terry
    from neartie.inference.bradley_terry_bootstrap import (
        bootstrap_bradley_terry as bootstrap_bradley_terry,
    )
    from neartie.inference.bradley_terry_result import BradleyTerryFit as BradleyTerryFit
    from neartie.inference.calibration import calibrate as calibrate
    from neartie.inference.calibration_result import Calibration as Calibration
    from neartie.inference.compare_loo import compare_models as compare_models
    from neartie.inference.diagnostics import diagnostics as diagnostics
    from neartie.inference.fit import fit as fit
    from neartie.inference.log_likelihood import add_log_likelihood as add_log_likelihood
    from neartie.inference.mirt_dif_map import fit_mirt_dif_map as fit_mirt_dif_map
    from neartie.inference.mirt_dif_result import MirtDifFit as MirtDifFit
    from neartie.inference.mirt_laplace_draws import MirtLaplaceDraws as MirtLaplaceDraws
    from neartie.inference.mirt_laplace_draws import draw_around_mode as draw_around_mode
    from neartie.inference.mirt_laplace_draws import draw_mirt_laplace as draw_mirt_laplace
    from neartie.inference.mirt_scales import MirtDifScales as MirtDifScales
    from neartie.inference.posterior_file import read_posterior as read_posterior
    from neartie.inference.posterior_file import write_posterior as write_posterior
    from neartie.inference.residual_dif_bootstrap import (
        ResidualDifBootstrap as ResidualDifBootstrap,
    )
    from neartie.inference.residual_dif_bootstrap import (
        draw_residual_dif_bootstrap as draw_residual_dif_bootstrap,
    )
    from neartie.inference.residual_dif_draws import ResidualDifDraws as ResidualDifDraws
    from neartie.inference.residual_dif_draws import draw_residual_dif as draw_residual_dif
    from neartie.inference.score_models import ScoredModels as ScoredModels
    from neartie.inference.score_models import score_models as score_models
    from neartie.inference.two_pl_map import fit_two_pl_map as fit_two_pl_map
    from neartie.inference.two_pl_result import TwoPLFit as TwoPLFit
    from neartie.models.bradley_terry_model import build_bradley_terry as build_bradley_terry
    from neartie.models.bradley_terry_priors import BradleyTerryPriors as BradleyTerryPriors
    from neartie.models.mirt_dif import build_mirt_dif as build_mirt_dif
    from neartie.models.prior_only import prior_only as prior_only
    from neartie.models.priors import MirtDifPriors as MirtDifPriors
    from neartie.models.priors import ResidualDifPriors as ResidualDifPriors
    from neartie.models.priors import TwoPLPriors as TwoPLPriors
    from neartie.models.residual_dif_model import build_residual_dif as build_residual_dif
    from neartie.models.two_pl import build_two_pl as build_two_pl
    from neartie.report.audit_files import write_audit as write_audit
    from neartie.report.check_files import write_checks as write_checks
    from neartie.report.collection_files import write_collection as write_collection
    from neartie.report.comparison_files import write_comparison as write_comparison
    from neartie.report.estimates_files import write_estimates as write_estimates
    from neartie.report.rank_files import write_ranking as write_ranking
    from neartie.report.recovery_files import write_recovery as write_recovery
    from neartie.report.score_files import write_scorecard as write_scorecard
    from neartie.report.screen_files import write_screen as write_screen
    from neartie.report.validation_files import write_validation as write_validation

__version__ = "0.1.0"

# Where each public name lives. A new name stands here, in `__all__` and in the imports above.
_HOMES = {
    "Attribution": "neartie.audits.attribution",
    "AuditCollection": "neartie.audits.collection",
    "AuditSettings": "neartie.audits.settings",
    "Battles": "neartie.data.battles",
    "BootstrapOffset": "neartie.inference.bootstrap_offset",
    "BradleyTerryFit": "neartie.inference.bradley_terry_result",
    "BradleyTerryPriors": "neartie.models.bradley_terry_priors",
    "Calibration": "neartie.inference.calibration_result",
    "CaveatWarning": "neartie.data.errors",
    "CheckChoices": "neartie.audits.further_checks",
    "CollectionChecks": "neartie.audits.collection_checks",
    "Comparison": "neartie.audits.comparison",
    "ComparisonSettings": "neartie.audits.comparison_settings",
    "ContentAudit": "neartie.audits.content_analysis",
    "ContentAxes": "neartie.audits.content_axes",
    "ControlComparison": "neartie.audits.control_comparison",
    "ConvergenceError": "neartie.data.errors",
    "DataError": "neartie.data.errors",
    "DesignBoards": "neartie.audits.comparison_boards",
    "DesignValidation": "neartie.audits.validation_result",
    "EstimateComparison": "neartie.audits.estimates_result",
    "FamilyReplication": "neartie.audits.replication_families",
    "FamilyShifts": "neartie.audits.family_shifts",
    "FurtherChecks": "neartie.audits.further_checks",
    "GapDeciders": "neartie.audits.rank_deciders",
    "ItemScreen": "neartie.audits.screen_result",
    "JudgePanel": "neartie.audits.judge_panel",
    "MirtDifFit": "neartie.inference.mirt_dif_result",
    "MirtDifPriors": "neartie.models.priors",
    "MirtDifScales": "neartie.inference.mirt_scales",
    "MirtLaplaceDraws": "neartie.inference.mirt_laplace_draws",
    "ModelBoards": "neartie.audits.comparison_boards",
    "ModelRanking": "neartie.audits.rank_result",
    "NearTieAudit": "neartie.audits.result",
    "PredictiveChecks": "neartie.audits.predictive_result",
    "Recovery": "neartie.audits.recovery",
    "Replication": "neartie.audits.replication",
    "ResidualDifBootstrap": "neartie.inference.residual_dif_bootstrap",
    "ResidualDifDraws": "neartie.inference.residual_dif_draws",
    "ResidualDifPriors": "neartie.models.priors",
    "Responses": "neartie.data.responses",
    "Robustness": "neartie.audits.robustness",
    "ScoreInputs": "neartie.data.score_inputs",
    "ScoreSettings": "neartie.audits.scorecard_settings",
    "Scorecard": "neartie.audits.scorecard_result",
    "ScoredModels": "neartie.inference.score_models",
    "ScreenSettings": "neartie.audits.screen",
    "TwoPLFit": "neartie.inference.two_pl_result",
    "TwoPLPriors": "neartie.models.priors",
    "add_log_likelihood": "neartie.inference.log_likelihood",
    "align_loadings": "neartie.inference.alignment",
    "analyse_content": "neartie.audits.content_analysis",
    "associate_families": "neartie.audits.content_families",
    "attribute_sources": "neartie.audits.attribution",
    "audit_collection": "neartie.audits.collection",
    "audit_near_ties": "neartie.audits.near_tie",
    "boards_like": "neartie.audits.comparison_boards",
    "bootstrap_bradley_terry": "neartie.inference.bradley_terry_bootstrap",
    "bootstrap_offsets": "neartie.inference.bootstrap_offset",
    "build_bradley_terry": "neartie.models.bradley_terry_model",
    "build_mirt_dif": "neartie.models.mirt_dif",
    "build_residual_dif": "neartie.models.residual_dif_model",
    "build_two_pl": "neartie.models.two_pl",
    "calibrate": "neartie.inference.calibration",
    "calibrate_confidence": "neartie.audits.confidence",
    "check_collection": "neartie.audits.collection_checks",
    "check_posterior": "neartie.audits.posterior_checks",
    "check_prior": "neartie.audits.posterior_checks",
    "check_robustness": "neartie.audits.robustness",
    "compare": "neartie.audits.compare",
    "compare_common_models": "neartie.audits.common_models",
    "compare_controls": "neartie.audits.control_comparison",
    "compare_estimates": "neartie.audits.compare_estimates",
    "compare_models": "neartie.inference.compare_loo",
    "describe": "neartie.data.summary",
    "diagnostics": "neartie.inference.diagnostics",
    "draw_around_mode": "neartie.inference.mirt_laplace_draws",
    "draw_mirt_laplace": "neartie.inference.mirt_laplace_draws",
    "draw_residual_dif": "neartie.inference.residual_dif_draws",
    "draw_residual_dif_bootstrap": "neartie.inference.residual_dif_bootstrap",
    "exact_common_models": "neartie.audits.collection",
    "fit": "neartie.inference.fit",
    "fit_bradley_terry": "neartie.inference.bradley_terry",
    "fit_mirt_dif_map": "neartie.inference.mirt_dif_map",
    "fit_two_pl_map": "neartie.inference.two_pl_map",
    "judge_panel": "neartie.audits.judge_panel",
    "load_example": "neartie.data.example",
    "make_scorecard": "neartie.audits.scorecard",
    "pool_attributions": "neartie.audits.pooled_signs",
    "prior_only": "neartie.models.prior_only",
    "rank_models": "neartie.audits.ranks",
    "read_battles": "neartie.data.read_battles",
    "read_content_key": "neartie.audits.content_sheets",
    "read_content_sheets": "neartie.audits.content_sheets",
    "read_posterior": "neartie.inference.posterior_file",
    "read_responses": "neartie.data.read",
    "read_score_inputs": "neartie.data.read_score_inputs",
    "read_scores": "neartie.audits.rank_reading",
    "replicate_signatures": "neartie.audits.replication",
    "replicate_under_permuted_families": "neartie.audits.replication_families",
    "report_positions": "neartie.data.battle_order",
    "resolve_swapped": "neartie.data.battle_order",
    "run_checks": "neartie.audits.further_checks",
    "sample_content": "neartie.audits.content_sample",
    "score_models": "neartie.inference.score_models",
    "screen_items": "neartie.audits.screen",
    "shift_families": "neartie.audits.family_shifts",
    "simulate_comparison": "neartie.audits.compare_simulated",
    "simulate_leaderboard": "neartie.data.simulate",
    "validate_design": "neartie.audits.validation",
    "what_would_it_take": "neartie.audits.rank_needs",
    "who_decides": "neartie.audits.rank_deciders",
    "write_audit": "neartie.report.audit_files",
    "write_checks": "neartie.report.check_files",
    "write_collection": "neartie.report.collection_files",
    "write_comparison": "neartie.report.comparison_files",
    "write_content_sheets": "neartie.audits.content_sheets",
    "write_estimates": "neartie.report.estimates_files",
    "write_posterior": "neartie.inference.posterior_file",
    "write_ranking": "neartie.report.rank_files",
    "write_recovery": "neartie.report.recovery_files",
    "write_scorecard": "neartie.report.score_files",
    "write_screen": "neartie.report.screen_files",
    "write_validation": "neartie.report.validation_files",
}

__all__ = [
    "Attribution",
    "AuditCollection",
    "AuditSettings",
    "Battles",
    "BootstrapOffset",
    "BradleyTerryFit",
    "BradleyTerryPriors",
    "Calibration",
    "CaveatWarning",
    "CheckChoices",
    "CollectionChecks",
    "Comparison",
    "ComparisonSettings",
    "ContentAudit",
    "ContentAxes",
    "ControlComparison",
    "ConvergenceError",
    "DataError",
    "DesignBoards",
    "DesignValidation",
    "EstimateComparison",
    "FamilyReplication",
    "FamilyShifts",
    "FurtherChecks",
    "GapDeciders",
    "ItemScreen",
    "JudgePanel",
    "MirtDifFit",
    "MirtDifPriors",
    "MirtDifScales",
    "MirtLaplaceDraws",
    "ModelBoards",
    "ModelRanking",
    "NearTieAudit",
    "PredictiveChecks",
    "Recovery",
    "Replication",
    "ResidualDifBootstrap",
    "ResidualDifDraws",
    "ResidualDifPriors",
    "Responses",
    "Robustness",
    "ScoreInputs",
    "ScoreSettings",
    "Scorecard",
    "ScoredModels",
    "ScreenSettings",
    "TwoPLFit",
    "TwoPLPriors",
    "__version__",
    "add_log_likelihood",
    "align_loadings",
    "analyse_content",
    "associate_families",
    "attribute_sources",
    "audit_collection",
    "audit_near_ties",
    "boards_like",
    "bootstrap_bradley_terry",
    "bootstrap_offsets",
    "build_bradley_terry",
    "build_mirt_dif",
    "build_residual_dif",
    "build_two_pl",
    "calibrate",
    "calibrate_confidence",
    "check_collection",
    "check_posterior",
    "check_prior",
    "check_robustness",
    "compare",
    "compare_common_models",
    "compare_controls",
    "compare_estimates",
    "compare_models",
    "describe",
    "diagnostics",
    "draw_around_mode",
    "draw_mirt_laplace",
    "draw_residual_dif",
    "draw_residual_dif_bootstrap",
    "exact_common_models",
    "fit",
    "fit_bradley_terry",
    "fit_mirt_dif_map",
    "fit_two_pl_map",
    "judge_panel",
    "load_example",
    "make_scorecard",
    "pool_attributions",
    "prior_only",
    "rank_models",
    "read_battles",
    "read_content_key",
    "read_content_sheets",
    "read_posterior",
    "read_responses",
    "read_score_inputs",
    "read_scores",
    "replicate_signatures",
    "replicate_under_permuted_families",
    "report_positions",
    "resolve_swapped",
    "run_checks",
    "sample_content",
    "score_models",
    "screen_items",
    "shift_families",
    "simulate_comparison",
    "simulate_leaderboard",
    "validate_design",
    "what_would_it_take",
    "who_decides",
    "write_audit",
    "write_checks",
    "write_collection",
    "write_comparison",
    "write_content_sheets",
    "write_estimates",
    "write_posterior",
    "write_ranking",
    "write_recovery",
    "write_scorecard",
    "write_screen",
    "write_validation",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'neartie' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
