// Table of event types. A new type needs a description and an entry in `EVENTS`.

import { type Static, Type } from '@sinclair/typebox'
import type { ArbitrageRefresh, ArbitrageUpdate, LifecycleEvent } from '../../../engine/events.ts'
import type { VenueKey } from '../../../engine/ids.ts'
import { whaleCloseMs } from '../../../engine/limits.ts'
import { CLOSE_REASONS } from '../../../engine/opportunity.ts'
import { MICROS, timeMs, usdMicros } from '../../../engine/units.ts'
import type { VenueTable } from '../../../engine/venue-table.ts'
import { dollars } from '../../../engine/webhooks/chat-message.ts'
import type { Happening } from '../../../engine/webhooks/event-type.ts'
import { MarketSchema } from '../../records/markets.ts'
import {
  EXAMPLE_OPPORTUNITY,
  OpportunitySchema,
  opportunityRecord,
} from '../../records/opportunities.ts'
import { lifecycleRecord, priceText, tradeText, whaleText } from '../../records/render.ts'
import { choice, EXAMPLE_IDS, nullable, pairFields, TradeSchema } from '../../schemas.ts'
import { EXAMPLE_LIFECYCLE, LifecycleSchema } from '../../ws/channels/lifecycle.ts'
import { StreamPriceSchema } from '../../ws/channels/prices.ts'
import { EXAMPLE_TRADE } from '../../ws/channels/trades.ts'
import { EXAMPLE_WHALE, WhaleSchema } from '../../ws/channels/whales.ts'
import {
  type ChatTexts,
  centsText,
  chatOf,
  type EventDescriptor,
  exampleOf,
  MARKET_FILTERS,
  PLAIN_HAPPENING,
  PLAIN_TYPE,
  TRADE_TYPE,
  tradeHappening,
} from './event-type.ts'

function tradeTexts(
  name: string,
  trade: Static<typeof TradeSchema> | Static<typeof WhaleSchema>,
): ChatTexts {
  const { taker_side: side, taker_outcome: outcome, taker_price: price, taker } = trade
  const { size, size_usd: usd, market_id: marketId } = trade
  const action = side === 'sell' ? 'sold' : 'bought'
  return {
    title: `${name}: ${dollars(usd)}, ${action} ${outcome} at ${centsText(price)}`,
    lines: [
      `${size.toLocaleString('en-US')} contracts`,
      ...(taker === null ? [] : [`Wallet ${taker}`]),
    ],
    ...{ marketId, usd },
  }
}

const tradeCreated: EventDescriptor = {
  ...TRADE_TYPE,
  name: 'trade.created',
  shortNames: ['trade', 'trade_created'],
  noun: 'trade',
  summary: 'A trade happened',
  updateKinds: ['trade'],
  needsFilter: true,
  happenings: (update) => (update.kind === 'trade' ? [tradeHappening(update, update.trade)] : []),
  data: () => TradeSchema,
  example: exampleOf(EXAMPLE_TRADE),
  chat: chatOf(TradeSchema, (trade) => tradeTexts('Trade', trade)),
  write(cause, { textsOf }) {
    if (cause.kind !== 'trade') return null
    const { market, trade } = cause
    return { timeMs: trade.timeMs, data: tradeText(trade, textsOf(market)) }
  },
}

/** Large trades. Webhooks without `min_usd` receive trades from 5,000 dollars on. */
const whaleAlert: EventDescriptor = {
  ...TRADE_TYPE,
  name: 'whale.alert',
  shortNames: ['whale', 'whale_alert'],
  noun: 'large trade',
  summary: 'A large trade happened, summed up over its fills',
  updateKinds: ['whale'],
  minUsdDefault: usdMicros(5_000_000_000),
  happenings(update) {
    if (update.kind !== 'whale') return []
    const { whale, receivedAtMs } = update
    const { eventSlug, category } = whale
    return [
      {
        ...tradeHappening(update, whale),
        labels: { eventSlug, category },
        // The delay of deliveries counts from this time, because a whale's fills are collected until then.
        originMs: timeMs(receivedAtMs + whaleCloseMs),
      },
    ]
  },
  data: () => WhaleSchema,
  example: exampleOf(EXAMPLE_WHALE),
  chat: chatOf(WhaleSchema, (whale) => tradeTexts('Large trade', whale)),
  write(cause, { textsOf }) {
    if (cause.kind !== 'whale') return null
    const { market, whale } = cause
    return { timeMs: whale.timeMs, data: whaleText(whale, textsOf(market)) }
  },
}

