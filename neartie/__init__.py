"""Which orderings on a leaderboard can be believed, and which approximations say so rightly."""

__version__ = "0.1.0"
