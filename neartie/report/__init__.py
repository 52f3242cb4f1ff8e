"""Roof: figures, HTML and LaTeX; nothing is estimated here."""
