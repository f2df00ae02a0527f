"""A whole model at a glance: which words matter for each class, what it confuses, where it is weak."""

from heedful.run.glance.gathering import Asked, Glance, glance_at
from heedful.run.glance.glance_page import render_glance
from heedful.run.glance.glance_text import glance_lines

__all__ = ["Asked", "Glance", "glance_at", "glance_lines", "render_glance"]
