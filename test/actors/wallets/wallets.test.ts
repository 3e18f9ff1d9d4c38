import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  HOUR_MS,
  MINUTE_MS,
  priceMicros,
  sizeMicros,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import { listing } from '../../support/worlds/builders.ts'
import { addressOf } from '../../support/worlds/stored-wallets.ts'
import {
  assertComplete,
  fillAt,
  hourlyFills as fills,
  SECOND_MS,
  settled,
  tradesOf,
  WalletWorld,
} from '../../support/worlds/wallet-venue.ts'

const EVER = { fromMs: timeMs(0), toMs: timeMs(9e15), after: null, limit: 100 } as const

test('syncs a wallet completely on the first request, and once for all concurrent requests', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 30))
  const views = await Promise.all([1, 2, 3].map(() => world.open(wallet)))
  assert.deepEqual(views.map(tradesOf), [30, 30, 30])
  assert.equal(assertComplete(views[0] ?? null).isComplete, true)
  assert.deepEqual(world.venue.readFrom, [0])
  assert.equal(world.venue.profileCount, 1)
  assert.equal(tradesOf(await world.open(wallet)), 30)
  assert.deepEqual(world.venue.readFrom, [0], 'no second sync of fresh data')
  assert.equal(world.wallets.count, 1)
  await world.wallets.stop()
  assert.equal(world.clock.timerCount, 0)
})

test('does not change the figures of a wallet view that was returned earlier when a later sync adds events', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 10))
  const view = assertComplete(await world.open(wallet))
  const figures = view.window('all_time')
  world.clock.advance(10 * MINUTE_MS)
  const added = fillAt(world.clock.nowMs() - 5 * MINUTE_MS)
  world.venue.events.get(wallet)?.push(added)
  assert.equal(tradesOf(await world.open(wallet)), 11)
  assert.deepEqual(view.window('all_time'), figures)
  await world.wallets.stop()
})

test('finds a wallet by its owner’s address with one request to the venue', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 3))
  const owner = addressOf(99)
  const profile = { proxy: wallet, eoa: owner, handle: 'it', pseudonym: null, image: null }
  world.venue.profiles.set(owner, profile)
  const view = assertComplete(await world.open(owner))
  assert.deepEqual(view.profile, profile)
  assert.equal(view.totals.trades, 3)
  assert.equal(tradesOf(await world.open(wallet)), 3)
  await world.restart()
  assert.equal(assertComplete(await world.open(owner)).profile.proxy, wallet)
  assert.equal(world.wallets.count, 1)
  await world.wallets.stop()
})

test('refuses an address that the venue does not know, and repeats the request after a minute', async () => {
  const world = new WalletWorld()
  const unseen = addressOf(7)
  assert.deepEqual([await world.open(unseen), await world.open(unseen)], [null, null])
  assert.equal(world.venue.profileCount, 1)
  world.wallet(7, fills(world, 2))
  assert.equal(await world.open(unseen), null)
  world.clock.advance(MINUTE_MS)
  assert.equal(tradesOf(await world.open(unseen)), 2)
  assert.equal(world.wallets.count, 1)
  await world.wallets.stop()
})

test('resumes an interrupted sync of a wallet at the last stored page', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 3_000))
  world.venue.failsAfter = 1_500
  const part = assertComplete(await world.open(wallet))
  assert.equal(part.isComplete, false)
  assert.ok(part.totals.trades >= 1_024 && part.totals.trades < 3_000, `${part.totals.trades}`)
  world.venue.failsAfter = Number.POSITIVE_INFINITY
  world.clock.advance(2 * SECOND_MS)
  const complete = assertComplete(await world.open(wallet))
  assert.deepEqual([complete.totals.trades, complete.isComplete], [3_000, true])
  const [first, second] = world.venue.readFrom
  assert.equal(first, 0)
  assert.ok((second ?? 0) > world.clock.nowMs() - 2_000 * HOUR_MS, 'not from the beginning')
  await world.wallets.stop()
})

test('returns the received events of a wallet after an interrupted sync, except events that may still change', async () => {
  const world = new WalletWorld()
  const first = fillAt(world.clock.nowMs() - 20 * SECOND_MS)
  const wallet = world.wallet(1, [first])
  await world.open(wallet)
  const live = fillAt(world.clock.nowMs(), { name: 'live' })
  world.stream(wallet, live)
  // The next sync does not return the last event received.
  world.clock.advance(200 * SECOND_MS)
  const nowMs = world.clock.nowMs()
  const older = Array.from({ length: 199 }, (_, index) => fillAt(nowMs - 180_000 + index * 50))
  const young = fillAt(nowMs - 30 * SECOND_MS)
  const rest = Array.from({ length: 100 }, (_, index) => fillAt(nowMs - 20_000 + index * 100))
  world.venue.events.set(wallet, [first, live, ...older, young, ...rest])
  world.venue.failsAfter = 202
  world.venue.pageEvents = 202
  assert.equal((await world.openSettled(wallet)).totals.trades, 201)
  world.stream(wallet, fillAt(nowMs, { name: 'later' }))
  assert.equal(tradesOf(await world.open(wallet)), 202)
  world.venue.events.set(wallet, [first, live, ...older, ...rest])
  world.venue.failsAfter = Number.POSITIVE_INFINITY
  world.clock.advance(2 * SECOND_MS)
  assert.equal((await world.openSettled(wallet)).totals.trades, 302)
  await world.wallets.stop()
})

