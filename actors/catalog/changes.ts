// Detects changes in listings. Descriptions and native listings are compared by fingerprint, because storing all of
// them in memory is too expensive.

import { crc32 } from 'node:zlib'
import { isEqualFees } from '../../engine/market/fees.ts'
import {
  type EventListing,
  type MarketListing,
  type ReadListing,
  resolutionAfter,
} from '../../engine/market/market.ts'
import type { TimeMs } from '../../engine/units.ts'
import type { EventSummary, ListingDetails, MarketSummary } from '../../storage/contract/storage.ts'

/** Lists every field. A rest pattern would give each summary its own V8 hidden class. */
export function summaryOf(listing: MarketListing): MarketSummary {
  return {
    venue: listing.venue,
    nativeId: listing.nativeId,
    slug: listing.slug,
    question: listing.question,
    status: listing.status,
    isUnopened: listing.isUnopened,
    outcomes: listing.outcomes,
    event: listing.event,
    eventSlug: listing.eventSlug,
    category: listing.category,
    tags: listing.tags,
    image: listing.image,
    url: listing.url,
    createdAtMs: listing.createdAtMs,
    openAtMs: listing.openAtMs,
    closeAtMs: listing.closeAtMs,
    tickMicros: listing.tickMicros,
    lastPrice: listing.lastPrice,
    bestBid: listing.bestBid,
    bestAsk: listing.bestAsk,
    volume24h: listing.volume24h,
    volumeTotal: listing.volumeTotal,
    openInterest: listing.openInterest,
    settlementPrice: listing.settlementPrice,
    fees: listing.fees,
    orderSizeMin: listing.orderSizeMin,
    otherPayout: listing.otherPayout,
    resolutionStatus: listing.resolutionStatus,
    settledAtMs: listing.settledAtMs,
    previousPrice: listing.previousPrice,
    figuresAtMs: listing.figuresAtMs,
    dayFiguresAtMs: listing.dayFiguresAtMs,
  }
}

/** False if either change time is unknown. */
export function isOlder(changedAtMs: TimeMs | null, currentAtMs: TimeMs | null): boolean {
  return changedAtMs !== null && currentAtMs !== null && changedAtMs < currentAtMs
}

/** Missing fields of the listing keep their value. Resolution fields follow `resolutionAfter`. */
export function mergedSummary(before: MarketSummary, listing: ReadListing): MarketSummary {
  const summary = summaryOf({
    ...listing,
    openInterest: listing.openInterest ?? before.openInterest,
    volumeTotal: listing.volumeTotal ?? before.volumeTotal,
    lastPrice: listing.lastPrice ?? before.lastPrice,
    previousPrice: listing.previousPrice ?? before.previousPrice,
    createdAtMs: listing.createdAtMs ?? before.createdAtMs,
    openAtMs: listing.openAtMs ?? before.openAtMs,
    closeAtMs: listing.closeAtMs ?? before.closeAtMs,
    tickMicros: listing.tickMicros ?? before.tickMicros,
    ...resolutionAfter(before, listing),
    // Missing fees leave the known fees unchanged. Unreadable fees replace them.
    fees: listing.fees.now.source === null ? before.fees : listing.fees,
    orderSizeMin: listing.orderSizeMin ?? before.orderSizeMin,
    otherPayout: listing.otherPayout ?? before.otherPayout,
  })
  if (listing.lacksEvent !== true) return summary
  const { question, category, tags, image, closeAtMs } = before
  return { ...summary, question, category, tags, image, closeAtMs }
}

export function eventSummaryOf(listing: EventListing): EventSummary {
  return {
    venue: listing.venue,
    nativeId: listing.nativeId,
    slug: listing.slug,
    title: listing.title,
    series: listing.series,
    category: listing.category,
    tags: listing.tags,
    image: listing.image,
    startAtMs: listing.startAtMs,
    endAtMs: listing.endAtMs,
    isMutuallyExclusive: listing.isMutuallyExclusive,
    winnerAmong: listing.winnerAmong,
  }
}

/** Ignores the read times. Both summaries must have their keys in the same order. */
export function isEqualSummary(one: MarketSummary, other: MarketSummary): boolean {
  const { figuresAtMs, dayFiguresAtMs } = one
  return isEqualRecord(one, { ...other, figuresAtMs, dayFiguresAtMs })
}

/** Both records must have their keys in the same order. */
export function isEqualRecord(one: object, other: object): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

/** CRC-32 of the details. One change in about 4 billion is not detected. */
export function fingerprint({ description, native }: ListingDetails): number {
  return crc32(JSON.stringify([description, native]))
}

const LISTED_FIELDS = [
  'status',
  'isUnopened',
  'slug',
  'image',
  'url',
  'event',
  'eventSlug',
  'createdAtMs',
  'openAtMs',
  'closeAtMs',
  'tickMicros',
  'resolutionStatus',
  'settlementPrice',
  'orderSizeMin',
  'otherPayout',
] as const

export function isRelisted(before: MarketSummary, after: MarketSummary): boolean {
  return (
    LISTED_FIELDS.some((field) => before[field] !== after[field]) ||
    !isEqualFees(before.fees, after.fees) ||
    isReworded(before, after)
  )
}

export function hasLifecycleChange(before: MarketSummary, after: MarketSummary): boolean {
  return !(
    before.question === after.question &&
    before.closeAtMs === after.closeAtMs &&
    isEqualResolution(before, after) &&
    isEqualFees(before.fees, after.fees) &&
    hasEqualOutcomes(before, after)
  )
}

/** Treats "unknown" and "no result" as equal, because almost every market changes from one to the other. */
function isEqualResolution(before: MarketSummary, after: MarketSummary): boolean {
  const isFinal = after.status === 'resolved'
  return isFinal || (before.resolutionStatus ?? 'none') === (after.resolutionStatus ?? 'none')
}

export function isReworded(before: MarketSummary, after: MarketSummary): boolean {
  return !(
    before.question === after.question &&
    before.category === after.category &&
    before.event === after.event &&
    isEqualList(before.tags, after.tags) &&
    hasEqualOutcomes(before, after)
  )
}

function hasEqualOutcomes({ outcomes: before }: MarketSummary, after: MarketSummary): boolean {
  return (
    before.length === after.outcomes.length &&
    before.every(({ label, id }, index) => {
      const other = after.outcomes[index]
      return label === other?.label && id === other.id
    })
  )
}

function isEqualList(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index])
}
