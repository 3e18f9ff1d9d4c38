// One record of each stored kind, with a different value in every field. Data of older versions must decode to equal
// records.

import { nativeMarketId, outcomeId } from '../../../engine/ids.ts'
import { peakOf } from '../../../engine/opportunity.ts'
import { MICROS, priceMicros, sizeMicros, timeMs, usdMicros } from '../../../engine/units.ts'
import { webhookNumber } from '../../../engine/webhooks/webhook.ts'
import type { StoredMatch, StoredOverride } from '../../../storage/contract/matches.ts'
import type { Storage, TradeLoss, WhaleMarket } from '../../../storage/contract/storage.ts'
import type { StoredWalletMarket } from '../../../storage/contract/wallets.ts'
import { marketRef } from './builders.ts'
import { opportunity, pastOpportunity } from './opportunities.ts'
import {
  account,
  bar,
  checkpoint,
  eventListing,
  eventSummary,
  key,
  marketListing,
  marketSummary,
  NOON_MS,
  snapshot,
  trade,
  traded,
} from './stored.ts'
import { addressOf, storedWallet } from './stored-wallets.ts'
import { ALL_FILTERS, newDelivery, plain, webhook } from './stored-webhooks.ts'

export interface StoredKind {
  readonly name: string
  readonly put: (storage: Storage) => unknown
  readonly get: (storage: Storage) => unknown
  readonly wanted: unknown
}

const EVER = { fromMs: timeMs(0), toMs: timeMs(NOON_MS * 2), after: null, order: 'asc' } as const
const ALL = { ...EVER, limit: 100 } as const
const at = (seconds: number) => timeMs(NOON_MS + seconds * 1_000)
const HOUR = Math.floor(NOON_MS / 3_600_000)
const DAY = Math.floor(NOON_MS / 86_400_000)