test('includes a fill from the stream in a wallet’s figures at once', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 2))
  await world.open(wallet)
  assert.ok(world.venue.followed.has(wallet))
  const fill = fillAt(world.clock.nowMs(), { name: 'other', size: sizeMicros(3_000_000) })
  world.stream(wallet, fill)
  const view = assertComplete(await world.open(wallet))
  assert.equal(view.totals.trades, 3)
  assert.equal((await view.positions()).length, 2)
  const newest = { ...EVER, order: 'desc' } as const
  assert.deepEqual(view.events(newest)[0]?.event, fill)
  await world.wallets.stop()
})

test('counts a live fill once when the history returns the same fill, and counts equal fills separately', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 2))
  world.venue.lateMs = 20 * SECOND_MS
  await world.open(wallet)
  const fill = fillAt(world.clock.nowMs(), { fee: usdMicros(0), role: null })
  const published = { ...fill, fee: usdMicros(777), role: 'taker' as const }
  for (const one of [fill, fill, { ...fill, txHash: '0xother' }]) world.stream(wallet, one)
  assert.equal(tradesOf(await world.open(wallet)), 4, 'equal fills may be one repeated message')
  // The history returns two fills with times two seconds later, and never returns the third.
  const late = { ...published, timeMs: timeMs(published.timeMs + 2_000) }
  world.venue.events.get(wallet)?.push(late, late)
  world.clock.advance(31 * SECOND_MS)
  const view = await world.openSettled(wallet)
  assert.deepEqual([view.totals.trades, view.totals.fees], [5, 1_554])
  for (const minutes of [2, 10]) {
    world.clock.advance(minutes * MINUTE_MS)
    const lacked = assertComplete(await world.open(wallet))
    assert.deepEqual([lacked.totals.trades, lacked.isComplete, lacked.lacking], [5, false, 1])
  }
  assert.equal(world.storage.wallets.get(wallet)?.lacking, 1)
  await world.wallets.stop()
})

test('counts a fill that the stream sends twice once, unless the history contains the fill twice', async () => {
  for (const count of [1, 2]) {
    const world = new WalletWorld()
    const wallet = world.wallet(1, fills(world, 2))
    world.venue.lateMs = 20 * SECOND_MS
    await world.open(wallet)
    const fill = fillAt(world.clock.nowMs(), { role: null })
    for (const one of [fill, { ...fill, role: 'maker' as const }]) world.stream(wallet, one)
    const close = [{ usd: usdMicros(1) }, { txHash: '0xother' }, { kind: 'sell' as const }]
    for (const set of close) world.stream(wallet, { ...fill, ...set })
    assert.equal(tradesOf(await world.open(wallet)), 2 + 1 + close.length)
    const published = [
      ...Array.from({ length: count }, () => fill),
      ...close.map((set) => ({ ...fill, ...set })),
    ]
    world.venue.events.get(wallet)?.push(...published)
    // No client requests the wallet, so a background sync must settle the two fills.
    for (let minute = 1; minute <= 5; minute += 1) {
      world.clock.advance(MINUTE_MS)
      await settled()
      assert.equal(world.storage.wallets.get(wallet)?.events, minute < 2 ? 2 : 2 + published.length)
    }
    assert.equal(world.venue.readFrom.length, 4)
    assert.equal(tradesOf(await world.open(wallet)), 2 + published.length)
    await world.wallets.stop()
  }
})

test('syncs a subscribed wallet at regular intervals while the wallet trades, without a client’s request', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 2))
  await world.open(wallet)
  const fill = fillAt(world.clock.nowMs())
  world.stream(wallet, fill)
  world.venue.events.get(wallet)?.push(fill)
  world.clock.advance(SECOND_MS)
  await settled()
  assert.equal(world.venue.readFrom.length, 2, 'a second after the fill')
  assert.equal(world.storage.wallets.get(wallet)?.events, 2, 'not settled yet')
  world.clock.advance(4 * MINUTE_MS)
  await settled()
  assert.equal(world.venue.readFrom.length, 2)
  world.clock.advance(3 * MINUTE_MS)
  await settled()
  assert.equal(world.venue.readFrom.length, 3)
  assert.equal(world.storage.wallets.get(wallet)?.events, 3)
  assert.equal(
    world.storage.wallets.get(wallet)?.totals.trades,
    3,
    'the stored totals that rankings use',
  )
  world.clock.advance(HOUR_MS)
  await settled()
  assert.equal(world.venue.readFrom.length, 3)
  await world.wallets.stop()
})

