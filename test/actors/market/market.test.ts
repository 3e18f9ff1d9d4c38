import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MarketActor } from '../../../actors/market/market.ts'
import type { MarketView } from '../../../actors/views.ts'
import type { BookUpdate, MarketStatusEvent, TradeEvent, Update } from '../../../engine/events.ts'
import { outcomeId } from '../../../engine/ids.ts'
import { marketIdleMsMax, messageAgeMsMax } from '../../../engine/limits.ts'
import { barStart } from '../../../engine/market/candle.ts'
import { FEES_UNKNOWN } from '../../../engine/market/fees.ts'
import { seededRandom } from '../../../engine/random.ts'
import { partId } from '../../../engine/trade-parts.ts'
import {
  HOUR_MS,
  priceMicros,
  sizeMicros,
  type TimeMs,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import { mapMessage } from '../../../engine/venues/kalshi/map.ts'
import { parseFrame } from '../../../engine/venues/kalshi/parse.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import { NaiveBook } from '../../support/reference/naive/book.ts'
import {
  ask,
  bid,
  change,
  level,
  type listing,
  NOON,
  recordingPublisher,
  snapshot,
  storedMarket,
  trade,
} from '../../support/worlds/builders.ts'
import { SOME_FEES } from '../../support/worlds/stored.ts'

function openMarket(set: Parameters<typeof listing>[1] = {}, storage = openMemoryStorage()) {
  const { publisher, updates } = recordingPublisher()
  const market = storedMarket({ publisher, storage }, set)
  return { ...market, actor: market.open(), publisher, updates, storage }
}

const books = (updates: readonly Update[]) =>
  updates.filter((update): update is BookUpdate => update.kind === 'book')

test('ignores a book change that arrives before the first snapshot', () => {
  const { actor, updates, ignored } = openMarket()
  actor.receive(change('m', [bid(0.4, 10)]))
  assert.equal(updates.length, 0)
  assert.deepEqual(ignored, ['book_change_before_snapshot'])
  assert.equal(actor.book().isStale, true)
})

test('publishes the first snapshot of a book as a replacement without a seq, and later changes as updates', () => {
  const { actor, updates } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  actor.receive(change('m', [bid(0.4, 12)]))
  const replaced = updates.find((update) => update.kind === 'bookReplaced')
  assert.equal(replaced?.kind === 'bookReplaced' && replaced.seq, 0)
  assert.deepEqual(
    books(updates).map((update) => update.seq),
    [1],
  )
  assert.equal(actor.book().seq, 1)
  assert.equal(actor.book().isStale, false)
})

test('publishes the differences when a snapshot of a live book arrives, and nothing when the book is unchanged', () => {
  const { actor, updates } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10), level(0.39, 1)], [level(0.42, 5)]))
  actor.receive(snapshot('m', [level(0.4, 10), level(0.39, 1)], [level(0.42, 5)]))
  assert.equal(books(updates).length, 0)
  actor.receive(snapshot('m', [level(0.4, 11)], [level(0.42, 5)]))
  assert.deepEqual(books(updates)[0]?.changes, [bid(0.39, 0), bid(0.4, 11)])
})

test('marks a book stale and requests a snapshot after a crossed book or a contradictory change', () => {
  const top = { bid: priceMicros(400_000), ask: priceMicros(410_000) }
  const doubtful = [
    change('m', [bid(0.43, 1)]),
    change('m', [ask(0.43, 1)], { top }),
    change('m', [bid(0.4, -20)], { mode: 'difference' }),
  ]
  for (const event of doubtful) {
    const { actor, resyncs, updates } = openMarket()
    actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
    actor.receive(event)
    assert.equal(resyncs.length, 1)
    assert.equal(actor.book().isStale, true)
    actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
    assert.equal(actor.book().isStale, false)
    const last = updates.findLast((update) => update.kind === 'bookReplaced')
    assert.equal(last?.kind === 'bookReplaced' && last.reason, 'venue_gap')
  }
})

test('marks a live book stale and requests a second snapshot when the venue’s snapshot is crossed', () => {
  const { actor, resyncs, updates } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  actor.receive(snapshot('m', [level(0.45, 10)], [level(0.42, 5)]))
  assert.equal(actor.book().isStale, true)
  assert.deepEqual(resyncs, ['crossed_snapshot'])
  assert.equal(updates.filter(({ kind }) => kind === 'bookStale').length, 1)
})

test('stores and publishes a trade once when both the stream and a back-fill deliver it', () => {
  const { actor, updates, ignored } = openMarket()
  actor.receive(trade('m', 't1'))
  actor.receive(trade('m', 't1', { source: 'backfill' }))
  assert.equal(updates.filter((update) => update.kind === 'trade').length, 1)
  assert.deepEqual(ignored, ['trade_duplicate'])
})

test('stores and publishes a block trade with its flag, and changes neither the price nor the bars', () => {
  const { actor, updates, storage } = openMarket()
  actor.receive(trade('m', 't1', { price: priceMicros(400_000) }))
  const toldBefore = updates.filter(({ kind }) => kind === 'price').length
  const bar = () => storage.bars.get(actor.ref.number, 'hour', barStart(NOON, HOUR_MS))
  const barBefore = bar()
  const block = { isBlock: true, price: priceMicros(990_000) }
  actor.receive(trade('m', 'x1', block))
  actor.receive(trade('m', 'x2', { ...block, source: 'backfill' }))
  actor.receive(trade('m', 'x3', { ...block, source: 'history' }))
  assert.equal(updates.filter(({ kind }) => kind === 'price').length, toldBefore)
  assert.deepEqual([bar(), bar()?.count], [barBefore, 1])
  const notified = updates.flatMap((update) => (update.kind === 'trade' ? [update.trade] : []))
  assert.deepEqual(
    notified.map(({ nativeId, isBlock }) => [nativeId, isBlock]),
    [
      ['t1', false],
      ['x1', true],
      ['x2', true],
    ],
  )
  assert.equal(storage.trades.get(actor.ref.number, 'x3')?.isBlock, true)
})

test('converts a trade that buys 100 No at 0.30 to a trade that sells 100 Yes at 0.70 for 30 dollars', () => {
  const { actor } = openMarket()
  actor.receive(
    trade('m', 't1', {
      outcome: outcomeId('m-no'),
      price: priceMicros(300_000),
      size: sizeMicros(100_000_000),
    }),
  )
  const query = {
    fromMs: timeMs(0),
    toMs: NOON,
    after: null,
    order: 'desc',
    limit: 10,
  } as const
  const [row] = actor.trades(query)
  assert.equal(row?.price, 700_000)
  assert.equal(row?.side, 'sell')
  assert.equal(row?.usd, 30_000_000)
  assert.equal(row?.outcomeIndex, 1)
})

