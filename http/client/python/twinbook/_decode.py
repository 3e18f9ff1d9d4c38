"""Conversion of JSON values to records, with checks of every type."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from decimal import Decimal
from functools import lru_cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from .errors import ProtocolError

Converter = Callable[[object], Any]
R = TypeVar("R")


class Decoder:
    """Decodes records whose numbers have the type `price_type`: float or Decimal."""

    def __init__(self, price_type: type[float] | type[Decimal]) -> None:
        self.price_type = price_type
        self._converter_of: Callable[[Any], Converter] = lru_cache(maxsize=512)(self._make)

    def json(self, text: str | bytes) -> object:
        """Parses JSON. Decimals have exactly the digits of the text."""
        parse_float = Decimal if self.price_type is Decimal else None
        try:
            value: object = json.loads(text, parse_float=parse_float)
        except ValueError as error:
            raise ProtocolError(f"the answer is not JSON: {error}") from error
        return value

    def record(self, record_type: type[R], value: object) -> R:
        """Converts a JSON object. Raises ProtocolError if a field is missing or has another type."""
        record: R = self._converter_of(record_type)(value)
        return record

    def _make(self, hint: Any) -> Converter:
        origin = get_origin(hint)
        if hint is object:
            return lambda value: value
        if isinstance(hint, TypeVar):
            return self._number
        if origin is Literal:
            # Values that a newer service adds are accepted.
            return _plain(type(get_args(hint)[0]))
        if origin in (Union, UnionType):
            return self._union(get_args(hint))
        if origin is list:
            return self._list(self._converter_of(get_args(hint)[0]))
        if origin is dict:
            return self._dict(self._converter_of(get_args(hint)[1]))
        record_type = origin if origin is not None else hint
        if is_dataclass(record_type):
            return self._record(record_type)
        return _plain(hint)

    def _number(self, value: object) -> float | Decimal:
        if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
            raise ProtocolError(f"a number is expected, not {value!r:.80}")
        return self.price_type(value)

    def _union(self, hints: tuple[Any, ...]) -> Converter:
        has_none = NoneType in hints
        converters = [self._converter_of(hint) for hint in hints if hint is not NoneType]
        only = converters[0]

        def convert(value: object) -> Any:
            if value is None and has_none:
                return None
            if len(converters) == 1:
                return only(value)
            for converter in converters:
                try:
                    return converter(value)
                except ProtocolError:
                    continue
            raise ProtocolError(f"{value!r:.80} has none of the documented types")

        return convert

    def _list(self, item: Converter) -> Converter:
        def convert(value: object) -> list[Any]:
            if not isinstance(value, list):
                raise ProtocolError(f"a list is expected, not {value!r:.80}")
            return [item(one) for one in value]

        return convert

    def _dict(self, item: Converter) -> Converter:
        def convert(value: object) -> dict[str, Any]:
            if not isinstance(value, dict):
                raise ProtocolError(f"an object is expected, not {value!r:.80}")
            return {str(key): item(one) for key, one in value.items()}

        return convert

    def _record(self, record_type: Any) -> Converter:
        hints = get_type_hints(record_type, vars(sys.modules[record_type.__module__]))
        plan = [
            (
                field.name,
                field.name.removesuffix("_"),
                self._converter_of(hints[field.name]),
                field.default is MISSING,
            )
            for field in fields(record_type)
        ]

        def convert(value: object) -> Any:
            if not isinstance(value, dict):
                raise ProtocolError(f"{record_type.__name__}: an object is expected, not {value!r:.80}")
            arguments: dict[str, Any] = {}
            for name, key, converter, is_required in plan:
                if key in value:
                    try:
                        arguments[name] = converter(value[key])
                    except ProtocolError as error:
                        raise ProtocolError(f"{record_type.__name__}.{key}: {error}") from None
                elif is_required:
                    raise ProtocolError(f"{record_type.__name__}.{key} is missing")
            return record_type(**arguments)

        return convert


def _plain(expected: type) -> Converter:
    def convert(value: object) -> object:
        # bool is a subclass of int.
        if not isinstance(value, expected) or (expected is int and isinstance(value, bool)):
            raise ProtocolError(f"{expected.__name__} is expected, not {value!r:.80}")
        return value

    return convert