test('stores a wallet’s events when they are settled, not earlier, and accepts the venue’s corrections of the last minute', async () => {
  const world = new WalletWorld()
  const nowMs = world.clock.nowMs()
  const wallet = world.wallet(1, [fillAt(nowMs - HOUR_MS), fillAt(nowMs - 20 * SECOND_MS)])
  assert.equal(tradesOf(await world.open(wallet)), 2)
  assert.equal(world.storage.wallets.get(wallet)?.events, 1)
  const published = [
    fillAt(nowMs - HOUR_MS),
    fillAt(nowMs - 30 * SECOND_MS),
    fillAt(nowMs - 10_000),
  ]
  world.venue.events.set(wallet, published)
  world.clock.advance(31 * SECOND_MS)
  const view = await world.openSettled(wallet)
  assert.deepEqual([view.totals.trades, view.lacking, view.isComplete], [4, 1, false])
  // A missing event may still arrive, so the events after it are not settled.
  assert.equal(world.storage.wallets.get(wallet)?.events, 2)
  world.venue.events.get(wallet)?.splice(1, 0, fillAt(nowMs - 20 * SECOND_MS))
  world.venue.events.get(wallet)?.sort((one, other) => one.timeMs - other.timeMs)
  world.clock.advance(2 * MINUTE_MS)
  const complete = assertComplete(await world.open(wallet))
  assert.deepEqual([complete.totals.trades, complete.lacking, complete.isComplete], [4, 0, true])
  assert.equal(world.storage.wallets.get(wallet)?.events, 4)
  await world.wallets.stop()
})

test('rebuilds an unreadable PnL state from the ledger, and syncs a wallet whose ledger is unreadable from the venue', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 1_300))
  const before = assertComplete(await world.open(wallet)).totals
  const { wallets } = world.storage
  const all = { ...EVER, limit: 2_000, order: 'asc' } as const
  for (const damage of [
    () => wallets.putPnlState(wallet, new Uint8Array([1, 2, 3])),
    () => wallets.putBlock(wallet, 1, new Uint8Array(100)),
    () => wallets.putBlock(wallet, 2, new Uint8Array(100)),
  ]) {
    await world.wallets.stop()
    damage()
    await world.restart()
    try {
      assertComplete(await world.open(wallet)).events(all)
    } catch (error) {
      assert.match(String(error), /UNAVAILABLE: .* read anew/)
    }
    const view = assertComplete(await world.open(wallet))
    assert.deepEqual([view.totals, view.isComplete], [before, true])
    assert.equal(view.events(all).length, 1_300)
    const row = wallets.get(wallet)
    assert.deepEqual([row?.events, row?.pnlEvents, row?.blocks], [1_300, 1_300, 3])
  }
  assert.equal(
    world.venue.readFrom.filter((fromMs) => fromMs === 0).length,
    3,
    'a damaged PnL state needs no full sync',
  )
  await world.wallets.stop()
})

test('continues the computation of a PnL state that ends inside a ledger block, with few and with many new events', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, fills(world, 700))
  assert.equal(tradesOf(await world.open(wallet)), 700)
  for (const [count, existing] of [
    [40, 740],
    [2_000, 2_740],
    [1_100, 3_840],
  ] as const) {
    const nowMs = world.clock.nowMs()
    const more = Array.from({ length: count }, (_, index) => fillAt(nowMs + (index + 1) * 1_000))
    world.venue.events.get(wallet)?.push(...more)
    world.clock.advance(count * SECOND_MS + 10 * MINUTE_MS)
    const view = assertComplete(await world.open(wallet))
    assert.deepEqual([view.totals.trades, view.totals.volume], [existing, existing * 4_000_000])
  }
  await world.restart()
  assert.equal(tradesOf(await world.open(wallet)), 3_840)
  assert.equal(
    world.venue.readFrom.filter((fromMs) => fromMs === 0).length,
    1,
    'no further full sync',
  )
  await world.wallets.stop()
})

