// CRC-32 with the same result as node:zlib. Records have a hundred bytes, for which a native call costs as much as this
// computation. Processes four bytes a step with four tables.

const POLYNOMIAL = 0xedb88320

const table = Int32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte
  for (let bit = 0; bit < 8; bit += 1) rest = (rest >>> 1) ^ (rest & 1 ? POLYNOMIAL : 0)
  return rest
})
/** The CRC of a byte followed by one, two or three zero bytes. */
const table1 = followed(table)
const table2 = followed(table1)
const table3 = followed(table2)

function followed(before: Int32Array): Int32Array {
  return before.map((sum) => (sum >>> 8) ^ at(table, sum))
}

function at(sums: Int32Array, byte: number): number {
  return sums[byte & 0xff] ?? 0
}

/** The checksum of a byte range. `before`: the checksum of the bytes before it; 0 if there are none. */
export function crc32(
  bytes: Uint8Array,
  { from, to, before }: { readonly from: number; readonly to: number; readonly before: number },
): number {
  let sum = ~before
  let index = from
  for (const end = to - 3; index < end; index += 4) {
    const word =
      (bytes[index] ?? 0) |
      ((bytes[index + 1] ?? 0) << 8) |
      ((bytes[index + 2] ?? 0) << 16) |
      ((bytes[index + 3] ?? 0) << 24)
    sum ^= word
    sum = at(table3, sum) ^ at(table2, sum >>> 8) ^ at(table1, sum >>> 16) ^ at(table, sum >>> 24)
  }
  for (; index < to; index += 1) sum = at(table, sum ^ (bytes[index] ?? 0)) ^ (sum >>> 8)
  return ~sum >>> 0
}