test('records a transaction’s second wallet as the maker when the first is the taker, and no maker when there are more wallets', () => {
  const { actor, storage } = openMarket()
  const participant = (wallet: string) =>
    actor.receive({
      kind: 'tradeParticipant',
      venue: 'a',
      outcome: outcomeId('m-yes'),
      txHash: '0xt1',
      wallet,
      venueTimeMs: NOON,
      receivedAtMs: NOON,
    })
  participant('0xmaker')
  actor.receive(trade('m', 't1'))
  participant('0xtaker')
  assert.equal(storage.trades.get(actor.ref.number, 't1')?.maker, '0xmaker')
  participant('0xother')
  assert.equal(storage.trades.get(actor.ref.number, 't1')?.maker, null)
})

test('waits two minutes for a transaction’s wallets, and evicts two waiting transactions for each transaction that it adds', () => {
  const { actor, storage } = openMarket()
  const participant = (txHash: string, receivedAtMs: TimeMs) =>
    actor.receive({
      ...{ kind: 'tradeParticipant', venue: 'a', outcome: outcomeId('m-yes'), txHash },
      ...{ wallet: '0xmaker', venueTimeMs: NOON, receivedAtMs },
    })
  const soon = timeMs(NOON + 120_000)
  const late = timeMs(NOON + 120_001)
  for (const id of ['1', '2', '3']) actor.receive(trade('m', id))
  actor.receive(trade('m', '4', { receivedAtMs: soon }))
  participant('0x1', soon)
  actor.receive(trade('m', '5', { receivedAtMs: late }))
  for (const tx of ['0x2', '0x3', '0x4']) participant(tx, late)
  const makers = ['1', '2', '3', '4'].map((id) => storage.trades.get(actor.ref.number, id)?.maker)
  assert.deepEqual(makers, ['0xmaker', null, null, '0xmaker'])
})

test('adds wallets to the partial fills of a transaction when the wallets arrive later, even after a restart', () => {
  const storage = openMemoryStorage()
  const part = (tx: string, n: number, contracts: number) =>
    trade('m', partId(tx, n), { txHash: tx, taker: null, size: sizeMicros(contracts * 1e6) })
  const complete = (tx: string, contracts: number) =>
    trade('m', `${tx}-id-0`, { txHash: tx, size: sizeMicros(contracts * 1e6) })
  const query = { fromMs: timeMs(0), toMs: NOON, after: null, order: 'asc', limit: 10 } as const
  const first = openMarket({}, storage)
  first.actor.receive(part('0x1', 0, 10))
  first.actor.receive(part('0x1', 1, 5))
  first.actor.receive(part('0x2', 0, 10))
  first.actor.receive(complete('0x1', 15))
  const second = openMarket({}, storage)
  second.actor.receive(complete('0x2', 12))
  second.actor.receive(complete('0x2', 12))
  second.actor.receive(complete('0x3', 4))
  const third = openMarket({}, storage)
  third.actor.receive(part('0x3', 0, 4))
  third.actor.receive(part('0x1', 2, 5))
  assert.deepEqual(
    third.actor.trades(query).map(({ nativeId, size, taker }) => [nativeId, size / 1e6, taker]),
    [
      ['0x1-part-0', 10, '0xtaker'],
      ['0x1-part-1', 5, '0xtaker'],
      ['0x2-part-0', 10, '0xtaker'],
      ['0x2-part-1', 2, '0xtaker'],
      ['0x3-id-0', 4, '0xtaker'],
    ],
  )
  assert.deepEqual(third.ignored, ['trade_of_known_transaction', 'trade_of_known_transaction'])
})

test('stores a transaction once when it arrives as single fills and as one averaged row, even after a restart', () => {
  const storage = openMemoryStorage()
  const fillsOf = (tx: string) =>
    [
      [3, 0.5],
      [7, 0.51],
    ].map(([contracts = 0, price = 0]) =>
      trade('m', `${tx}-${contracts}-${price}-0`, {
        ...{ txHash: tx, size: sizeMicros(contracts * 1e6), price: priceMicros(price * 1e6) },
        rowSize: sizeMicros(10e6),
      }),
    )
  const rowOf = (tx: string, set: Partial<TradeEvent> = {}) =>
    trade('m', `${tx}-10-0.507-0`, {
      ...{ txHash: tx, size: sizeMicros(10e6), price: priceMicros(507_000), source: 'backfill' },
      ...{ rowSize: sizeMicros(10e6), ...set },
    })
  const first = openMarket({}, storage)
  for (const fill of fillsOf('0xfills')) first.actor.receive(fill)
  first.actor.receive(rowOf('0xrow'))
  first.actor.receive(fillsOf('0xcut')[0] ?? rowOf('0xcut'))
  const second = openMarket({}, storage)
  second.actor.receive(rowOf('0xfills', { venueTimeMs: timeMs(NOON + 9_000) }))
  second.actor.receive(rowOf('0xrow', { nativeId: '0xrow-10-0.507001-0' }))
  second.actor.receive(rowOf('0xcut'))
  for (const fill of fillsOf('0xrow')) second.actor.receive({ ...fill, source: 'backfill' })
  const twice = { nativeId: '0xrow-10-0.507-1', rowSize: sizeMicros(20e6) }
  second.actor.receive(rowOf('0xrow', twice))
  const query = { fromMs: timeMs(0), toMs: NOON, after: null, order: 'asc', limit: 20 } as const
  assert.deepEqual(
    second.actor.trades(query).map(({ txHash, size, price }) => [txHash, size / 1e6, price]),
    [
      ['0xfills', 3, 500_000],
      ['0xfills', 7, 510_000],
      ['0xrow', 10, 507_000],
      ['0xcut', 3, 500_000],
      ['0xcut', 7, 510_000],
      ['0xrow', 10, 507_000],
    ],
    'the missing fills are added at their own price; a second equal row is a second trade',
  )
})

test('publishes the price when the price, its source or the best levels change, and at no other time', () => {
  const { actor, updates } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  actor.receive(change('m', [bid(0.4, 20)]))
  actor.receive(change('m', [bid(0.41, 1)]))
  const prices = updates.flatMap((update) => (update.kind === 'price' ? [update.price] : []))
  assert.deepEqual(
    prices.map(({ price }) => price),
    [410_000, 415_000],
  )
  assert.deepEqual(
    prices.map(({ source }) => source),
    ['midpoint', 'midpoint'],
  )
})

