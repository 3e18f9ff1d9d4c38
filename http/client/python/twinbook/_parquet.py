"""Parquet files of rows. Imports pyarrow only when it is used."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from decimal import Decimal
from itertools import islice
from typing import Any

from ._kinds import kind_of
from .errors import ConfigurationError

ROWS_OF_GROUP = 65_536


def write_parquet(
    path: str | os.PathLike[str],
    rows: Iterable[Mapping[str, Any]],
    columns: Mapping[str, Any],
    price_type: type[float] | type[Decimal],
) -> int:
    """Writes rows in groups to a temporary file beside `path`, and renames it at the end. Returns the number of rows."""
    try:
        import pyarrow
        from pyarrow.parquet import ParquetWriter
    except ImportError as error:
        raise ConfigurationError(
            'to_parquet() needs pyarrow. Install it with: pip install "twinbook[parquet]"'
        ) from error
    numbers = pyarrow.float64() if price_type is float else pyarrow.decimal128(38, 6)
    types = {str: pyarrow.string(), int: pyarrow.int64(), bool: pyarrow.bool_(), float: numbers}
    kinds = {name: kind_of(hint) for name, hint in columns.items()}
    schema = pyarrow.schema([(name, types[kind or str]) for name, kind in kinds.items()])
    target = os.fspath(path)
    unfinished = f"{target}.unfinished"
    count = 0
    iterator = iter(rows)
    try:
        with ParquetWriter(unfinished, schema) as writer:
            while group := list(islice(iterator, ROWS_OF_GROUP)):
                values = {name: [_cell(row.get(name), kind) for row in group] for name, kind in kinds.items()}
                writer.write_table(pyarrow.table(values, schema=schema))
                count += len(group)
        os.replace(unfinished, target)
    except BaseException:
        if os.path.exists(unfinished):
            os.remove(unfinished)
        raise
    return count


def _cell(value: Any, kind: type | None) -> Any:
    return value if kind is not None or value is None else json.dumps(value, default=str)
