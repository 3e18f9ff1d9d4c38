// Ids of the simulated world. They are hashes of the seed and the instance's key, so a restart gives the same ids.

import { hash } from 'node:crypto'

export interface ChainIds {
  /** 0x and 64 hex digits. Ids of protocol v2 have 31 bytes, so their last two digits are 00. */
  readonly conditionId: string
  /** Two integers with 77 or 78 decimal digits, or 75 or 76 under protocol v2. */
  readonly tokens: readonly [string, string]
}

interface V2Grouping {
  /** Key of the group, or of the market without a group. The id's hash is computed from it. */
  readonly baseKey: string
  /** Same meaning as in `chainIds`. */
  readonly eventNumber: number | null
  readonly group: { readonly size: number; readonly index: number } | null
}

/** 0x and 64 hex digits. */
export const conditionIdOf = (key: string): string => `0x${hash('sha256', key)}`

/** Ids under protocol v1. They contain `eventNumber` unless it is null. */
export function chainIds(key: string, eventNumber: number | null): ChainIds {
  const hex = hash('sha512', key)
  const token = (digits: string): string => tokenId(numbered(digits, eventNumber))
  return {
    conditionId: numbered(conditionIdOf(key), eventNumber),
    tokens: [token(hex.slice(0, 64)), token(hex.slice(64))],
  }
}

const NUMBER_DIGITS = 12

function numbered(hex: string, eventNumber: number | null): string {
  if (eventNumber === null) return hex
  return hex.slice(0, -NUMBER_DIGITS) + eventNumber.toString(16).padStart(NUMBER_DIGITS, '0')
}

/** Event numbers that an id or token of a large world may contain: one for protocol v1 and one for protocol v2. */
export function eventNumbersIn(id: string): readonly number[] {
  const hex = /^\d{75,78}$/.test(id) ? BigInt(id).toString(16).padStart(64, '0') : id.slice(2)
  if (!/^[0-9a-f]{62,64}$/.test(hex)) return []
  return [hex.slice(64 - NUMBER_DIGITS), hex.slice(34 - NUMBER_DIGITS, 34)].map((digits) =>
    Number.parseInt(digits, 16),
  )
}

/**
 * Condition id and position ids under protocol v2 (engine/venues/polymarket/README.md, Protocol v2). Parts of a
 * position id: the module, 16 bytes of a hash, the group's size, 8 reserved bytes, the chain, the index in the group,
 * the outcome. A condition id has no outcome.
 */
export function positionIds({ baseKey, eventNumber, group }: V2Grouping): ChainIds {
  const digits = (value: number, count: number) => value.toString(16).padStart(count, '0')
  const [module, size, index] = group === null ? [1, 0, 0] : [2, group.size, group.index]
  const hashed = numbered(hash('sha256', `v2|${baseKey}`).slice(0, 32), eventNumber)
  const condition = `0x${digits(module, 2)}${hashed}${digits(size, 4)}${digits(0, 20)}${digits(index, 4)}`
  const position = (outcome: string) => BigInt(condition + outcome).toString()
  return { conditionId: `${condition}00`, tokens: [position('00'), position('01')] }
}

export function uuidOf(key: string): string {
  const hex = hash('sha1', key)
  const variant = ((Number.parseInt(hex.charAt(16), 16) & 3) | 8).toString(16)
  const [head, second, third] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16)]
  return `${head}-${second}-4${third}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`
}

/** 256 bits in decimal. The top hex digit is at least 4, so that the number has at least 77 digits. */
function tokenId(hex: string): string {
  const top = (Number.parseInt(hex.charAt(0), 16) | 4).toString(16)
  return BigInt(`0x${top}${hex.slice(1)}`).toString()
}