test('restores a market’s book, trades and price after the market released its memory', () => {
  const { actor } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  for (let index = 0; index < 300; index += 1) actor.receive(trade('m', `t${index}`))
  const query = {
    fromMs: timeMs(0),
    toMs: NOON,
    after: null,
    order: 'desc',
    limit: 500,
  } as const
  const seen = () => [actor.book(), actor.price(), actor.trades(query)]
  const before = seen()
  actor.tick(timeMs(NOON + marketIdleMsMax))
  assert.deepEqual(seen(), before)
  actor.receive(change('m', [bid(0.4, 3)]))
  assert.equal(actor.book().bids[0]?.size, 3_000_000)
})

test('returns the last stored book as stale after a restart until the first snapshot arrives', () => {
  const { actor, open } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  actor.checkpoint(timeMs(NOON + 1_000))
  const again = open()
  assert.equal(again.book().isStale, true)
  assert.deepEqual(again.book().bids, [level(0.4, 10)])
  assert.equal(again.book().receivedAtMs, NOON + 1_000, 'the book has the time of its checkpoint')
  assert.equal(again.bookConfirmedAtMs, NOON + 1_000)
  assert.equal(again.price().price, 410_000)
})

test('retains a market’s best levels and price when a message fails and the actor restarts', () => {
  const { actor, updates, resyncs } = openMarket()
  const book = snapshot('m', [level(0.4, 10)], [level(0.42, 5)])
  actor.receive(book)
  actor.restart()
  assert.equal(actor.price().price, 410_000)
  assert.deepEqual(resyncs, ['actor_restarted'])
  updates.length = 0
  actor.receive(book)
  assert.deepEqual(
    updates.map(({ kind }) => kind),
    ['bookConfirmed', 'price'],
  )
})

test('requests missed trades when a full mailbox drops a trade, and requests no trades when the mailbox drops a book change', () => {
  const { actor, losses, resyncs } = openMarket()
  actor.onOverflow(change('m', [bid(0.4, 12)]))
  actor.onOverflow(trade('m', 't1', { venueTimeMs: timeMs(NOON - 3_000) }))
  assert.deepEqual(losses, [NOON - 3_000])
  assert.deepEqual(resyncs, ['mailbox_full', 'mailbox_full'])
})

test('restores the price from the newest stored trade after a restart, ignoring block trades and trades that arrived late', () => {
  const { actor, open } = openMarket()
  actor.receive(trade('m', 't1', { price: priceMicros(400_000) }))
  actor.checkpoint(timeMs(NOON + 1_000))
  actor.receive(trade('m', 't2', { price: priceMicros(500_000) }))
  actor.receive(trade('m', 't3', { price: priceMicros(900_000), isBlock: true }))
  assert.equal(actor.price().price, 500_000)
  assert.deepEqual([open().price().price, open().price().source], [500_000, 'last_trade'])
  const filled = open()
  const older = timeMs(NOON - 60_000)
  filled.receive(trade('m', 't0', { price: priceMicros(100_000), venueTimeMs: older }))
  assert.equal(
    filled.price().price,
    500_000,
    'an older trade that arrives later does not change the price',
  )
})

test('publishes the first price after a restart even if it equals the price of the last checkpoint', () => {
  const { actor, open, updates } = openMarket()
  const book = snapshot('m', [level(0.4, 10)], [level(0.42, 5)])
  actor.receive(book)
  actor.checkpoint(timeMs(NOON + 1_000))
  actor.receive(snapshot('m', [level(0.5, 10)], [level(0.52, 5)]))
  const again = open()
  assert.equal(again.price().price, 410_000)
  again.receive(book)
  again.receive(book)
  const prices = updates.flatMap((update) => (update.kind === 'price' ? [update.price.price] : []))
  assert.deepEqual(prices, [410_000, 510_000, 410_000])
})

test('publishes a price change caused by a listing or a past trade while the market has no book', () => {
  const quoted = { bestBid: priceMicros(400_000), bestAsk: priceMicros(420_000) }
  const { actor, updates } = openMarket(quoted)
  const prices = () => updates.flatMap((one) => (one.kind === 'price' ? [one.price.price] : []))
  const list = (bestBid: number, bestAsk: number, lastPrice: number) => {
    const figures = { bestBid: priceMicros(bestBid), bestAsk: priceMicros(bestAsk) }
    const summary = { ...actor.summary, ...figures, lastPrice: priceMicros(lastPrice) }
    actor.receive({ kind: 'summary', summary })
  }
  assert.equal(actor.price().price, 410_000)
  list(500_000, 520_000, 450_000)
  assert.deepEqual(prices(), [actor.price().price])
  assert.equal(actor.price().price, 510_000)
  list(500_000, 520_000, 460_000)
  assert.deepEqual(prices(), [510_000])
  list(100_000, 900_000, 470_000)
  assert.deepEqual(prices(), [510_000, 470_000])
  actor.receive(trade('m', 't1', { source: 'history', price: priceMicros(480_000) }))
  assert.deepEqual(prices(), [510_000, 470_000, 480_000])
  assert.equal(actor.price().price, 480_000)
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  list(600_000, 620_000, 610_000)
  actor.receive(trade('m', 't2', { source: 'history', price: priceMicros(490_000) }))
  assert.deepEqual(prices(), [510_000, 470_000, 480_000, 410_000])
  assert.equal(actor.price().price, 410_000)
})

test('publishes each maker of a transaction when the maker becomes known, with the wallets that were known before', () => {
  const { actor, publisher } = openMarket()
  const seen: unknown[] = []
  publisher.watch({
    name: 'test',
    onUpdate: () => undefined,
    onCompletedTrade: (_, { nativeId, maker }, { wallet, previousWallets: existing, role }) =>
      seen.push([nativeId, maker, role, wallet, ...existing]),
  })
  const participant = (wallet: string) =>
    actor.receive({
      ...{ kind: 'tradeParticipant', venue: 'a', outcome: outcomeId('m-yes'), txHash: '0xt1' },
      ...{ wallet, venueTimeMs: NOON, receivedAtMs: NOON },
    })
  participant('0xone')
  actor.receive(trade('m', 't1'))
  participant('0xtaker')
  participant('0xone')
  participant('0xother')
  assert.deepEqual(seen, [
    ['t1', '0xone', 'maker', '0xone', '0xtaker'],
    ['t1', null, 'maker', '0xother', '0xtaker', '0xone'],
  ])
})

