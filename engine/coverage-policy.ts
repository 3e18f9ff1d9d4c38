import { parseUsd, type UsdMicros } from './units.ts'

export type CoverageRule =
  | { readonly kind: 'all' }
  | { readonly kind: 'top'; readonly count: number }
  | { readonly kind: 'minVolume'; readonly volume: UsdMicros }
  /** `value`: a category name, an event slug or a market id, in lower case. */
  | { readonly kind: 'category' | 'event' | 'market'; readonly value: string }

/** A market is covered if one rule matches. */
export interface CoveragePolicy {
  readonly text: string
  readonly rules: readonly CoverageRule[]
}

export const ALL_MARKETS: CoveragePolicy = { text: 'all', rules: [{ kind: 'all' }] }

const HOLD_REASONS = ['subscription', 'webhook'] as const
export type HoldReason = (typeof HOLD_REASONS)[number]

/** Why a market is covered: the policy, a match or open opportunity, a recent request, or a hold. */
export const COVERAGE_REASONS = ['policy', 'match', 'request', ...HOLD_REASONS] as const
export type CoverageReason = (typeof COVERAGE_REASONS)[number]

export const COVERAGE_ACCEPTS =
  '"all", or a comma list of top:N, min_volume:USD, category:NAME, event:SLUG and market:ID'

const COUNT_MAX = 1_000_000
const RULES_MAX = 200
const TEXT_CHARACTERS_MAX = 4_096

/**
 * Reads a policy such as `all` or `top:20000,category:Politics`. Ignores spaces around rules. For any other text,
 * `problem` states what is accepted.
 */
export function readCoveragePolicy(text: string): CoveragePolicy | { readonly problem: string } {
  if (text.length > TEXT_CHARACTERS_MAX) {
    return refused(`a coverage policy has at most ${TEXT_CHARACTERS_MAX} characters`)
  }
  const items = text.split(',').map((item) => item.trim())
  if (items.length > RULES_MAX) return refused(`a coverage policy has at most ${RULES_MAX} rules`)
  if (items.length === 1 && items[0]?.toLowerCase() === ALL_MARKETS.text) return ALL_MARKETS
  const rules: CoverageRule[] = []
  for (const item of items) {
    const rule = readRule(item)
    if (rule === null) return refused(`no coverage rule: ${JSON.stringify(item.slice(0, 80))}`)
    rules.push(rule)
  }
  return { text: items.join(','), rules }
}

function refused(problem: string): { readonly problem: string } {
  return { problem: `${problem}; COVERAGE accepts ${COVERAGE_ACCEPTS}` }
}

function readRule(item: string): CoverageRule | null {
  const colon = item.indexOf(':')
  if (colon < 0) return null
  const name = item.slice(0, colon).trim().toLowerCase()
  const value = item.slice(colon + 1).trim()
  switch (name) {
    case 'top': {
      const count = /^\d{1,7}$/.test(value) ? Number(value) : Number.NaN
      return count <= COUNT_MAX ? { kind: 'top', count } : null
    }
    case 'min_volume': {
      const volume = parseUsd(value)
      return volume === null || volume < 0 ? null : { kind: 'minVolume', volume }
    }
    case 'category':
    case 'event':
    case 'market':
      return value === '' ? null : { kind: name, value: value.toLowerCase() }
    default:
      return null
  }
}
