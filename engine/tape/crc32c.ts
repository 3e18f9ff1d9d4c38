// CRC-32C (Castagnoli, RFC 3720 appendix B.4). hash-wasm has it too, but its modules load asynchronously, and entry
// modules of threads must not contain a top-level await.

/** The polynomial in reversed bit order. */
const POLYNOMIAL = 0x82_f6_3b_78

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte
  for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? POLYNOMIAL : 0)
  return sum
})

/** The checksum of all parts in sequence. */
export function crc32c(parts: readonly Uint8Array[]): number {
  let sum = 0xffff_ffff
  for (const part of parts) {
    for (let at = 0; at < part.length; at += 1) {
      sum = (sum >>> 8) ^ (TABLE[(sum ^ (part[at] ?? 0)) & 0xff] ?? 0)
    }
  }
  return (sum ^ 0xffff_ffff) >>> 0
}
