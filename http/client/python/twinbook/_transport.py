"""HTTP requests with bounded retries."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from urllib.parse import urlsplit

import httpx

from ._decode import Decoder
from .errors import (
    ApiError,
    AuthenticationError,
    ConfigurationError,
    ConnectionFailedError,
    InvalidRequestError,
    NotFoundError,
    RateLimitError,
    UnavailableError,
)

Parameter = str | int | float | bool | Sequence[str] | None
FIRST_DELAY_S = 0.5
DELAY_MAX_S = 30.0
RETRIED = (429, 503)
NO_MARKET = "no such market"
"""`detail` of the service for an unknown market id."""


def check_host(host: str) -> str:
    """Returns the address without a trailing slash. Raises ConfigurationError if it has no scheme or host."""
    try:
        parts = urlsplit(host)
        is_valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError as error:
        raise ConfigurationError(_host_advice(host)) from error
    if not is_valid or not host.isprintable() or " " in host:
        raise ConfigurationError(_host_advice(host))
    if parts.path not in ("", "/") or parts.query or parts.fragment:
        raise ConfigurationError(f"The host {host!r} must have no path. Use {parts.scheme}://{parts.netloc}.")
    return f"{parts.scheme}://{parts.netloc}"


def _host_advice(host: str) -> str:
    return f'The host {host!r} is not an address. Use a scheme and a host, like "http://127.0.0.1:8080".'


def check_key(key: str) -> str:
    """Raises ConfigurationError if the key is empty or cannot be sent in a header."""
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise ConfigurationError(
            "The API key is empty or has characters that no key has. "
            "Pass key=... or set TWINBOOK_API_KEY to a key of the dashboard's account page."
        )
    return key


class Transport:
    """Sends GET requests. Repeats them after 429, 503 and failed connections, at most `retries` times."""

    def __init__(
        self,
        host: str,
        key: str,
        *,
        decoder: Decoder,
        timeout_s: float,
        retries: int,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._host = check_host(host)
        self._retries = retries
        self._sleep = sleep
        self._decoder = decoder
        headers = {"X-API-Key": check_key(key), "User-Agent": "twinbook-python"}
        try:
            self._http = httpx.Client(base_url=self._host, headers=headers, timeout=timeout_s)
        except httpx.InvalidURL as error:
            raise ConfigurationError(_host_advice(host)) from error

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, parameters: Mapping[str, Parameter]) -> object:
        """Returns the decoded JSON."""
        with self.stream(path, parameters) as response:
            try:
                body = response.read()
            except httpx.HTTPError as error:
                raise self._lost(error) from error
        return self._decoder.json(body)

    @contextmanager
    def stream(self, path: str, parameters: Mapping[str, Parameter]) -> Iterator[httpx.Response]:
        """Opens an answer whose status is 200. The caller reads the body."""
        response = self._open(path, parameters)
        try:
            yield response
        finally:
            response.close()

    def lines(self, path: str, parameters: Mapping[str, Parameter]) -> Iterator[str]:
        """Yields the lines of an answer. Raises ConnectionFailedError if it ends early."""
        with self.stream(path, parameters) as response:
            try:
                for line in response.iter_lines():
                    if text := line.strip():
                        yield text
            except httpx.HTTPError as error:
                raise self._lost(error) from error

    def _open(self, path: str, parameters: Mapping[str, Parameter]) -> httpx.Response:
        request = self._http.build_request("GET", path, params=_query(parameters))
        attempt = 0
        while True:
            try:
                response = self._http.send(request, stream=True)
            except httpx.HTTPError as error:
                if attempt >= self._retries:
                    raise self._lost(error) from error
                delay_s = _back_off(attempt)
            else:
                if response.status_code == 200:
                    return response
                delay_s = _retry_after(response) or _back_off(attempt)
                is_retried = response.status_code in RETRIED and delay_s <= DELAY_MAX_S
                if not is_retried or attempt >= self._retries:
                    raise self._refused(response)
                response.close()
            self._sleep(delay_s)
            attempt += 1

    def _lost(self, error: Exception) -> ConnectionFailedError:
        return ConnectionFailedError(
            f"No complete answer from {self._host} ({error or type(error).__name__}). "
            "Check that the service runs, and that scheme, host and port are right."
        )

    def _refused(self, response: httpx.Response) -> ApiError:
        status = response.status_code
        detail = self._detail(response)
        kind, advice = _ADVICE.get(status, (ApiError, ""))
        if detail == NO_MARKET:
            advice = "Find market ids with client.markets.search(text)."
        message = f"{status}: {detail}. {advice}".strip()
        return kind(message, status=status, detail=detail)

    def _detail(self, response: httpx.Response) -> str:
        try:
            body = self._decoder.json(response.read())
        except Exception:  # noqa: BLE001 - the status is the error to report
            return response.reason_phrase
        finally:
            response.close()
        detail = body.get("detail") if isinstance(body, dict) else None
        if isinstance(detail, list):
            return "; ".join(_problem(one) for one in detail)
        return detail if isinstance(detail, str) else response.reason_phrase


_ADVICE: dict[int, tuple[type[ApiError], str]] = {
    400: (InvalidRequestError, "Correct the parameters and try again."),
    401: (AuthenticationError, "Pass a valid key=... or set TWINBOOK_API_KEY."),
    404: (NotFoundError, ""),
    422: (InvalidRequestError, "Correct the parameters and try again."),
    429: (RateLimitError, "Send fewer requests, or use an account with a higher quota."),
    503: (UnavailableError, "The service is overloaded or starting. Try again later."),
}


def _problem(value: object) -> str:
    if not isinstance(value, dict):
        return str(value)
    place = value.get("loc")
    name = place[-1] if isinstance(place, list) and place else "request"
    return f"{name}: {value.get('msg')}"


def _query(parameters: Mapping[str, Parameter]) -> dict[str, str]:
    query: dict[str, str] = {}
    for name, value in parameters.items():
        if value is None:
            continue
        if isinstance(value, bool):
            query[name] = "true" if value else "false"
        elif isinstance(value, (str, int, float)):
            query[name] = str(value)
        else:
            query[name] = ",".join(value)
    return query


def _back_off(attempt: int) -> float:
    longest = min(DELAY_MAX_S, FIRST_DELAY_S * 2.0**attempt)
    return longest * random.uniform(0.5, 1)


def _retry_after(response: httpx.Response) -> float | None:
    text = response.headers.get("retry-after", "")
    return float(text) if text.isdecimal() and len(text) <= 9 else None
