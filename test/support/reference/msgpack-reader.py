# A MessagePack decoder written from the specification alone. stdin: frames, each with its length in four bytes.
# stdout: one line of JSON per frame. Extension types, 32-bit floats, records and extra bytes are errors.

import json
import struct
import sys


def read(data, at):
    kind = data[at]
    at += 1
    if kind < 0x80:
        return kind, at
    if kind < 0x90:
        return read_map(data, at, kind & 0x0F)
    if kind < 0xA0:
        return read_list(data, at, kind & 0x0F)
    if kind < 0xC0:
        return read_text(data, at, kind & 0x1F)
    if kind >= 0xE0:
        return kind - 0x100, at
    if kind == 0xC0:
        return None, at
    if kind in (0xC2, 0xC3):
        return kind == 0xC3, at
    if kind == 0xCB:
        return struct.unpack_from(">d", data, at)[0], at + 8
    if 0xCC <= kind <= 0xCF or 0xD0 <= kind <= 0xD3:
        size = 1 << (kind & 3)
        return int.from_bytes(data[at : at + size], "big", signed=kind >= 0xD0), at + size
    if kind in (0xD9, 0xDA, 0xDB, 0xDC, 0xDD, 0xDE, 0xDF):
        size = {0xD9: 1, 0xDA: 2, 0xDB: 4, 0xDC: 2, 0xDD: 4, 0xDE: 2, 0xDF: 4}[kind]
        count = int.from_bytes(data[at : at + size], "big")
        reader = read_text if kind <= 0xDB else read_list if kind <= 0xDD else read_map
        return reader(data, at + size, count)
    raise ValueError("not promised: 0x%02x" % kind)


def read_text(data, at, size):
    return data[at : at + size].decode("utf-8", "strict"), at + size


def read_list(data, at, count):
    rows = []
    for _ in range(count):
        row, at = read(data, at)
        rows.append(row)
    return rows, at


def read_map(data, at, count):
    found = {}
    for _ in range(count):
        name, at = read(data, at)
        if not isinstance(name, str) or name in found:
            raise ValueError("a name that is no text, or comes twice")
        found[name], at = read(data, at)
    return found, at


stream = sys.stdin.buffer
while True:
    head = stream.read(4)
    if len(head) == 0:
        break
    frame = stream.read(int.from_bytes(head, "big"))
    message, end = read(frame, 0)
    if end != len(frame):
        raise ValueError("%d stray bytes" % (len(frame) - end))
    sys.stdout.write(json.dumps(message, ensure_ascii=True) + "\n")
