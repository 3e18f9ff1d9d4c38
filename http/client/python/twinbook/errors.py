"""Exceptions of the client. Each message says what to do."""

from __future__ import annotations


class TwinbookError(Exception):
    """Base class of all exceptions of this package."""


class ConfigurationError(TwinbookError, ValueError):
    """An argument or an environment variable is invalid."""


class ConnectionFailedError(TwinbookError):
    """The service did not answer, or the connection ended before the end of the answer."""


class ProtocolError(TwinbookError):
    """The answer does not have the documented form."""


class ApiError(TwinbookError):
    """The service refused a request. `status` is the HTTP status, `detail` the reason of the service."""

    def __init__(self, message: str, *, status: int, detail: str) -> None:
        super().__init__(message)
        self.status = status
        self.detail = detail


class AuthenticationError(ApiError):
    """401: the API key is missing or invalid."""


class NotFoundError(ApiError):
    """404: there is no such market, event, wallet or period."""


class InvalidRequestError(ApiError):
    """400 or 422: the service does not accept a parameter."""


class RateLimitError(ApiError):
    """429 after all retries."""


class UnavailableError(ApiError):
    """503 after all retries."""