test('changes the market status from open to closed to resolved, and never changes the status resolved', () => {
  const { actor, updates, ignored } = openMarket()
  const status = (to: 'open' | 'closed' | 'resolved') =>
    actor.receive({
      kind: 'marketStatus',
      venue: 'a',
      market: actor.ref.nativeId,
      status: to,
      settlementPrice: to === 'resolved' ? priceMicros(1_000_000) : null,
      venueTimeMs: NOON,
      receivedAtMs: NOON,
    })
  for (const to of ['closed', 'open', 'closed', 'resolved', 'open'] as const) status(to)
  const notified = updates.flatMap((update) => (update.kind === 'lifecycle' ? [update.event] : []))
  assert.deepEqual(notified, ['closed', 'opened', 'closed', 'resolved'])
  assert.deepEqual(ignored, ['status_out_of_order'])
  assert.deepEqual([actor.price().price, actor.price().source], [1_000_000, 'settlement'])
})

test('publishes a changed question, close time, outcomes or fees of a market once, and ignores other changes', () => {
  const { actor, updates } = openMarket()
  const read = (set: Partial<typeof actor.summary>) =>
    actor.receive({ kind: 'summary', summary: { ...actor.summary, ...set } })
  const notified = () => updates.flatMap((update) => (update.kind === 'lifecycle' ? [update] : []))
  read({ volume24h: usdMicros(1), image: 'other.png', tags: ['new'] })
  assert.equal(notified().length, 0)
  const [first, ...others] = actor.summary.outcomes
  assert.ok(first !== undefined)
  read({ question: 'Another?' })
  read({ closeAtMs: timeMs(NOON + 1) })
  read({ outcomes: [{ ...first, label: 'Ja' }, ...others] })
  read({ fees: SOME_FEES })
  read({ fees: structuredClone(SOME_FEES) })
  read({})
  assert.deepEqual(
    notified().map(({ event, seq }) => [event, seq]),
    [1, 2, 3, 4].map((seq) => ['changed', seq]),
  )
  assert.deepEqual(
    notified().map(({ facts }) => [
      facts.question,
      facts.closeAtMs,
      facts.outcomes[0]?.label,
      facts.fees,
    ]),
    [
      ['Another?', notified()[0]?.facts.closeAtMs, first.label, FEES_UNKNOWN],
      ['Another?', NOON + 1, first.label, FEES_UNKNOWN],
      ['Another?', NOON + 1, 'Ja', FEES_UNKNOWN],
      ['Another?', NOON + 1, 'Ja', SOME_FEES],
    ],
    'each event has the values of its time',
  )
  read({ question: 'Over?', status: 'closed' })
  assert.deepEqual(
    notified()
      .map(({ event }) => event)
      .slice(4),
    ['closed'],
    'one event contains both changes',
  )
  assert.equal(notified()[4]?.facts.question, 'Over?')
})

test('sends snapshots and updates from which a subscriber rebuilds the market’s book', () => {
  const seeds = process.env.TEST_LONG === '1' ? 500 : 40
  for (let seed = 0; seed < seeds; seed += 1) {
    const random = seededRandom('market', seed)
    const { actor, publisher } = openMarket()
    const subscriber = new NaiveBook()
    let seq = 0
    publisher.watch({
      name: 'subscriber',
      onUpdate(update) {
        if (update.kind === 'bookReplaced') {
          const book = actor.book()
          subscriber.replace(book.bids, book.asks)
          assert.equal(update.seq, seq, 'a replacement does not advance seq')
        } else if (update.kind === 'book') {
          seq += 1
          assert.equal(update.seq, seq, 'seq has no gap')
          for (const item of update.changes) subscriber.set(item)
        }
      },
    })
    const grid = () => level((1 + random.below(40)) / 100, random.below(4))
    for (let step = 0; step < 60; step += 1) {
      const roll = random.below(10)
      if (roll === 0) actor.receive({ kind: 'void', reason: 'disconnected', isOfVenue: false })
      else if (roll < 3) {
        actor.receive(snapshot('m', [grid(), grid()], [level(0.5, 1), level(0.6, 2)]))
      } else if (roll < 6) {
        const { price, size } = grid()
        const item = { side: 'bid', price, size: sizeMicros(size - 1_000_000) } as const
        actor.receive(change('m', [item], { mode: 'difference' }))
      } else actor.receive(change('m', [{ side: 'bid', ...grid() }]))
      const book = actor.book()
      assert.deepEqual(subscriber.levels('bid'), book.bids, `seed ${seed} step ${step}`)
      assert.deepEqual(subscriber.levels('ask'), book.asks, `seed ${seed} step ${step}`)
    }
  }
})

test('retains the settlement price of a resolved market after a restart', () => {
  const { actor, open } = openMarket()
  actor.receive(trade('m', 't1'))
  actor.checkpoint(timeMs(NOON + 1_000))
  assert.equal(actor.resolvedAtMs, null)
  actor.receive({
    kind: 'marketStatus',
    venue: 'a',
    market: actor.ref.nativeId,
    status: 'resolved',
    settlementPrice: priceMicros(1_000_000),
    venueTimeMs: NOON,
    receivedAtMs: timeMs(NOON + 2_000),
  })
  assert.equal(actor.resolvedAtMs, NOON + 2_000)
  actor.checkpoint(timeMs(NOON + 3_000))
  const again = open()
  assert.deepEqual([again.price().price, again.price().source], [1_000_000, 'settlement'])
})