/** The new price, and the price last posted to the webhook. */
const PriceChangedSchema = Type.Object({
  market_id: Type.String(),
  platform: Type.String(),
  question: Type.String(),
  slug: Type.String(),
  event_slug: nullable(Type.String()),
  outcome: Type.String(),
  previous_price: StreamPriceSchema.properties.price,
  change: Type.Number({ minimum: -1, maximum: 1 }),
  timestamp_ms: Type.Integer(),
  ...StreamPriceSchema.properties,
})

const priceChanged: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'price.changed',
  shortNames: ['price', 'price_change', 'price_changed'],
  noun: 'price change',
  summary: 'A price moved away from the one last sent',
  filters: [...MARKET_FILTERS, 'min_change'],
  updateKinds: ['price'],
  comparesPrice: true,
  expires: 'unposted',
  happenings(update) {
    // A price without a source is a default of one half, which is not posted.
    if (update.kind !== 'price' || update.price.source === 'none') return []
    const { market, price, venueTimeMs, receivedAtMs } = update
    return [
      {
        ...PLAIN_HAPPENING,
        ...{ market, price: price.price, originMs: receivedAtMs },
        idParts: () => [String(venueTimeMs)],
      },
    ]
  },
  shapes: { PriceChangedSchema },
  data: () => PriceChangedSchema,
  example: exampleOf({
    market_id: `venue_a_${EXAMPLE_IDS.condition}`,
    platform: 'venue_a',
    question: 'Will it rain in Denver on Sunday?',
    slug: 'rain-denver-sunday',
    event_slug: 'denver-weather',
    outcome: 'Yes',
    previous_price: 0.365,
    change: 0.06,
    timestamp_ms: 1_763_700_000_000,
    price: 0.425,
    price_cents: 43,
    best_bid: 0.42,
    best_ask: 0.43,
    spread: 0.01,
    mid_price: 0.425,
    source: 'midpoint',
  }),
  chat: chatOf(PriceChangedSchema, ({ market_id, outcome, previous_price, price, change }) => ({
    title: `${outcome}: ${centsText(previous_price)} → ${centsText(price)} (${change < 0 ? '−' : '+'}${centsText(Math.abs(change))})`,
    lines: [],
    marketId: market_id,
    usd: 0,
  })),
  write(cause, { catalog }, base) {
    if (cause.kind !== 'price' || base === null) return null
    const { market, price, venueTimeMs } = cause
    const summary = catalog.byNumber(market.number)?.summary
    const facts = JSON.stringify({
      market_id: market.id,
      platform: market.platform,
      question: summary?.question ?? '',
      slug: summary?.slug ?? '',
      event_slug: summary?.eventSlug ?? null,
      outcome: summary?.outcomes[0]?.label ?? '',
      previous_price: base / MICROS,
      change: (price.price - base) / MICROS,
      timestamp_ms: venueTimeMs,
    })
    return { timeMs: venueTimeMs, data: `${facts.slice(0, -1)},${priceText(price).slice(1)}` }
  },
}

const RESOLUTIONS: ReadonlySet<LifecycleEvent> = new Set(['resolved', 'settled'])

const MarketResolvedSchema = Type.Object({
  market_id: Type.String(),
  ...LifecycleSchema.properties,
})

function resolvedText(first: string, second: string, price: number | null): string {
  if (price === 1) return first
  if (price === 0) return second
  return price === null ? 'payout not yet known' : `${first} pays ${centsText(price)}`
}

