// The ids of the invented world: every one a hash of the seed and the instance's key, so that a
// second start names the same market by the same id. Not for: tickers and slugs (the style files).
// Upholds SIMCAL1 and SIMCAL3.

import { hash } from 'node:crypto'

/** What a market of venue a is called by machines. */
export interface ChainIds {
  /** 0x and 64 hex digits. */
  readonly conditionId: string
  /** Two integers of 77 or 78 decimal digits. */
  readonly tokens: readonly [string, string]
}

/** Condition id of a key: 0x and 64 hex digits. */
export const conditionIdOf = (key: string): string => `0x${hash('sha256', key)}`

/** Condition id and token ids of a key. */
export function chainIds(key: string): ChainIds {
  const hex = hash('sha512', key)
  return {
    conditionId: conditionIdOf(key),
    tokens: [tokenId(hex.slice(0, 64)), tokenId(hex.slice(64))],
  }
}

/** A UUID (version 4 in form) of a key. */
export function uuidOf(key: string): string {
  const hex = hash('sha1', key)
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  const [head, second, third] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)]
  return `${head}-${second}-4${third}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** 256 bits as decimals; the top digit is at least 4, so that there are never under 77 digits. */
function tokenId(hex: string): string {
  const top = (Number.parseInt(hex.charAt(0), 16) | 4).toString(16)
  return BigInt(`0x${top}${hex.slice(1)}`).toString()
}
