"""Times of requests."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from .errors import ConfigurationError

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)

Time = int | str | datetime
"""Unix milliseconds, an ISO 8601 text with a time zone, or a datetime with a time zone."""


def to_ms(time: Time, name: str) -> int:
    """Unix milliseconds, rounded down. Raises ConfigurationError if the time has no time zone."""
    if isinstance(time, int) and not isinstance(time, bool):
        return time
    if isinstance(time, str):
        try:
            # Python 3.10 does not parse the letter Z.
            time = datetime.fromisoformat(time.replace("Z", "+00:00"))
        except ValueError:
            raise ConfigurationError(f'{name}: {time!r} is not a time. Use "2026-11-28T07:00:00Z".') from None
    if not isinstance(time, datetime):
        raise ConfigurationError(f"{name} takes Unix milliseconds, an ISO 8601 text or a datetime, not {time!r}.")
    if time.tzinfo is None:
        raise ConfigurationError(f"{name} has no time zone. Use datetime(..., tzinfo=timezone.utc).")
    return (time - _EPOCH) // timedelta(milliseconds=1)


def to_seconds(time: Time | None, name: str) -> int | None:
    """Unix seconds, rounded down. None stays None."""
    return None if time is None else to_ms(time, name) // 1000