test('realises losses of a wallet when a market resolves, without a sync and even after a restart', async () => {
  const world = new WalletWorld()
  const market = world.list(listing('m'))
  const nowMs = world.clock.nowMs()
  const wallet = world.wallet(1, [
    fillAt(nowMs - HOUR_MS, { outcome: 'yes' }),
    fillAt(nowMs - HOUR_MS, { outcome: 'no', price: priceMicros(100_000) }),
  ])
  assert.equal(assertComplete(await world.open(wallet)).totals.realized, 0)
  const resolve = () => {
    const settlement = { status: 'resolved', settlementPrice: priceMicros(0) } as const
    market.summary = { ...market.summary, ...settlement }
    world.wallets.onListed(market)
  }
  resolve()
  const view = assertComplete(await world.open(wallet))
  assert.deepEqual([view.totals.realized, view.unrealized], [-4_000_000, 9_000_000])
  assert.deepEqual([view.totals.wins, view.totals.losses], [0, 0], 'the winner is still held')
  assert.equal(world.venue.readFrom.length, 1)
  await world.restart()
  assert.equal(assertComplete(await world.open(wallet)).totals.realized, -4_000_000)
  await world.wallets.stop()
  // The market resolves while the process is stopped.
  const later = new WalletWorld()
  const quiet = later.list(listing('m'))
  const other = later.wallet(1, [fillAt(nowMs - HOUR_MS)])
  await later.open(other)
  await later.wallets.stop()
  const settlement = { status: 'resolved', settlementPrice: priceMicros(0) } as const
  quiet.summary = { ...quiet.summary, ...settlement }
  await later.restart()
  assert.equal(assertComplete(await later.open(other)).totals.realized, -4_000_000)
  await later.wallets.stop()
})

test('requests and stores each market of a wallet once when the catalogue lacks the market', async () => {
  const world = new WalletWorld()
  const nowMs = world.clock.nowMs()
  const closed = { status: 'resolved', settlementPrice: priceMicros(1_000_000) } as const
  const native = { closed: true, closedTime: '2026-11-20 11:30:00+00' }
  const missing = listing('gone', { ...closed, native })
  world.fetchable.set(missing.nativeId, missing)
  const redeem = { kind: 'redeem', token: null, price: priceMicros(0) } as const
  const wallet = world.wallet(1, [
    fillAt(nowMs - HOUR_MS, { name: 'gone', outcome: 'no' }),
    fillAt(nowMs - 40 * MINUTE_MS, { name: 'gone' }),
    fillAt(nowMs - 5 * MINUTE_MS, { name: 'gone', ...redeem, usd: usdMicros(10_000_000) }),
    fillAt(nowMs - 4 * MINUTE_MS, { name: 'unlisted' }),
  ])
  const view = assertComplete(await world.open(wallet))
  assert.equal(view.totals.realized, 6_000_000 - 4_000_000)
  const lost = view.pnl({ fromMs: timeMs(0), toMs: nowMs, granularity: 'all' }).series
  assert.deepEqual(
    lost.map(({ timeMs: atMs }) => atMs),
    [Date.UTC(2026, 10, 20, 11, 30), nowMs - 5 * MINUTE_MS],
    'the loss at the close and the profit at the redemption',
  )
  assert.equal(world.storage.wallets.market(missing.nativeId)?.payout, 1_000_000)
  assert.deepEqual(world.fetched.toSorted(), ['gone', 'unlisted'])
  await world.restart()
  assert.equal(assertComplete(await world.open(wallet)).totals.realized, 2_000_000)
  assert.deepEqual(world.fetched.filter((id) => id === 'gone').length, 1)
  await world.wallets.stop()
})

test('values a wallet’s positions at the payout, else at the current price, else at cost', async () => {
  const world = new WalletWorld()
  const nowMs = world.clock.nowMs()
  const [priced, paid, unsubscribed] = ['priced', 'paid', 'silent'].map((name) =>
    world.list(listing(name)),
  )
  assert.ok(priced !== undefined && paid !== undefined && unsubscribed !== undefined)
  const observedAtMs = nowMs
  priced.now = { ...priced.now, price: priceMicros(300_000), source: 'midpoint', observedAtMs }
  paid.summary = { ...paid.summary, status: 'resolved', settlementPrice: priceMicros(500_000) }
  const names = [
    ['priced', 'yes'],
    ['priced', 'no'],
    ['paid', 'no'],
    ['silent', 'yes'],
    ['lost', 'yes'],
  ] as const
  const events = names.map(([name, outcome]) => fillAt(nowMs - HOUR_MS, { name, outcome }))
  const view = assertComplete(await world.open(world.wallet(1, events)))
  const published = new Map((await view.positions()).map((one) => [one.token, one]))
  const figures = names.map(([name, outcome]) => {
    const one = [...published.values()].find(({ token }) => token === `${name}-${outcome}`)
    return [one?.price, one?.unrealized, one?.view?.ref.nativeId ?? null]
  })
  assert.deepEqual(figures, [
    [300_000, -1_000_000, 'priced'],
    [700_000, 3_000_000, 'priced'],
    [500_000, 1_000_000, 'paid'],
    [null, 0, 'silent'],
    [null, 0, null],
  ])
  assert.equal(view.unrealized, 3_000_000)
  await world.wallets.stop()
})
