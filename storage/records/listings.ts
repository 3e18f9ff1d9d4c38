// Records of markets and events: their fields by schema version. `description` and `native` are separate records, so
// that startup reads only the small ones.

import {
  nativeEventId,
  nativeMarketId,
  type OutcomeId,
  outcomeId,
  VENUE_KEYS,
} from '../../engine/ids.ts'
import { FEES_UNKNOWN } from '../../engine/market/fees.ts'
import {
  MARKET_STATUSES,
  OTHER_PAYOUTS,
  type OutcomeListing,
  RESOLUTION_STATUSES,
} from '../../engine/market/market.ts'
import { priceMicros, sizeMicros, timeMs, usdMicros } from '../../engine/units.ts'
import type { EventSummary, ListingDetails, MarketSummary } from '../contract/storage.ts'
import type { Schemas } from '../lmdb/table.ts'
import { feeFields, readFees } from './fees.ts'
import type { FieldReader } from './records.ts'

/** Schema of the details, which stay on disk. */
export const DETAILS_SCHEMA = 1
/** Schema of an event's summary; 2 adds the number of markets among which the winner is. */
export const EVENT_SCHEMA = 2
/**
 * Schema of a market's summary. 2 adds fees; 3 the minimum order and other payouts; 4 the venue's statement of the
 * result; 5 the time of its figures, and volumes in the venue's own unit.
 */
export const MARKET_SCHEMA = 5

export function marketFields(market: MarketSummary): readonly unknown[] {
  const outcomes: string[] = []
  for (const outcome of market.outcomes) outcomes.push(outcome.label, outcome.id)
  return [
    market.venue,
    market.nativeId,
    market.slug,
    market.question,
    market.status,
    market.isUnopened,
    outcomes,
    market.event,
    market.eventSlug,
    market.category,
    market.tags,
    market.image,
    market.url,
    market.createdAtMs,
    market.openAtMs,
    market.closeAtMs,
    market.tickMicros,
    market.lastPrice,
    market.bestBid,
    market.bestAsk,
    market.volume24h,
    market.volumeTotal,
    market.openInterest,
    market.settlementPrice,
    ...feeFields(market.fees),
    market.orderSizeMin,
    market.otherPayout,
    market.resolutionStatus,
    market.settledAtMs,
    market.previousPrice,
    market.figuresAtMs,
    market.dayFiguresAtMs,
  ]
}

export const marketSchemas: Schemas<MarketSummary> = {
  1: (fields) => readMarket(fields, 1),
  2: (fields) => readMarket(fields, 2),
  3: (fields) => readMarket(fields, 3),
  4: (fields) => readMarket(fields, 4),
  5: (fields) => readMarket(fields, 5),
}

/** Fields of later schemas come last. One object literal, so that all summaries share one hidden class. */
function readMarket(fields: FieldReader, schema: number): MarketSummary {
  // Log items are read with the newest schema, but an item of an older engine ends earlier.
  const lacks = (since: number) => schema < since || fields.isAtEnd()
  return {
    venue: fields.choice(VENUE_KEYS),
    nativeId: nativeMarketId(fields.text()),
    slug: fields.text(),
    question: fields.text(),
    status: fields.choice(MARKET_STATUSES),
    isUnopened: fields.boolean(),
    outcomes: outcomes(fields.texts()),
    event: textOrNull(fields, nativeEventId),
    eventSlug: fields.textOrNull(),
    category: fields.textOrNull(),
    tags: fields.texts(),
    image: fields.textOrNull(),
    url: fields.textOrNull(),
    createdAtMs: fields.orNull(timeMs),
    openAtMs: fields.orNull(timeMs),
    closeAtMs: fields.orNull(timeMs),
    tickMicros: fields.orNull(priceMicros),
    lastPrice: fields.orNull(priceMicros),
    bestBid: fields.orNull(priceMicros),
    bestAsk: fields.orNull(priceMicros),
    volume24h: usdMicros(fields.number()),
    volumeTotal: fields.orNull(usdMicros),
    openInterest: fields.orNull(sizeMicros),
    settlementPrice: fields.orNull(priceMicros),
    fees: lacks(2) ? FEES_UNKNOWN : readFees(fields),
    orderSizeMin: lacks(3) ? null : fields.orNull(sizeMicros),
    otherPayout: lacks(3) ? null : fields.choiceOrNull(OTHER_PAYOUTS),
    resolutionStatus: lacks(4) ? null : fields.choiceOrNull(RESOLUTION_STATUSES),
    settledAtMs: lacks(4) ? null : fields.orNull(timeMs),
    previousPrice: lacks(5) ? null : fields.orNull(priceMicros),
    figuresAtMs: lacks(5) ? null : fields.orNull(timeMs),
    dayFiguresAtMs: lacks(5) ? null : fields.orNull(timeMs),
  }
}

export function eventFields(event: EventSummary): readonly unknown[] {
  return [
    event.venue,
    event.nativeId,
    event.slug,
    event.title,
    event.series,
    event.category,
    event.tags,
    event.image,
    event.startAtMs,
    event.endAtMs,
    event.isMutuallyExclusive,
    event.winnerAmong,
  ]
}

export const eventSchemas: Schemas<EventSummary> = {
  1: (fields) => readEvent(fields, () => null),
  2: (fields) => readEvent(fields, (last) => last.numberOrNull()),
}

/**
 * The winner count is the last field. One object literal: spreading into a second would give each event its own hidden
 * class of some 400 bytes.
 */
function readEvent(
  fields: FieldReader,
  winnerIn: (fields: FieldReader) => number | null,
): EventSummary {
  return {
    venue: fields.choice(VENUE_KEYS),
    nativeId: nativeEventId(fields.text()),
    slug: fields.text(),
    title: fields.text(),
    series: fields.textOrNull(),
    category: fields.textOrNull(),
    tags: fields.texts(),
    image: fields.textOrNull(),
    startAtMs: fields.orNull(timeMs),
    endAtMs: fields.orNull(timeMs),
    isMutuallyExclusive: fields.boolean(),
    winnerAmong: winnerIn(fields),
  }
}

export function detailsFields(details: ListingDetails): readonly unknown[] {
  return [details.description, details.native]
}

export const detailsSchemas: Schemas<ListingDetails> = {
  1: (fields) => ({ description: fields.textOrNull(), native: fields.json() }),
}

function outcomes(texts: readonly string[]): readonly OutcomeListing[] {
  const listings: { label: string; id: OutcomeId }[] = []
  for (let index = 0; index + 1 < texts.length; index += 2) {
    listings.push({ label: texts[index] ?? '', id: outcomeId(texts[index + 1] ?? '') })
  }
  return listings
}

function textOrNull<Id>(fields: FieldReader, brand: (text: string) => Id): Id | null {
  const text = fields.textOrNull()
  return text === null ? null : brand(text)
}
