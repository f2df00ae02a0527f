"""A whole model at a glance: which words matter for each class, what it confuses, where it is weak."""

from heedful.run.glance.gathering import Glance, GlanceRequest, glance_at
from heedful.run.glance.glance_page import render_glance
from heedful.run.glance.glance_text import glance_lines
from heedful.run.glance.sections import Overview
from heedful.run.glance.whole_report import render_whole, whole_lines, whole_report

__all__ = [
    "Glance",
    "GlanceRequest",
    "Overview",
    "glance_at",
    "glance_lines",
    "render_glance",
    "render_whole",
    "whole_lines",
    "whole_report",
]