const ACCOUNT = account('one', {
  ...{ tier: 'enterprise', requestsPerMinute: 123, socketsMax: 45, deliveriesPerSecond: 67 },
  ...{ isDisabled: true, tokenGeneration: 3, watchlist: ['venue_a_0x1', 'venue_b_KX-1'] },
})
const KEY = key('one', { scopes: ['read'], lastUsedAtMs: at(1) })
const ENDED = { tokenId: 'token-1', accountId: ACCOUNT.id, expiresAtMs: at(2) }
const WEBHOOK = webhook('one', {
  ...{ filters: ALL_FILTERS, description: 'mine', isActive: false, disabledReason: 'failing' },
  ...{ isVerified: false, previousSecrets: [{ secret: 'b2xk', untilMs: at(3) }] },
})
const VERDICT: StoredOverride = {
  on: 'pair',
  a: '0x1',
  b: 'KX-1',
  decision: 'rejected',
  atMs: at(4),
}
const MATCH: StoredMatch = {
  ...{ a: 1, b: 2, matchedAtMs: at(5), score: 97.5, relation: 'identical', inverted: true },
  ...{ outcomeMap: [1, 0], vetoes: ['other_date'], reasons: ['same game'], explanation: 'é' },
}
const MARKET = marketListing('one', {
  ...{ status: 'resolved', settlementPrice: priceMicros(1_000_000), resolutionStatus: 'resolved' },
  ...{ openAtMs: at(-9), settledAtMs: at(6), dayFiguresAtMs: at(7), bestAsk: priceMicros(420_000) },
  ...{ volumeTotal: usdMicros(77_000_000), orderSizeMin: sizeMicros(5_000_000), image: 'i' },
})
const EVENT = eventListing('one', { description: 'd', category: 'c', tags: ['t'], winnerAmong: 7 })
const TRADE = trade(`0x${'3'.repeat(64)}-777-0x${'2'.repeat(40)}-sell-100000000-585000-0`, {
  ...{ maker: `0x${'1'.repeat(40)}`, taker: `0x${'2'.repeat(40)}`, txHash: `0x${'3'.repeat(64)}` },
  ...{ side: 'sell', outcomeIndex: 1, isBlock: true, run: 1, offset: 5, seq: 6 },
})
const BAR = bar('minute', NOON_MS, { count: 9 })
const SNAPSHOT = snapshot(NOON_MS)
const TICKS = { seconds: [1, 3_599], prices: [priceMicros(1), priceMicros(999_999)] }
const PAST = { ...TICKS, readAtMs: at(8), completeToMs: at(9) }
const CHECKPOINT = checkpoint({ lastTradePrice: priceMicros(3), lastTradeMs: at(10) })
const LOSS: TradeLoss = {
  ...{ run: 1, offset: 5, venue: 'b', market: 2, fromMs: at(11), toMs: at(12), count: 13 },
}
const WHALE_MARKET: WhaleMarket = { number: 1, venue: 'a', nativeId: nativeMarketId('one') }
const WHALE = {
  ...TRADE,
  ...{
    outcome: 'No',
    question: 'q',
    slug: 's',
    eventSlug: 'e',
    category: 'c',
    wallet: '0xaa',
    fills: 4,
  },
}
const PAST_OPPORTUNITY = pastOpportunity(700, { category: 'c', closesAtMs: at(14) })
const MARKETS = [marketRef('a', 1), { ...marketRef('b', 2), venue: 'b' }] as const
const OPEN = opportunity(MARKETS)
const OPEN_STATE = { atMs: OPEN.openedAtMs, contracts: OPEN.contracts, profit: OPEN.profit }
const OPEN_OPPORTUNITY = {
  ...{ opened: OPEN_STATE, best: { ...OPEN_STATE, atMs: at(15) }, last: OPEN, isEnded: false },
  peak: peakOf(OPEN, null, OPEN.openedAtMs),
}
const WALLET = storedWallet(addressOf(1), {
  ...{ side: 1, lacking: 2, listedToMs: at(16) },
  hours: [
    {
      ...{ hour: HOUR, realized: usdMicros(-5), volume: usdMicros(6), trades: 7 },
      ...{ fees: usdMicros(8), income: usdMicros(9) },
    },
  ],
})
const BYTES = Uint8Array.from({ length: 300 }, (_, index) => index % 256)
const WALLET_MARKET: StoredWalletMarket = {
  ...{ question: 'q', slug: 's', eventSlug: 'e', labels: ['é😀', 'No'], isConverted: true },
  takerFee: { rateMicros: 30_000, exponent: 1, multiplierMicros: MICROS },
  ...{ nativeId: nativeMarketId('w'), payout: priceMicros(500_000), resolvedAtMs: at(17) },
  ...{
    group: [nativeMarketId('w'), nativeMarketId('v')],
    tokens: [outcomeId('y'), outcomeId('n')],
  },
}
const ONE = webhookNumber(1)
const DELIVERY_BODY = newDelivery('evt_1')
const ATTEMPT = {
  ...{ atMs: at(18), durationMs: 19, status: 500, error: 'status 500' },
  answer: { headers: [['server', 'one']] as const, body: Buffer.from('no'), isCut: true },
}

/** Records from which the expected records of older schemas are derived. */
export const STORED = {
  ...{ account: ACCOUNT, key: KEY, webhook: WEBHOOK, market: MARKET, event: EVENT, loss: LOSS },
  ...{ wallet: WALLET, walletMarket: WALLET_MARKET, whale: WHALE, whaleMarket: WHALE_MARKET },
} as const

