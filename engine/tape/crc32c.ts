// CRC-32C (Castagnoli, RFC 3720 appendix B.4).

import { createCRC32 } from 'hash-wasm'

/** The polynomial in reversed bit order. */
const POLYNOMIAL = 0x82_f6_3b_78
const hasher = await createCRC32(POLYNOMIAL)

/** The checksum of all parts in sequence. */
export function crc32c(parts: readonly Uint8Array[]): number {
  hasher.init()
  for (const part of parts) hasher.update(part)
  return Number.parseInt(hasher.digest('hex'), 16)
}