test('increments the market’s version before it publishes a change of price, book, summary or volumes', () => {
  for (let seed = 0; seed < 40; seed += 1) {
    const random = seededRandom('version', seed)
    const { actor, publisher, open } = openMarket()
    let market = actor
    const poll = () => {
      const { summary, volume24h, volumeTotal } = market
      return JSON.stringify([market.price(), market.book(), summary, volume24h, volumeTotal])
    }
    let seen = { version: market.version, text: poll() }
    const check = (what: string) => {
      const now = { version: market.version, text: poll() }
      if (now.text !== seen.text) assert.ok(now.version > seen.version, `seed ${seed}: ${what}`)
      seen = now
    }
    publisher.watch({ name: 'looker', onUpdate: (update) => check(update.kind) })
    const status = { kind: 'marketStatus', venue: 'a', market: actor.ref.nativeId } as const
    for (let step = 0; step < 60; step += 1) {
      const grid = () => level((1 + random.below(40)) / 100, random.below(4))
      const times = { venueTimeMs: timeMs(NOON + step), receivedAtMs: timeMs(NOON + step) }
      const what = random.below(9)
      if (what === 0) market.receive({ kind: 'void', reason: 'disconnected', isOfVenue: false })
      else if (what === 1) market.receive(snapshot('m', [grid(), grid()], [level(0.5, 1)], times))
      else if (what === 2) market.receive(trade('m', `t${step}`, { ...times, price: grid().price }))
      else if (what === 3) {
        const volume24h = usdMicros(random.below(9) * 1_000_000)
        market.receive({ kind: 'summary', summary: { ...market.summary, volume24h } })
      } else if (what === 4) market.restart()
      else if (what === 5) market.checkpoint(timeMs(NOON + step))
      else if (what === 6 && step % 9 === 0) {
        const isOver = random.below(2) === 0
        const settlementPrice = isOver ? priceMicros(0) : null
        const to = isOver ? 'resolved' : random.pick(['open', 'closed'] as const)
        market.receive({ ...status, ...times, status: to, settlementPrice })
      } else market.receive(change('m', [{ side: 'bid', ...grid() }], times))
      check(`step ${step}`)
    }
    market = open()
    seen = { version: market.version, text: poll() }
    market.receive(snapshot('m', [level(0.1, 1)], [level(0.9, 1)]))
    check('the first book of a run')
  }
})

test('returns the same trades as the trade table, from memory and from disk, and after retention', () => {
  const { actor, storage } = openMarket()
  const market = actor.ref.number
  const random = seededRandom('slices', 1)
  for (let id = 0; id < 400; id += 1) {
    const venueTimeMs = timeMs(NOON - random.below(40) * 3_600_000)
    actor.receive(trade('m', `t${id}`, { venueTimeMs }))
    const fromMs = timeMs(NOON - random.below(50) * 3_600_000)
    const toMs = timeMs(NOON - random.below(30) * 3_600_000)
    const range = { fromMs, toMs, order: random.pick(['asc', 'desc'] as const) }
    const query = { ...range, after: null, limit: 1 + random.below(300) }
    assert.deepEqual(actor.trades(query), storage.trades.range({ market, ...query }))
    if (id % 100 !== 99) continue
    const nowMs = timeMs(NOON + 86_400_000 - 30 * 3_600_000 + (id / 50) * 3_600_000)
    const limits = { nowMs, retentionDays: 1, sizeBytesMax: 1e12, rowsMax: 1_000 }
    while (storage.prune(limits));
    const all = { fromMs: timeMs(0), toMs: NOON, after: null, order: 'desc' } as const
    const requested = { ...all, limit: 250 }
    assert.deepEqual(actor.trades(requested), storage.trades.range({ market, ...requested }))
  }
})

test('records a tick for the first price after a restart or a book replacement, even if the price is unchanged', () => {
  const { actor, open, updates } = openMarket()
  const book = (market: MarketActor, seconds: number) => {
    const atMs = timeMs(NOON + seconds * 1_000)
    const times = { venueTimeMs: atMs, receivedAtMs: atMs }
    market.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)], times))
    return (market.priceAt(timeMs(atMs + 500))?.timeMs ?? 0) - NOON
  }
  assert.equal(book(actor, 0), 0)
  assert.equal(book(actor, 60), 0, 'an equal book records no tick')
  actor.receive({ kind: 'void', reason: 'disconnected', isOfVenue: false })
  assert.equal(book(actor, 120), 120_000)
  actor.checkpoint(timeMs(NOON + 130_000))
  const publishedCount = updates.filter(({ kind }) => kind === 'price').length
  const again = open()
  assert.equal(again.price().price, 410_000)
  assert.equal(book(again, 300), 300_000)
  assert.equal(again.priceAt(timeMs(NOON + 299_999))?.timeMs, NOON + 120_000)
  assert.equal(
    updates.filter(({ kind }) => kind === 'price').length,
    publishedCount + 1,
    'the first price of a run is published',
  )
})

test('sends a changed summary or volume to the catalogue in the same tick and before other watchers', () => {
  const storage = openMemoryStorage()
  const { publisher } = recordingPublisher()
  const received: string[] = []
  const changed = (market: MarketView) =>
    received.push(`${market.summary.status} ${market.summary.tickMicros} ${market.volume24h / 1e6}`)
  const { open, summary } = storedMarket({ publisher, storage, changed })
  const actor = open()
  publisher.watch({ name: 'other', onUpdate: ({ kind }) => received.push(kind) })
  actor.receive(trade('m', 't1'))
  actor.receive(trade('m', 't0', { source: 'history' }))
  actor.receive({ kind: 'summary', summary: { ...summary, volume24h: usdMicros(9_000_000) } })
  const times = { venueTimeMs: NOON, receivedAtMs: NOON }
  const tickMicros = priceMicros(1_000)
  const notified = { venue: 'a', outcome: outcomeId('m-yes'), tickMicros, ...times } as const
  actor.receive({ kind: 'tickSize', retainsBook: false, ...notified })
  const market = actor.ref.nativeId
  const status = { status: 'closed', settlementPrice: null, ...times } as const
  actor.receive({ kind: 'marketStatus', venue: 'a', market, ...status })
  assert.deepEqual(received, [
    'open 10000 4',
    'trade',
    'price',
    'open 10000 9',
    'open 1000 9',
    'closed 1000 9',
    'lifecycle',
  ])
})

test('increments the market’s version before the catalogue receives a changed tick size', () => {
  for (const retainsBook of [true, false]) {
    const versions: number[] = []
    const changed = (market: MarketView) => versions.push(market.version)
    const storage = openMemoryStorage()
    const actor = storedMarket({ ...recordingPublisher(), storage, changed }).open()
    actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
    const before = actor.version
    const tickMicros = priceMicros(1_000)
    const outcome = outcomeId('m-yes')
    const times = { venueTimeMs: NOON, receivedAtMs: NOON }
    actor.receive({
      kind: 'tickSize',
      venue: 'a',
      outcome,
      retainsBook,
      tickMicros,
      ...times,
    })
    assert.ok((versions.at(-1) ?? 0) > before, `keepsBook ${retainsBook}`)
  }
})

test('limits a market’s volumes to the largest safe integer', () => {
  const most = usdMicros(Number.MAX_SAFE_INTEGER)
  const { actor } = openMarket({ volume24h: most, volumeTotal: most })
  actor.receive(trade('m', 't1'))
  assert.deepEqual([actor.volume24h, actor.volumeTotal], [most, most])
})

