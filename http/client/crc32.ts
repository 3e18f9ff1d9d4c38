// CRC-32 (IEEE 802.3, as in zlib) for checksums of books. Browsers have no built-in function.

const TABLE = makeTable()

/** Returns an unsigned 32-bit integer. `text` must be ASCII. */
export function crc32(text: string): number {
  let crc = 0xffff_ffff
  for (let index = 0; index < text.length; index += 1) {
    crc = (TABLE[(crc ^ text.charCodeAt(index)) & 0xff] ?? 0) ^ (crc >>> 8)
  }
  return (crc ^ 0xffff_ffff) >>> 0
}

function makeTable(): Uint32Array {
  const table = new Uint32Array(256)
  for (let byte = 0; byte < 256; byte += 1) {
    let crc = byte
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? 0xedb8_8320 ^ (crc >>> 1) : crc >>> 1
    table[byte] = crc
  }
  return table
}