/** All kinds, in an order in which the records can be stored. */
export const STORED_KINDS: readonly StoredKind[] = [
  {
    name: 'account',
    put: (storage) => storage.accounts.putAccount(ACCOUNT),
    get: (storage) => [...storage.accounts.accounts()],
    wanted: [ACCOUNT],
  },
  {
    name: 'key',
    put: (storage) => storage.accounts.putKey(KEY),
    get: (storage) => [...storage.accounts.keys()],
    wanted: [KEY],
  },
  {
    name: 'ended token',
    put: (storage) => storage.accounts.putEndedToken(ENDED),
    get: (storage) => [...storage.accounts.endedTokens()],
    wanted: [ENDED],
  },
  {
    name: 'webhook',
    put: (storage) => storage.webhooks.create(WEBHOOK),
    get: (storage) => [...storage.webhooks.all()],
    wanted: [{ ...WEBHOOK, number: 1 }],
  },
  {
    name: 'verdict',
    put: (storage) => storage.matchOverrides.put(VERDICT),
    get: (storage) => [...storage.matchOverrides.all()],
    wanted: [VERDICT],
  },
  {
    name: 'match',
    put: (storage) => storage.matches.put(MATCH),
    get: (storage) => [...storage.matches.all()],
    wanted: [MATCH],
  },
  {
    name: 'market',
    put: (storage) => storage.markets.put(MARKET),
    get: (storage) => [[...storage.markets.all()], storage.markets.details(1)],
    wanted: [
      [{ number: 1, summary: marketSummary(MARKET) }],
      { description: MARKET.description, native: MARKET.native },
    ],
  },
  {
    name: 'event',
    put: (storage) => storage.events.put(EVENT),
    get: (storage) => [[...storage.events.all()], storage.events.details('b', EVENT.nativeId)],
    wanted: [[eventSummary(EVENT)], { description: EVENT.description, native: EVENT.native }],
  },
  {
    name: 'run',
    put: (storage) => storage.runs.end(storage.runs.begin('epoch-1', at(20)).number, 5),
    get: (storage) => storage.runs.all(),
    wanted: [{ number: 1, epoch: 'epoch-1', startedAtMs: at(20), endOffset: 5 }],
  },
  {
    name: 'trade',
    put: (storage) => storage.trades.put(traded(1), TRADE),
    get: (storage) => [
      storage.trades.get(1, TRADE.nativeId),
      storage.trades.rangeByOffset({ run: 1, offset: 4, limit: 9 }),
      storage.trades.rangeOfVenue({ ...ALL, venue: 'a' }),
    ],
    wanted: [
      { ...TRADE, ordinal: 0 },
      [{ market: 1, trade: { ...TRADE, ordinal: 0 } }],
      [{ market: 1, trade: { ...TRADE, ordinal: 0 }, venueOrdinal: 0 }],
    ],
  },
  {
    name: 'bar',
    put: (storage) => storage.bars.put(1, 'minute', BAR),
    get: (storage) => storage.bars.get(1, 'minute', timeMs(NOON_MS)),
    wanted: BAR,
  },
  {
    name: 'book snapshot',
    put: (storage) => storage.snapshots.put(1, SNAPSHOT),
    get: (storage) => storage.snapshots.range({ ...ALL, market: 1 }),
    wanted: [SNAPSHOT],
  },
  {
    name: 'ticks',
    put: (storage) => storage.ticks.put(1, HOUR, TICKS),
    get: (storage) => storage.ticks.get(1, HOUR),
    wanted: TICKS,
  },
  {
    name: 'past prices',
    put: (storage) => storage.pastPrices.put(1, DAY, PAST),
    get: (storage) => storage.pastPrices.get(1, DAY),
    wanted: PAST,
  },
  {
    name: 'coverage',
    put: (storage) => storage.coverage.put('b', at(21), at(22)),
    get: (storage) => storage.coverage.at('b', at(22)),
    wanted: { fromMs: at(21), toMs: at(22) },
  },
  {
    name: 'checkpoint',
    put: (storage) => storage.checkpoints.put(1, CHECKPOINT),
    get: (storage) => storage.checkpoints.get(1),
    wanted: CHECKPOINT,
  },
  {
    name: 'loss',
    put: (storage) => storage.losses.put(LOSS),
    get: (storage) => storage.losses.range({ run: 1, offset: 0 }),
    wanted: [LOSS],
  },
  {
    name: 'whale',
    put: (storage) => storage.whales.put(WHALE_MARKET, WHALE),
    get: (storage) => [
      storage.whales.range(ALL),
      storage.whales.rangeByOffset({ run: 1, offset: 4, limit: 9 }).length,
      storage.whales.get(1, WHALE.nativeId)?.nativeId,
      storage.whales.rangeOfMarket({ ...ALL, market: 1 }).length,
    ],
    wanted: [
      [{ market: 1, venue: 'a', nativeMarket: 'one', whale: { ...WHALE, ordinal: 0 } }],
      ...[1, WHALE.nativeId, 1],
    ],
  },
  {
    name: 'past opportunity',
    put: (storage) => storage.opportunities.put(PAST_OPPORTUNITY),
    get: (storage) => storage.opportunities.range(ALL),
    wanted: [{ past: PAST_OPPORTUNITY, ordinal: 0 }],
  },
  {
    name: 'open opportunity',
    put: (storage) => storage.opportunities.putOpen(OPEN_OPPORTUNITY),
    get: (storage) =>
      storage.opportunities.takeOpen(
        (number) => MARKETS.find((market) => market.number === number) ?? null,
      ),
    wanted: [OPEN_OPPORTUNITY],
  },
  {
    name: 'delivery',
    put: (storage) => putDeliveries(storage),
    get: ({ outbox }) => [
      plain(outbox.get(ONE, 1)),
      outbox.numberOf(ONE, 'evt_2'),
      outbox.due({ webhook: ONE, attemptKind: 'first', after: null, limit: 9 }),
      outbox.state(ONE),
      outbox.lastPrice(ONE, 1),
    ],
    wanted: [
      {
        ...{ number: 1, eventId: 'evt_1', eventType: 'trade.created', createdAtMs: at(0) },
        ...{ status: 'exhausted', dueAtMs: null, attempts: 8, last: ATTEMPT },
        body: Buffer.from(DELIVERY_BODY.body).toString('hex'),
      },
      2,
      [{ dueAtMs: at(0), number: 2 }],
      {
        counts: { created: 7, delivered: 0, exhausted: 1, dropped: 5, pending: 1 },
        ...{ throttledCount: 5, pendingBytes: DELIVERY_BODY.body.length, failingSinceMs: at(23) },
      },
      priceMicros(123_456),
    ],
  },
  {
    name: 'wallet',
    put(storage) {
      storage.wallets.put(WALLET)
      storage.wallets.putOwner(addressOf(0xe0a), WALLET.proxy)
      storage.wallets.putBlock(WALLET.proxy, 0, BYTES)
      storage.wallets.putPnlState(WALLET.proxy, BYTES)
      storage.wallets.putMarket(WALLET_MARKET)
    },
    get: ({ wallets }) => [
      [...wallets.all()],
      wallets.proxyOf(addressOf(0xe0a)),
      wallets.block(WALLET.proxy, 0),
      wallets.pnlState(WALLET.proxy),
      wallets.market(WALLET_MARKET.nativeId),
    ],
    wanted: [[WALLET], WALLET.proxy, BYTES, BYTES, WALLET_MARKET],
  },
  {
    name: 'mark',
    put: (storage) => storage.marks.put('some mark', 42),
    get: (storage) => storage.marks.get('some mark'),
    wanted: 42,
  },
]

function putDeliveries({ outbox }: Storage): void {
  outbox.create(ONE, DELIVERY_BODY)
  outbox.create(ONE, newDelivery('evt_2'))
  const first = outbox.get(ONE, 1)
  if (first === null) throw new Error('the delivery was not stored')
  outbox.update(ONE, { ...first, status: 'exhausted', dueAtMs: null, attempts: 8, last: ATTEMPT })
  outbox.throttle(ONE, 5)
  outbox.putFailingSince(ONE, at(23))
  outbox.putLastPrice(ONE, 1, priceMicros(123_456))
}