/** A resolved market. Posted again if its payout becomes known later or is corrected. */
const marketResolved: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'market.resolved',
  shortNames: ['resolved', 'market_resolved'],
  noun: 'resolution',
  summary: 'A market was resolved, or its settlement price became known after that',
  filters: MARKET_FILTERS,
  updateKinds: ['lifecycle'],
  happenings(update) {
    if (update.kind !== 'lifecycle' || !RESOLUTIONS.has(update.event)) return []
    const { market, facts, receivedAtMs } = update
    const idParts = () => [market.id, String(facts.settlementPrice ?? '')]
    return [{ ...PLAIN_HAPPENING, market, originMs: receivedAtMs, idParts }]
  },
  shapes: { MarketResolvedSchema },
  data: () => MarketResolvedSchema,
  example: exampleOf({ market_id: `venue_a_${EXAMPLE_IDS.condition}`, ...EXAMPLE_LIFECYCLE }),
  chat: chatOf(MarketResolvedSchema, ({ market_id, outcomes, settlement_price: price }) => ({
    title: `Resolved: ${resolvedText(outcomes[0] ?? 'Yes', outcomes[1] ?? 'No', price)}`,
    lines: [],
    marketId: market_id,
    usd: 0,
  })),
  write(cause) {
    if (cause.kind !== 'lifecycle') return null
    const data = { market_id: cause.market.id, ...lifecycleRecord(cause) }
    return { timeMs: cause.venueTimeMs, data: JSON.stringify(data) }
  },
}

/** The matched markets by venue; null for a market that has left the catalogue. */
const matchCreatedSchema = (names: VenueTable) =>
  Type.Object(pairFields(names, () => nullable(MarketSchema)))

const MatchTextsSchema = Type.Record(
  Type.String(),
  nullable(Type.Object({ id: Type.String(), question: Type.String() })),
)

const matchCreated: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'match.created',
  shortNames: ['match', 'match_created'],
  noun: 'match',
  summary: 'A market was found to ask the same as one on the other venue',
  filters: MARKET_FILTERS,
  updateKinds: ['lifecycle'],
  // The ids of both markets identify the event. A webhook for either market or both receives it once.
  happenings(update) {
    if (update.kind !== 'lifecycle' || update.event !== 'matched') return []
    const { market, matchedMarket, receivedAtMs } = update
    if (matchedMarket === null) return []
    const idParts = () => [market.id, matchedMarket.id].sort()
    return [market, matchedMarket].map((side) => {
      return { ...PLAIN_HAPPENING, market: side, originMs: receivedAtMs, idParts }
    })
  },
  data: matchCreatedSchema,
  example: ({ platforms }) =>
    Object.fromEntries(platforms.slice(0, 2).map((platform) => [platform, null])),
  chat: chatOf(MatchTextsSchema, (sides) => {
    const found = Object.entries(sides).flatMap(([platform, side]) =>
      side === null ? [] : [{ platform, ...side }],
    )
    return {
      title: 'The same question at two venues',
      lines: found.slice(1).map(({ platform, question }) => `${platform}: ${question}`),
      marketId: found[0]?.id ?? null,
      usd: 0,
    }
  }),
  write(cause, { catalog, recordOf }) {
    if (cause.kind !== 'lifecycle') return null
    const { market, matchedMarket, venueTimeMs } = cause
    const { names } = catalog
    // The event has one field for each venue of the pair.
    const isOfPair = (venue: VenueKey) => venue === market.venue || venue === matchedMarket?.venue
    const shown = matchedMarket === null ? names.keys : names.keys.filter(isOfPair)
    const fields = shown.map((venue) => {
      const side = market.venue === venue ? market : matchedMarket
      const record = side?.venue === venue ? recordOf(side) : 'null'
      return `${JSON.stringify(names.platform(venue))}:${record}`
    })
    return { timeMs: venueTimeMs, data: `{${fields.join(',')}}` }
  },
}

/** Defaults for `arbitrage.opened` and `arbitrage.closed`. */
const OPPORTUNITY_TYPE = {
  ...PLAIN_TYPE,
  filters: [...MARKET_FILTERS, 'min_profit_usd', 'min_edge', 'min_age_ms'],
  updateKinds: ['arbitrage'],
} as const

function opportunityTexts(opportunity: Static<typeof OpportunitySchema>, name: string): ChatTexts {
  const { legs, profit_usd: profit, cost_usd: cost, fees_usd: fees } = opportunity
  return {
    title: `${name}: ${dollars(profit)} profit after fees`,
    lines: [
      ...legs.map(
        ({ platform, side, outcome, contracts, avg_price: price, fee_usd: fee }) =>
          `${platform}: ${side} ${contracts} × ${outcome} at ${centsText(price)}, fee ${dollars(fee)}`,
      ),
      `Cost ${dollars(cost)}, fees ${dollars(fees)}`,
    ],
    marketId: legs[0]?.market_id ?? null,
    usd: profit,
  }
}

