"""Python client of Twinbook."""

from .client import Client, Events, Markets, Wallets
from .errors import (
    ApiError,
    AuthenticationError,
    ConfigurationError,
    ConnectionFailedError,
    InvalidRequestError,
    NotFoundError,
    ProtocolError,
    RateLimitError,
    TwinbookError,
    UnavailableError,
)
from .replay import Replay
from .rows import Rows

__all__ = [
    "ApiError",
    "AuthenticationError",
    "Client",
    "ConfigurationError",
    "ConnectionFailedError",
    "Events",
    "InvalidRequestError",
    "Markets",
    "NotFoundError",
    "ProtocolError",
    "RateLimitError",
    "Replay",
    "Rows",
    "TwinbookError",
    "UnavailableError",
    "Wallets",
]
