"""Errors: minimal stand-in."""


class EverwhenError(Exception):
    """Any mistake that everwhen can name."""


class UsageError(EverwhenError):
    """The request cannot be meant."""


class ModelError(EverwhenError):
    """A model or the network is unavailable."""
