"""Types of table columns."""

from __future__ import annotations

from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin


def kind_of(hint: Any) -> type | None:
    """Type of a column: str, int, bool, float (of all numbers), or None for JSON."""
    if isinstance(hint, TypeVar):
        return float
    if get_origin(hint) is Literal:
        return type(get_args(hint)[0])
    if get_origin(hint) in (Union, UnionType):
        kinds = {kind_of(one) for one in get_args(hint) if one is not NoneType}
        return kinds.pop() if len(kinds) == 1 else None
    return hint if hint in (str, int, bool) else None
