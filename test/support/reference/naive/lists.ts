// Reference implementation of actors/catalog/lists.ts.

import type {
  EventFilter,
  MarketFilter,
  MarketOrder,
  MarketView,
} from '../../../../actors/views.ts'
import type { EventListing } from '../../../../engine/market/market.ts'

const isEqual = (one: string | null, other: string) => one?.toLowerCase() === other.toLowerCase()

const hasTag = (tags: readonly string[], wanted: readonly string[]) =>
  wanted.length === 0 || wanted.some((tag) => tags.some((other) => isEqual(other, tag)))

/** Implements the filters as actors/views.ts documents them. */
function naivePasses({ ref, summary, ...market }: MarketFacts, filter: MarketFilter) {
  const phase = summary.isUnopened
    ? 'unopened'
    : ({ open: 'open', closed: 'closed', resolved: 'settled' } as const)[summary.status]
  const phases = {
    any: ['unopened', 'open', 'closed', 'settled'],
    ended: ['closed', 'settled'],
    listed: filter.status === 'closed' ? ['unopened', 'closed'] : ['open', 'closed', 'settled'],
  }
  const wanted = filter.phase ?? 'listed'
  const isInPhase =
    wanted === 'any' || wanted === 'ended' || wanted === 'listed'
      ? phases[wanted].includes(phase)
      : wanted === phase
  const { createdFromMs, createdToMs, volume24hMin, volumeTotalMin } = filter
  const isWithin = (value: number | null, least: number | null, most: number | null) =>
    (least === null && most === null) ||
    (value !== null && value >= (least ?? -Infinity) && value <= (most ?? Infinity))
  return (
    isInPhase &&
    (filter.venue === null || ref.venue === filter.venue) &&
    (filter.status === null || summary.status === filter.status) &&
    (filter.resolution === null || summary.resolutionStatus === filter.resolution) &&
    hasTag(summary.tags, filter.tags) &&
    (filter.category === null || isEqual(summary.category, filter.category)) &&
    (filter.eventSlug === null || isEqual(summary.eventSlug, filter.eventSlug)) &&
    isWithin(market.volume24h, volume24hMin, null) &&
    isWithin(market.volumeTotal, volumeTotalMin, null) &&
    isWithin(summary.createdAtMs, createdFromMs, createdToMs) &&
    (filter.among === null || filter.among.markets.includes(ref.number))
  )
}

type MarketFacts = Pick<MarketView, 'ref' | 'summary' | 'volume24h' | 'volumeTotal'>

/** Copies the current values of a view's getters. */
const factsOf = ({ ref, summary, volume24h, volumeTotal }: MarketView): MarketFacts => ({
  ref,
  summary,
  volume24h,
  volumeTotal,
})

/** Markets with an unknown key come last. Equal keys are ordered by number. */
export function naiveList(
  markets: Iterable<MarketView>,
  { filter, sortBy, order }: { filter: MarketFilter; sortBy: MarketOrder; order: 'asc' | 'desc' },
): number[] {
  const key = ({ summary, volume24h }: MarketFacts) => {
    if (sortBy === 'created_at') return summary.createdAtMs
    return sortBy === 'close_time' ? summary.closeAtMs : volume24h
  }
  return [...markets]
    .map(factsOf)
    .filter((market) => naivePasses(market, filter))
    .sort((one, two) => {
      const [left, right] = [key(one), key(two)]
      const byNumber = one.ref.number - two.ref.number
      if (left === null || right === null) {
        return left === right ? byNumber : left === null ? 1 : -1
      }
      return (order === 'asc' ? left - right : right - left) || byNumber
    })
    .map(({ ref }) => ref.number)
}

interface NaiveEvent {
  readonly id: string
  readonly status: string
  readonly marketCount: number
  readonly volume24h: number
  readonly volumeTotal: number
}

const textOf = (text: string) =>
  text
    .normalize('NFKD')
    .replace(/\p{Mark}/gu, '')
    .toLowerCase()
    .split(/[^\p{Letter}\p{Number}]+/u)
    .filter((term) => term !== '')

/** Events in order of volume. Events of equal volume have any order. */
export function naiveEvents(
  listings: Iterable<EventListing>,
  markets: Iterable<MarketView>,
  filter: EventFilter,
): NaiveEvent[] {
  const all = [...markets].map(factsOf)
  const found: NaiveEvent[] = []
  for (const event of listings) {
    const children = all.filter(
      ({ summary }) => summary.venue === event.venue && summary.event === event.nativeId,
    )
    if (children.length === 0) continue
    const statuses = children.map(({ summary }) => (summary.isUnopened ? 'closed' : summary.status))
    const status = statuses.includes('open')
      ? 'open'
      : statuses.every((one) => one === 'resolved')
        ? 'resolved'
        : 'closed'
    const volume24h = children.reduce((sum, one) => sum + one.volume24h, 0)
    const volumeTotal = children.reduce((sum, one) => sum + (one.volumeTotal ?? 0), 0)
    const titleWords = textOf(event.title)
    const searchWords = filter.search === null ? null : textOf(filter.search)
    const isTitled =
      searchWords === null ||
      (searchWords.length > 0 &&
        searchWords.every((term) =>
          titleWords.some((other) => (term.length < 2 ? other === term : other.startsWith(term))),
        ))
    const passes =
      isTitled &&
      (filter.venue === null || event.venue === filter.venue) &&
      (filter.status === null || status === filter.status) &&
      (filter.category === null || isEqual(event.category, filter.category)) &&
      hasTag(event.tags, filter.tags) &&
      volume24h >= (filter.volume24hMin ?? 0) &&
      volumeTotal >= (filter.volumeTotalMin ?? 0)
    if (!passes) continue
    const id = `${event.venue}:${event.nativeId}`
    found.push({ id, status, marketCount: children.length, volume24h, volumeTotal })
  }
  return found.sort((one, two) => two.volume24h - one.volume24h)
}
