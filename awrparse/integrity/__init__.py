"""Checks of a copy: are lines missing, were two reports joined, does a row stand in the wrong table?"""

from awrparse.integrity.registry import CHECKS, Check, Contradiction, checks, contradictions_of, problems_of

__all__ = ["CHECKS", "Check", "Contradiction", "checks", "contradictions_of", "problems_of"]