test('returns the latest price before a past second, from memory and from disk', () => {
  const { actor, open } = openMarket()
  const see = (price: number, afterMs: number) => {
    const atMs = timeMs(NOON + afterMs)
    const times = { venueTimeMs: atMs, receivedAtMs: atMs }
    actor.receive(snapshot('m', [level(price, 10)], [level(price + 0.01, 5)], times))
  }
  see(0.2, 0)
  see(0.3, 10_106)
  see(0.4, 10_900)
  see(0.5, 3_599_500)
  const at = (market: MarketActor, second: number) => market.priceAt(timeMs(NOON + second * 1_000))
  const requested = [0, 10, 11, 3_599, 3_600]
  const wanted = [205_000, 205_000, 405_000, 405_000, 505_000]
  assert.deepEqual(
    requested.map((second) => at(actor, second)?.price),
    wanted,
  )
  actor.tick(timeMs(NOON + marketIdleMsMax * 20))
  for (const market of [actor, open()]) {
    for (const [index, second] of requested.entries()) {
      const found = at(market, second)
      assert.equal(found?.price, wanted[index], `second ${second}`)
      assert.ok((found?.timeMs ?? Number.NaN) <= NOON + second * 1_000)
    }
  }
})

test('applies a settlement price that arrives after the resolution from its arrival time on, even after a restart', () => {
  const { actor, open, updates } = openMarket({ venue: 'b', lastPrice: priceMicros(10_000) })
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  actor.receive({
    kind: 'marketStatus',
    venue: 'b',
    market: actor.ref.nativeId,
    status: 'resolved',
    settlementPrice: null,
    venueTimeMs: NOON,
    receivedAtMs: NOON,
  })
  assert.notEqual(actor.price().source, 'settlement')
  actor.checkpoint(timeMs(NOON + 60_000))
  const notified = updates.length
  const summary = { ...actor.summary, settlementPrice: priceMicros(1_000_000) }
  actor.receive({ kind: 'summary', summary })
  assert.deepEqual([actor.price().price, actor.price().source], [1_000_000, 'settlement'])
  assert.equal(updates.slice(notified).filter(({ kind }) => kind === 'price').length, 1)
  actor.receive({ kind: 'summary', summary })
  assert.equal(updates.slice(notified).filter(({ kind }) => kind === 'price').length, 1)
  const again = open()
  again.summary = summary
  assert.equal(again.price().source, 'settlement')
  const first = again.price().observedAtMs
  assert.equal(
    again.price().observedAtMs,
    first,
    'reading a price does not change its observation time',
  )
})

function lifeOf(set: Parameters<typeof listing>[1] = {}, storage = openMemoryStorage()) {
  const opened = openMarket({ venue: 'b', ...set }, storage)
  const { actor, updates } = opened
  const state = (event: Pick<MarketStatusEvent, 'status' | 'resolutionStatus'>, price?: number) =>
    actor.receive({
      ...{ kind: 'marketStatus', venue: 'b', market: actor.ref.nativeId, ...event },
      ...{ settlementPrice: price === undefined ? null : priceMicros(price * 1e6) },
      ...{ venueTimeMs: NOON, receivedAtMs: NOON },
    })
  const read = (now: Partial<typeof actor.summary>) =>
    actor.receive({ kind: 'summary', summary: { ...actor.summary, ...now } })
  const reported = () =>
    updates.flatMap((update) =>
      update.kind === 'lifecycle'
        ? [[update.event, update.facts.resolutionStatus, update.facts.settlementPrice]]
        : [],
    )
  return { ...opened, state, read, reported }
}

test('resolves a market with its determined result when the settlement message contains no result', () => {
  for (const isClosed of [false, true]) {
    const { actor, state, reported } = lifeOf()
    if (isClosed) state({ status: 'closed' })
    state({ status: 'closed', resolutionStatus: 'proposed' }, 1)
    assert.equal(
      actor.price().source === 'settlement',
      false,
      'a proposed result may still be disputed',
    )
    state({ status: 'resolved', resolutionStatus: 'resolved' })
    const first = isClosed ? [['closed', 'none', null]] : []
    const determined = [isClosed ? 'changed' : 'closed', 'proposed', 1_000_000]
    assert.deepEqual(reported(), [...first, determined, ['resolved', 'resolved', 1_000_000]])
    assert.deepEqual([actor.price().price, actor.price().source], [1_000_000, 'settlement'])
  }
})

test('publishes the correct result when the settlement message omits fields that the determination message contained', () => {
  const frame = (msg: object) => {
    const message = parseFrame(JSON.stringify({ type: 'market_lifecycle_v2', sid: 3, msg }))
    assert.ok(message.kind === 'lifecycle')
    return message
  }
  const of = { market_ticker: 'KXTEST-26NOV26-A' }
  const determined = { ...of, event_type: 'determined', result: 'yes', settlement_value: '1.0000' }
  const settled = { ...of, event_type: 'settled', settled_ts: 1_795_708_860 }
  const notified = (...messages: readonly object[]) => {
    const { actor, reported } = lifeOf()
    for (const message of messages) {
      mapMessage(frame(message), NOON, (event) => {
        if (event.kind === 'marketStatus') actor.receive(event)
      })
    }
    return reported().at(-1)
  }
  assert.deepEqual(notified(determined, settled), ['resolved', 'resolved', 1_000_000])
  assert.deepEqual(notified(settled), ['resolved', 'resolved', null])
  assert.deepEqual(notified(settled, { ...settled, settlement_value: 1 }), [
    'settled',
    'resolved',
    10_000,
  ])
  const isVoid = { ...determined, result: 'void', settlement_value: undefined }
  assert.deepEqual(notified(isVoid, settled), ['resolved', 'resolved', null])
})

test('resolves a market with its determined result when the engine restarts between determination and settlement', () => {
  const storage = openMemoryStorage()
  lifeOf({}, storage).state({ status: 'closed', resolutionStatus: 'proposed' }, 0)
  const [stored] = [...storage.markets.all()]
  assert.ok(stored !== undefined)
  const { state, reported } = lifeOf(stored.summary, storage)
  state({ status: 'resolved', resolutionStatus: 'resolved' })
  assert.deepEqual(reported(), [['resolved', 'resolved', 0]])
})

