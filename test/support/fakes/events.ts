// Events of a fake catalogue. Each read computes them from their markets.

import type { EventFilter, EventView } from '../../../actors/views.ts'
import type { EventListing, MarketStatus } from '../../../engine/market/market.ts'
import { type UsdMicros, usdMicros } from '../../../engine/units.ts'
import type { FakeMarket } from './market.ts'

export class FakeEvent implements EventView {
  readonly summary: EventView['summary']
  readonly platform: string
  readonly #description: string | null
  readonly #children: () => readonly FakeMarket[]

  constructor(listing: EventListing, platform: string, children: () => readonly FakeMarket[]) {
    const { description, native: _, ...summary } = listing
    this.summary = summary
    this.platform = platform
    this.#description = description
    this.#children = children
  }

  get status(): MarketStatus {
    // A market that does not trade yet counts as closed.
    const statuses = this.#children().map(({ summary }) =>
      summary.isUnopened ? 'closed' : summary.status,
    )
    if (statuses.includes('open')) return 'open'
    const isOver = statuses.length > 0 && statuses.every((status) => status === 'resolved')
    return isOver ? 'resolved' : 'closed'
  }

  get marketCount(): number {
    return this.#children().length
  }

  get volume24h(): UsdMicros {
    return usdMicros(this.#children().reduce((sum, market) => sum + market.volume24h, 0))
  }

  get volumeTotal(): UsdMicros {
    return usdMicros(this.#children().reduce((sum, market) => sum + (market.volumeTotal ?? 0), 0))
  }

  description(): string | null {
    return this.#description
  }

  markets(limit: number): readonly FakeMarket[] {
    return [...this.#children()]
      .sort((one, two) => two.volume24h - one.volume24h || one.ref.number - two.ref.number)
      .slice(0, limit)
  }
}

/** Events without markets never match. */
export function isWantedEvent(event: FakeEvent, filter: EventFilter): boolean {
  const { summary } = event
  if (event.marketCount === 0) return false
  if (filter.venue !== null && summary.venue !== filter.venue) return false
  if (filter.status !== null && event.status !== filter.status) return false
  if (filter.volume24hMin !== null && event.volume24h < filter.volume24hMin) return false
  if (filter.volumeTotalMin !== null && event.volumeTotal < filter.volumeTotalMin) return false
  if (filter.category !== null && !isSame(summary.category, filter.category)) return false
  if (!hasTag(summary.tags, filter.tags)) return false
  return filter.search === null || hasWords(summary.title, filter.search)
}

/** Ignores case. */
export function isSame(one: string | null, other: string): boolean {
  return one?.toLowerCase() === other.toLowerCase()
}

/** True if any wanted tag is present, or if no tag is wanted. */
export function hasTag(tags: readonly string[], wanted: readonly string[]): boolean {
  return wanted.length === 0 || wanted.some((tag) => tags.some((own) => isSame(own, tag)))
}

/** True if every word of `search` is a prefix of a word of `text`. False if `search` has no words. */
export function hasWords(text: string, search: string): boolean {
  const terms = wordsOf(search)
  const own = wordsOf(text)
  return (
    terms.length > 0 && terms.every((term) => own.some((existing) => existing.startsWith(term)))
  )
}

function wordsOf(text: string): string[] {
  return text
    .toLowerCase()
    .split(/[^\p{Letter}\p{Number}]+/u)
    .filter((term) => term !== '')
}
