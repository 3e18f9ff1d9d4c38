// Records of markets and events. `description` and `native` are separate records, so that a start reads only small
// records.

import {
  as,
  boolean,
  choice,
  flat,
  json,
  list,
  number,
  orNull,
  price,
  record,
  sharedText,
  since,
  size,
  text,
  time,
  usd,
} from '../../engine/codec.ts'
import { nativeEventId, nativeMarketId, outcomeId, VENUE_KEYS } from '../../engine/ids.ts'
import { FEES_UNKNOWN } from '../../engine/market/fees.ts'
import {
  MARKET_SCHEMA,
  MARKET_STATUSES,
  OTHER_PAYOUTS,
  type OutcomeListing,
  RESOLUTION_STATUSES,
} from '../../engine/market/market.ts'
import type { EventSummary, ListingDetails, MarketSummary } from '../contract/rows.ts'
import { fees } from './fees.ts'
import { listed } from './records.ts'

export const venue = choice(VENUE_KEYS)
export const marketId = as(text, nativeMarketId)
export const outcomes = flat(record<OutcomeListing>({ label: sharedText, id: as(text, outcomeId) }))

export const market = record<MarketSummary>({
  venue,
  nativeId: marketId,
  slug: text,
  question: text,
  status: choice(MARKET_STATUSES),
  isUnopened: boolean,
  outcomes,
  event: orNull(as(sharedText, nativeEventId)),
  eventSlug: orNull(sharedText),
  category: orNull(sharedText),
  tags: list(sharedText),
  image: orNull(sharedText),
  url: orNull(text),
  createdAtMs: orNull(time),
  openAtMs: orNull(time),
  closeAtMs: orNull(time),
  tickMicros: orNull(price),
  lastPrice: orNull(price),
  bestBid: orNull(price),
  bestAsk: orNull(price),
  volume24h: usd,
  volumeTotal: orNull(usd),
  openInterest: orNull(size),
  settlementPrice: orNull(price),
  fees: since(2, fees, FEES_UNKNOWN),
  orderSizeMin: since(3, orNull(size), null),
  otherPayout: since(3, orNull(choice(OTHER_PAYOUTS)), null),
  resolutionStatus: since(4, orNull(choice(RESOLUTION_STATUSES)), null),
  settledAtMs: since(4, orNull(time), null),
  previousPrice: since(5, orNull(price), null),
  figuresAtMs: since(5, orNull(time), null),
  dayFiguresAtMs: since(5, orNull(time), null),
})
export const marketCodec = listed(MARKET_SCHEMA, market)

export const event = record<EventSummary>({
  venue,
  nativeId: as(text, nativeEventId),
  slug: text,
  title: text,
  series: orNull(sharedText),
  category: orNull(sharedText),
  tags: list(sharedText),
  image: orNull(text),
  startAtMs: orNull(time),
  endAtMs: orNull(time),
  isMutuallyExclusive: boolean,
  winnerAmong: since(2, orNull(number), null),
})
export const eventCodec = listed(2, event)

export const detailsCodec = listed(
  1,
  record<ListingDetails>({ description: orNull(text), native: json }),
)