test('publishes the payout of a resolved market once when the venue reports the payout after the resolution', () => {
  const settledBy = {
    message: ({ state }: ReturnType<typeof lifeOf>, price: number) =>
      state({ status: 'resolved', resolutionStatus: 'resolved' }, price),
    listing: ({ read }: ReturnType<typeof lifeOf>, price: number) =>
      read({ settlementPrice: priceMicros(price * 1e6) }),
  }
  for (const settle of Object.values(settledBy)) {
    const market = lifeOf()
    market.state({ status: 'resolved', resolutionStatus: 'resolved' })
    settle(market, 0.37)
    settle(market, 0.37)
    const resolved = ['resolved', 'resolved', null]
    assert.deepEqual(market.reported(), [resolved, ['settled', 'resolved', 370_000]])
    settle(market, 1)
    assert.deepEqual(market.reported().slice(2), [['settled', 'resolved', 1_000_000]], 'corrected')
  }
})

test('publishes the payout of a resolved market after a restart when the payout was unknown before the restart', () => {
  const storage = openMemoryStorage()
  lifeOf({}, storage).state({ status: 'resolved', resolutionStatus: 'resolved' })
  const [stored] = [...storage.markets.all()]
  assert.ok(stored !== undefined)
  const { read, reported } = lifeOf(stored.summary, storage)
  read({ settlementPrice: priceMicros(0) })
  read({})
  assert.deepEqual(reported(), [['settled', 'resolved', 0]])
})

test('removes a market’s determined result when the result is disputed or trading resumes', () => {
  const determined = () => {
    const market = lifeOf()
    market.state({ status: 'closed', resolutionStatus: 'proposed' }, 1)
    return market
  }
  const disputed = determined()
  disputed.read({ resolutionStatus: 'disputed', settlementPrice: null })
  disputed.state({ status: 'resolved', resolutionStatus: 'resolved' })
  assert.deepEqual(disputed.reported().slice(1), [
    ['changed', 'disputed', null],
    ['resolved', 'resolved', null],
  ])
  const reopened = determined()
  reopened.state({ status: 'open', resolutionStatus: 'none' })
  assert.deepEqual(reopened.reported().slice(1), [['opened', 'none', null]])
  const late = determined()
  late.read({ resolutionStatus: 'none', settlementPrice: null })
  late.state({ status: 'resolved', resolutionStatus: 'resolved' })
  assert.deepEqual(late.reported().slice(1), [['resolved', 'resolved', 1_000_000]])
})

test('publishes each change of a market’s resolution status, except a change from unknown to none', () => {
  const { read, reported } = lifeOf({ resolutionStatus: null })
  read({ resolutionStatus: 'none' })
  assert.deepEqual(reported(), [])
  read({ resolutionStatus: 'proposed' })
  read({ resolutionStatus: 'disputed' })
  read({ resolutionStatus: null })
  assert.deepEqual(reported(), [
    ['changed', 'proposed', null],
    ['changed', 'disputed', null],
  ])
})

test('marks a book stale when a change arrives late, until a snapshot arrives in time, and accepts trades meanwhile', () => {
  const { actor, updates, ignored, resyncs } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  const before = actor.version
  actor.receive(change('m', [bid(0.4, 11)]), messageAgeMsMax)
  assert.equal(actor.book().isStale, false)
  actor.receive(change('m', [bid(0.4, 12)]), messageAgeMsMax + 1)
  assert.equal(actor.book().isStale, true)
  assert.ok(actor.version > before)
  assert.deepEqual(resyncs, ['delayed'])
  actor.receive(change('m', [bid(0.4, 13)]), 0)
  actor.receive(trade('m', 't1'), 60_000)
  actor.onLate()
  actor.receive(snapshot('m', [level(0.4, 14)], []), messageAgeMsMax + 1)
  assert.equal(
    actor.book().isStale,
    true,
    'a snapshot that exceeds the delay limit does not make the book live',
  )
  assert.deepEqual(ignored, [
    'book_change_before_snapshot',
    'book_change_before_snapshot',
    'book_snapshot_late',
  ])
  assert.deepEqual(resyncs, ['delayed', 'delayed'])
  actor.receive(snapshot('m', [level(0.4, 15)], []), 0)
  assert.equal(actor.book().isStale, false)
  assert.deepEqual(
    updates.map((update) => (update.kind === 'bookReplaced' ? update.reason : update.kind)),
    ['first', 'price', 'book', 'bookStale', 'trade', 'delayed', 'price'],
  )
  assert.deepEqual(
    updates
      .filter(({ kind }) => kind === 'bookStale')
      .map((update) => 'seq' in update && update.seq),
    [1],
  )
})

test('publishes a stale book with the reason, and a confirmation when the next snapshot equals the book', () => {
  const { actor, updates } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  updates.length = 0
  actor.receive({ kind: 'void', reason: 'silent', isOfVenue: true })
  actor.receive(change('m', [bid(0.4, 11)]))
  actor.receive({ kind: 'void', reason: 'disconnected', isOfVenue: false })
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  const stamped = { venueTimeMs: NOON, receivedAtMs: NOON, offset: 0, seq: 0, market: actor.ref }
  assert.deepEqual(updates, [
    { kind: 'bookStale', ...stamped, reason: 'silent', sinceMs: NOON, isOfVenue: true },
    { kind: 'bookConfirmed', ...stamped, wasStale: true },
  ])
  assert.equal(actor.book().isStale, false)
})

test('marks a book stale when two REST snapshots contradict it and no stream message arrived between the snapshots', () => {
  const { actor, updates, resyncs, ignored } = openMarket()
  const read = (afterMs: number, price: number) => {
    const atMs = timeMs(NOON + afterMs)
    const times = { venueTimeMs: atMs, receivedAtMs: atMs }
    const [bids, asks] = [[level(price, 10)], [level(0.99, 5)]]
    actor.receive({ ...snapshot('m', bids, asks, times), isInOrder: false })
  }
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.99, 5)]))
  read(1_000, 0.01)
  read(4_000, 0.4)
  assert.equal(actor.bookConfirmedAtMs, NOON + 4_000)
  read(5_000, 0.41)
  const atMs = timeMs(NOON + 6_000)
  actor.receive(change('m', [bid(0.39, 1)], { venueTimeMs: atMs, receivedAtMs: atMs }))
  read(8_000, 0.41)
  read(10_999, 0.41)
  assert.equal(
    actor.book().isStale,
    false,
    'the stream sent a change, or the second REST read came too early',
  )
  read(11_000, 0.41)
  assert.equal(actor.book().isStale, true)
  assert.deepEqual(resyncs, ['differs_from_rest'])
  const last = updates.at(-1)
  assert.ok(last?.kind === 'bookStale' && last.reason === 'contradicted_by_rest')
  assert.ok(ignored.includes('book_check_differs'))
})

