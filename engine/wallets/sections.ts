// Bytes in sections: the format of PnL states and ledger blocks on disk and between threads.
//
//   0        4        8                          8-aligned
//   | mark   | count  | length × count | padding | section, padded to 8 | section … |
//
// All numbers are little-endian Uint32. `mark` identifies the type and version. The lengths must account
// for every byte, so truncated data is detected at once.

const HEAD_BYTES = 8
const SECTIONS_MAX = 64

const padded = (bytes: number): number => (bytes + 7) & ~7

/** Concatenates the sections into new bytes. */
export function packSections(
  mark: number,
  sections: readonly Uint8Array<ArrayBuffer>[],
): Uint8Array<ArrayBuffer> {
  const bodyStart = padded(HEAD_BYTES + sections.length * 4)
  let byteCount = bodyStart
  for (const section of sections) byteCount += padded(section.byteLength)
  const bytes = new Uint8Array(byteCount)
  const view = new DataView(bytes.buffer)
  view.setUint32(0, mark, true)
  view.setUint32(4, sections.length, true)
  let start = bodyStart
  for (const [index, section] of sections.entries()) {
    view.setUint32(HEAD_BYTES + index * 4, section.byteLength, true)
    bytes.set(section, start)
    start += padded(section.byteLength)
  }
  return bytes
}

/**
 * Views of the sections, each 8-aligned. Copies the bytes where they are not aligned or not in an
 * ArrayBuffer. Null: another type, another version, or truncated.
 */
export function openSections(
  mark: number,
  given: Uint8Array,
): readonly Uint8Array<ArrayBuffer>[] | null {
  if (given.byteLength < HEAD_BYTES) return null
  const head = new DataView(given.buffer, given.byteOffset, given.byteLength)
  const count = head.getUint32(4, true)
  if (head.getUint32(0, true) !== mark || count > SECTIONS_MAX) return null
  const { buffer } = given
  const isAligned = given.byteOffset % 8 === 0 && buffer instanceof ArrayBuffer
  const bytes = isAligned
    ? new Uint8Array(buffer, given.byteOffset, given.byteLength)
    : new Uint8Array(given)
  let start = padded(HEAD_BYTES + count * 4)
  if (start > bytes.byteLength) return null
  const sections: Uint8Array<ArrayBuffer>[] = []
  for (let index = 0; index < count; index += 1) {
    const length = head.getUint32(HEAD_BYTES + index * 4, true)
    if (start + length > bytes.byteLength) return null
    sections.push(bytes.subarray(start, start + length))
    start += padded(length)
  }
  return start === bytes.byteLength ? sections : null
}