/** The id of the opportunity identifies the event. A webhook for several of its markets receives it once. */
function opportunityHappenings(
  { opportunity, receivedAtMs, peak }: ArbitrageRefresh,
  previousPeak: ArbitrageUpdate['previousPeak'],
): readonly Happening[] {
  const idParts = () => [opportunity.id]
  return opportunity.legs.map(({ market }) => ({
    ...PLAIN_HAPPENING,
    market,
    originMs: receivedAtMs,
    peak,
    previousPeak,
    idParts,
  }))
}

const arbitrageOpened: EventDescriptor = {
  ...OPPORTUNITY_TYPE,
  name: 'arbitrage.opened',
  shortNames: ['arbitrage', 'arbitrage_opened'],
  noun: 'arbitrage opportunity',
  summary: 'Outcomes can be bought together at a profit, after depth and fees',
  expires: 'unposted',
  happenings(update) {
    if (update.kind !== 'arbitrage' || update.event === 'closed') return []
    return opportunityHappenings(update, update.previousPeak)
  },
  shapes: { OpportunitySchema },
  data: () => OpportunitySchema,
  example: exampleOf(EXAMPLE_OPPORTUNITY),
  chat: chatOf(OpportunitySchema, (opportunity) => opportunityTexts(opportunity, 'Arbitrage')),
  write(cause) {
    if (cause.kind !== 'arbitrage') return null
    const { opportunity, receivedAtMs } = cause
    const record = opportunityRecord(opportunity, receivedAtMs, { hasLevels: false })
    return { timeMs: opportunity.openedAtMs, data: JSON.stringify(record) }
  },
}

const ClosedOpportunitySchema = Type.Object({
  close_reason: choice(CLOSE_REASONS),
  ...OpportunitySchema.properties,
})

const arbitrageClosed: EventDescriptor = {
  ...OPPORTUNITY_TYPE,
  name: 'arbitrage.closed',
  shortNames: ['arbitrage_closed'],
  noun: 'ended opportunity',
  summary: 'An opportunity ended',
  happenings(update) {
    if (update.kind !== 'arbitrage' || update.event !== 'closed') return []
    return opportunityHappenings(update, null)
  },
  shapes: { ClosedOpportunitySchema },
  data: () => ClosedOpportunitySchema,
  example: exampleOf({ close_reason: 'prices', ...EXAMPLE_OPPORTUNITY }),
  chat: chatOf(ClosedOpportunitySchema, (opportunity) =>
    opportunityTexts(opportunity, `Arbitrage ended (${opportunity.close_reason})`),
  ),
  write(cause) {
    if (cause.kind !== 'arbitrage') return null
    const { opportunity, reason, receivedAtMs } = cause
    const record = opportunityRecord(opportunity, receivedAtMs, { hasLevels: false })
    return { timeMs: receivedAtMs, data: JSON.stringify({ close_reason: reason, ...record }) }
  },
}

const WebhookTestSchema = Type.Object({ webhook_id: Type.String(), message: Type.String() })

const MESSAGE = 'This is a test: the webhook works.'

const webhookTest: EventDescriptor = {
  ...PLAIN_TYPE,
  name: 'webhook.test',
  shortNames: ['test', 'webhook_test'],
  noun: 'test',
  summary: 'A test was asked for',
  filters: [],
  updateKinds: [],
  isManual: true,
  happenings: () => [],
  shapes: { WebhookTestSchema },
  data: () => WebhookTestSchema,
  example: () => ({ webhook_id: 'wh_1b2c', message: MESSAGE }),
  chat: chatOf(WebhookTestSchema, ({ message }) => ({
    ...{ title: message, lines: [], marketId: null, usd: 0 },
  })),
  write(cause) {
    if (cause.kind !== 'test') return null
    const { webhook, timeMs } = cause
    return { timeMs, data: JSON.stringify({ webhook_id: webhook, message: MESSAGE }) }
  },
}

/** In the order of the documents. */
export const EVENTS: readonly EventDescriptor[] = [
  tradeCreated,
  whaleAlert,
  priceChanged,
  marketResolved,
  matchCreated,
  arbitrageOpened,
  arbitrageClosed,
  webhookTest,
]

export const EVENT_TYPES: readonly string[] = EVENTS.map(({ name }) => name)