test('marks a book stale when two REST snapshots with the time of the stream’s last message contradict it', () => {
  const { actor } = openMarket()
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.99, 5)]))
  for (const afterMs of [1_000, 4_000]) {
    const times = { venueTimeMs: NOON, receivedAtMs: timeMs(NOON + afterMs) }
    const read = snapshot('m', [level(0.41, 10)], [level(0.99, 5)], times)
    actor.receive({ ...read, isInOrder: false })
  }
  assert.equal(actor.book().isStale, true)
})

test('ignores late messages while a book waits for a snapshot, and reports venue_gap when the venue disconnects', () => {
  const { actor, updates, resyncs } = openMarket()
  actor.onLate()
  assert.deepEqual([updates.length, resyncs], [0, []])
  actor.receive(snapshot('m', [level(0.4, 10)], []))
  actor.onLate()
  actor.receive({ kind: 'void', reason: 'disconnected', isOfVenue: false })
  actor.receive(snapshot('m', [level(0.4, 11)], []))
  const last = updates.findLast((update) => update.kind === 'bookReplaced')
  assert.equal(last?.kind === 'bookReplaced' && last.reason, 'venue_gap')
})

/** The market's book is subscribed while `covered.is` is true. */
function openUncovered(set: Parameters<typeof listing>[1], storage = openMemoryStorage()) {
  const { publisher, updates } = recordingPublisher()
  const covered = { is: false }
  const resyncs: string[] = []
  const venue = {
    delay: { isBehind: false, changeCount: 0 },
    requestResync: (_: unknown, reason: string) => resyncs.push(reason),
    checkAgain: () => undefined,
    backFillTrades: () => undefined,
    isCovered: () => covered.is,
  }
  const market = storedMarket({ publisher, storage, venue: () => venue }, set)
  return { ...market, actor: market.open(), covered, updates, resyncs, storage }
}

const LISTED = {
  bestBid: priceMicros(300_000),
  bestAsk: priceMicros(320_000),
  lastPrice: priceMicros(350_000),
  figuresAtMs: NOON,
}

test('takes the price of a market without book coverage from the listing, or from a trade that is newer than the listing', () => {
  const { actor } = openUncovered(LISTED)
  const priced = () => {
    const { price, source } = actor.price()
    return [price, source]
  }
  assert.deepEqual(priced(), [310_000, 'venue'])
  actor.receive(trade('m', 'old', { venueTimeMs: timeMs(NOON - 1_000) }))
  assert.deepEqual(priced(), [310_000, 'venue'])
  actor.receive(
    trade('m', 'new', { venueTimeMs: timeMs(NOON + 1_000), receivedAtMs: timeMs(NOON + 1_000) }),
  )
  assert.deepEqual(priced(), [400_000, 'last_trade'])
  actor.receive({ kind: 'confirmed', atMs: timeMs(NOON + 2_000) })
  assert.deepEqual(priced(), [310_000, 'venue'], 'the listing is newer again')
})

test('discards a book and publishes it as stale when book coverage of its market ends', () => {
  const { actor, covered, updates, ignored } = openUncovered(LISTED)
  covered.is = true
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  assert.deepEqual([actor.book().isStale, actor.book().staleReason], [false, null])
  assert.equal(actor.price().source, 'midpoint')
  covered.is = false
  updates.length = 0
  actor.receive({ kind: 'void', reason: 'not_covered', isOfVenue: false })
  const { bids, asks, isStale, staleReason, receivedAtMs } = actor.book()
  assert.deepEqual(
    { bids, asks, isStale, staleReason, receivedAtMs },
    {
      ...{ bids: [], asks: [], isStale: true, staleReason: 'not_covered', receivedAtMs: null },
    },
  )
  assert.equal(actor.bookConfirmedAtMs, null)
  assert.deepEqual(
    updates.map((update) => (update.kind === 'bookStale' ? update.reason : update.kind)),
    ['not_covered', 'price'],
  )
  assert.deepEqual([actor.price().price, actor.price().source], [310_000, 'venue'])
  actor.receive(snapshot('m', [level(0.5, 10)], [level(0.52, 5)]))
  assert.equal(actor.book().isStale, true, 'the snapshot was sent before the subscription ended')
  assert.deepEqual(ignored, ['book_not_covered'])
  covered.is = true
  actor.receive(snapshot('m', [level(0.6, 10)], [level(0.62, 5)]))
  assert.deepEqual([actor.book().isStale, actor.price().price], [false, 610_000])
})

test('publishes that a stale book is no longer covered when book coverage of its market ends', () => {
  const { actor, covered, updates } = openUncovered(LISTED)
  covered.is = true
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  actor.receive({ kind: 'void', reason: 'silent', isOfVenue: true })
  covered.is = false
  updates.length = 0
  actor.receive({ kind: 'void', reason: 'not_covered', isOfVenue: false })
  actor.receive({ kind: 'void', reason: 'not_covered', isOfVenue: false })
  assert.deepEqual(
    updates.map((update) => (update.kind === 'bookStale' ? update.reason : update.kind)),
    ['not_covered', 'price'],
  )
})

test('returns neither the book nor the midpoint from before a restart when the market has no book coverage', () => {
  const first = openUncovered(LISTED)
  first.covered.is = true
  first.actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  first.actor.checkpoint(NOON)
  const covered = openUncovered(LISTED, first.storage)
  covered.covered.is = true
  assert.deepEqual([covered.actor.price().price, covered.actor.book().bids.length], [410_000, 1])
  assert.equal(covered.actor.book().staleReason, 'restarted')
  const { actor } = openUncovered(LISTED, first.storage)
  assert.deepEqual([actor.price().price, actor.price().source], [310_000, 'venue'])
  assert.deepEqual([actor.book().bids.length, actor.book().staleReason], [0, 'not_covered'])
})

test('returns the reason why a book is stale until the book is live', () => {
  const { actor } = openMarket()
  assert.equal(actor.book().staleReason, 'not_covered')
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  actor.receive({ kind: 'void', reason: 'disconnected', isOfVenue: true })
  assert.equal(actor.book().staleReason, 'disconnected')
  actor.receive(snapshot('m', [level(0.4, 10)], [level(0.42, 5)]))
  assert.equal(actor.book().staleReason, null)
  actor.onLate()
  assert.equal(actor.book().staleReason, 'delayed')
})
