import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WalletView } from '../../../actors/wallets/views.ts'
import { walletHandlers } from '../../../actors/wallets/wallet-commands.ts'
import { seededRandom } from '../../../engine/random.ts'
import {
  DAY_MS,
  HOUR_MS,
  MINUTE_MS,
  priceMicros,
  sizeMicros,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import type { WalletEvent } from '../../../engine/wallet.ts'
import type { StoredTrade } from '../../../storage/contract/storage.ts'
import { listing } from '../../support/worlds/builders.ts'
import { addressOf } from '../../support/worlds/stored-wallets.ts'
import {
  assertComplete,
  fillAt,
  hourlyFills,
  SECOND_MS,
  settled,
  tradesOf,
  WalletWorld,
} from '../../support/worlds/wallet-venue.ts'

const EVER = { fromMs: timeMs(0), toMs: timeMs(9e15), after: null, limit: 9_000 } as const

/** The view without the times of syncs. */
async function userView(view: WalletView) {
  const range = { fromMs: timeMs(0), toMs: timeMs(9e15), granularity: 'all' } as const
  const events = view.events({ ...EVER, order: 'asc' })
  return {
    ...{ totals: view.totals, pnl: view.pnl(range), unrealized: view.unrealized },
    events: events.map(({ event, id, ordinal }) => ({ event, id, ordinal })),
    positions: (await view.positions()).map(({ view: market, facts, ...own }) => {
      void [market, facts]
      return own
    }),
  }
}

function past(world: WalletWorld, count: number): WalletEvent[] {
  const nowMs = world.clock.nowMs()
  const old = hourlyFills(world, count).map((fill, at): WalletEvent => {
    return at % 3 === 2 ? { ...fill, kind: 'sell', price: priceMicros(700_000) } : fill
  })
  const none = { token: null, price: priceMicros(0), role: null } as const
  const both = fillAt(nowMs - 40 * SECOND_MS, { outcome: 'no' })
  const merge = fillAt(nowMs - 20 * SECOND_MS, {
    ...none,
    kind: 'merge',
    usd: usdMicros(10_000_000),
  })
  return [...old, both, merge]
}

/** The last two events of each history are less than a minute old. */
const ANSWERS: readonly {
  readonly name: string
  readonly listed: (all: readonly WalletEvent[]) => readonly WalletEvent[]
}[] = [
  { name: 'nothing', listed: () => [] },
  { name: 'all but the last two events', listed: (all) => all.slice(0, -2) },
  { name: 'the older half', listed: (all) => all.slice(0, Math.floor(all.length / 2)) },
  { name: 'all but the first ten events', listed: (all) => all.slice(10) },
  { name: 'only the last two events', listed: (all) => all.slice(-2) },
  {
    name: 'only the first five and the last four events',
    listed: (all) => [...all.slice(0, 5), ...all.slice(-4)],
  },
]

const CONDITIONS: readonly {
  readonly name: string
  readonly go: (world: WalletWorld) => Promise<void>
}[] = [
  { name: 'in memory', go: async () => undefined },
  { name: 'after a restart', go: (world) => world.restart() },
  {
    name: 'after eviction',
    go: async (world) => {
      await world.open(world.wallet(2, [fillAt(world.clock.nowMs() - HOUR_MS)]))
    },
  },
]

for (const { name, listed: published } of ANSWERS) {
  test(`retains all stored events of a wallet when the venue returns: ${name}`, async () => {
    for (const condition of CONDITIONS) {
      const world = new WalletWorld({ warmBytesMax: condition.name === 'after eviction' ? 1 : 1e9 })
      world.list(listing('m'))
      const all = past(world, 30)
      const wallet = world.wallet(1, all)
      // The venue returns no positions either.
      world.venue.held = []
      const before = await userView(assertComplete(await world.open(wallet)))
      const context = `${condition.name}, ${name}`
      assert.equal(before.events.length, 32, context)
      world.venue.events.set(wallet, [...published(all)])
      await condition.go(world)
      for (const pauseMs of [6 * SECOND_MS, MINUTE_MS, HOUR_MS, 2 * DAY_MS]) {
        world.clock.advance(pauseMs)
        const view = await world.openSettled(wallet)
        assert.deepEqual(await userView(view), before, `${context} after ${pauseMs}`)
      }
      const view = assertComplete(await world.open(wallet))
      assert.equal(view.isComplete, false, context)
      assert.equal(view.lacking, 32 - published(all).length, context)
      assert.ok(view.issues.includes('venue_lacks_kept'), context)
      await world.restart()
      assert.deepEqual(await userView(assertComplete(await world.open(wallet))), before, context)
      world.venue.events.set(wallet, [...all])
      world.venue.held = null
      world.clock.advance(DAY_MS)
      const healed = await world.openSettled(wallet)
      assert.deepEqual([healed.issues, healed.lacking], [[], 0], context)
      assert.deepEqual(await userView(healed), before, context)
      await world.wallets.stop()
      assert.equal(world.clock.timerCount, 0)
    }
  })
}

test('appends new events to a wallet’s stored events when the venue no longer returns older events', async () => {
  const world = new WalletWorld()
  world.list(listing('m'))
  const all = hourlyFills(world, 1_300)
  const wallet = world.wallet(1, all)
  await world.open(wallet)
  await world.restart()
  world.venue.events.set(wallet, [])
  const published: WalletEvent[] = []
  for (let step = 1; step <= 6; step += 1) {
    world.clock.advance(20 * MINUTE_MS)
    const fill = fillAt(world.clock.nowMs() - 5 * MINUTE_MS)
    published.push(fill)
    world.venue.events.get(wallet)?.push(fill)
    const view = await world.openSettled(wallet)
    assert.deepEqual([tradesOf(view), view.isComplete], [1_300 + step, false])
    assert.deepEqual([view.lacking, view.issues], [1_300, ['venue_lacks_kept']])
  }
  // A past event that appears late in the venue's history.
  const between = fillAt((all[700]?.timeMs ?? 0) + MINUTE_MS)
  world.venue.events.set(wallet, [...all.slice(0, 701), between, ...all.slice(701), ...published])
  world.clock.advance(DAY_MS)
  const healed = await world.openSettled(wallet)
  assert.deepEqual([tradesOf(healed), healed.lacking, healed.issues], [1_307, 0, []])
  const events = healed.events({ ...EVER, order: 'asc' })
  assert.deepEqual(events[701]?.event, between)
  await world.restart()
  assert.equal(tradesOf(await world.open(wallet)), 1_307)
  await world.wallets.stop()
})

test('makes a full sync at once when the venue lacks stored events, and repeats the sync at growing intervals', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, hourlyFills(world, 5))
  await world.open(wallet)
  await world.restart()
  world.venue.events.set(wallet, [])
  const resyncMinutes: number[] = []
  for (let minute = 0; minute < 26 * 60; ) {
    const count = world.venue.readFrom.length
    await world.open(wallet)
    await settled()
    if (world.venue.readFrom.slice(count).includes(0)) resyncMinutes.push(minute)
    const minutes = minute < 400 ? 1 : 10
    world.clock.advance(minutes * MINUTE_MS)
    minute += minutes
  }
  assert.deepEqual(resyncMinutes, [0, 1, 6, 21, 81, 321])
  await world.wallets.stop()
})

test('retains the readable part of a wallet’s damaged ledger when the venue no longer returns the events', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, hourlyFills(world, 1_300))
  await world.open(wallet)
  await world.wallets.stop()
  world.storage.wallets.putBlock(wallet, 1, new Uint8Array(100))
  world.venue.events.set(wallet, [])
  await world.restart()
  const view = await world.openSettled(wallet)
  assert.deepEqual([tradesOf(view), view.isComplete, view.lacking], [788, false, 788])
  await world.wallets.stop()
})

test('retains a wallet’s name, payouts and outcomes when the venue no longer returns them', async () => {
  const world = new WalletWorld()
  const market = world.list(listing('m'))
  const wallet = world.wallet(1, [fillAt(world.clock.nowMs() - HOUR_MS)])
  await world.open(wallet)
  const open = market.summary
  const lost = { status: 'resolved', settlementPrice: priceMicros(0) } as const
  market.summary = { ...open, ...lost }
  world.wallets.onListed(market)
  const before = assertComplete(await world.open(wallet))
  assert.deepEqual([before.totals.realized, before.profile.handle], [-4_000_000, 'wallet 1'])
  const none = { eoa: null, handle: null, pseudonym: null, image: null }
  world.venue.profiles.set(wallet, { proxy: wallet, ...none })
  await world.restart()
  market.summary = open
  world.wallets.onListed(market)
  world.storage.wallets.putPnlState(wallet, new Uint8Array([1]))
  world.clock.advance(7 * HOUR_MS)
  const after = await world.openSettled(wallet)
  assert.deepEqual([after.totals.realized, after.profile.handle], [-4_000_000, 'wallet 1'])
  await world.wallets.stop()
})

test('shows an operator the stored events that the venue lacks and the events that the venue added', async () => {
  const world = new WalletWorld()
  const all = hourlyFills(world, 4)
  const wallet = world.wallet(1, all)
  await world.open(wallet)
  const live = fillAt(world.clock.nowMs(), { txHash: '0x11fe' })
  world.stream(wallet, live)
  const more = fillAt(world.clock.nowMs() - 30 * MINUTE_MS, { txHash: '0x3073' })
  world.venue.events.set(wallet, [...all.slice(0, 2), more])
  world.clock.advance(6 * SECOND_MS)
  await world.open(wallet)
  await settled(60)
  const show = walletHandlers(world.wallets)['wallet.show'] ?? assert.fail()
  const {
    is_complete,
    doubts: reasons,
    venue_lacks,
  } = JSON.parse(JSON.stringify(await show({ address: wallet })))
  assert.deepEqual([is_complete, reasons], [false, ['venue_lacks_kept', 'not_told_yet']])
  const { events, settled: settledCount, behind_the_ledger, asked_again, difference } = venue_lacks
  assert.deepEqual([events, settledCount, behind_the_ledger, asked_again], [3, 2, 1, 1])
  assert.deepEqual([difference.lacks, difference.had_more, difference.told_otherwise], [2, 1, 0])
  const hashes = (rows: readonly { readonly tx: string }[]) => rows.map(({ tx }) => tx)
  assert.deepEqual(
    hashes(difference.table),
    all.slice(2).map(({ txHash }) => txHash),
  )
  assert.deepEqual(hashes(venue_lacks.not_told), ['0x11fe'])
  await world.wallets.stop()
})

test('retains two equal fills of one transaction when the venue returns one of the two', async () => {
  const world = new WalletWorld()
  const old = hourlyFills(world, 3)
  const fill = fillAt(world.clock.nowMs() - 20 * SECOND_MS)
  const wallet = world.wallet(1, [...old, fill, fill])
  assert.equal(tradesOf(await world.open(wallet)), 5)
  world.venue.events.set(wallet, [...old, fill])
  world.clock.advance(6 * SECOND_MS)
  const less = assertComplete(await world.open(wallet))
  assert.deepEqual([tradesOf(less), less.lacking, less.isComplete], [5, 1, false])
  world.venue.events.set(wallet, [...old, fill, fill])
  world.clock.advance(6 * SECOND_MS)
  const healed = assertComplete(await world.open(wallet))
  assert.deepEqual([tradesOf(healed), healed.lacking, healed.issues], [5, 0, []])
  await world.wallets.stop()
})

test('retains live fills across a restart when the venue no longer returns the fills', async () => {
  const world = new WalletWorld()
  const wallet = world.wallet(1, hourlyFills(world, 3))
  await world.open(wallet)
  const fills = [1, 2, 3].map((n) => fillAt(world.clock.nowMs(), { txHash: `0x${n}` }))
  for (const fill of fills) world.stream(wallet, fill)
  world.clock.advance(500)
  const stored = world.storage.wallets.block(wallet, 2 ** 31)
  assert.ok(stored !== null, 'stored')
  await world.restart()
  const view = assertComplete(await world.open(wallet))
  assert.deepEqual([tradesOf(view), view.issues, view.lacking], [6, ['not_told_yet'], 3])
  world.venue.events.get(wallet)?.push(...fills)
  world.clock.advance(6 * SECOND_MS)
  const published = assertComplete(await world.open(wallet))
  assert.deepEqual([tradesOf(published), published.issues, published.lacking], [6, [], 0])
  await world.wallets.stop()
})

test('builds a wallet from stored trades and whale trades when the venue returns no events', async () => {
  for (const isNamed of [false, true]) {
    const world = new WalletWorld()
    const market = world.list(listing('m'))
    const other = world.list(listing('b', { venue: 'b' }))
    const wallet = addressOf(77)
    if (isNamed) world.wallet(77)
    const nowMs = world.clock.nowMs()
    const trade = (n: number, set: Partial<StoredTrade> = {}): Omit<StoredTrade, 'ordinal'> => ({
      ...{ nativeId: `t${n}`, timeMs: timeMs(nowMs - n * MINUTE_MS), price: priceMicros(300_000) },
      ...{ size: sizeMicros(10_000_000), side: 'sell', outcomeIndex: 1, usd: usdMicros(7_000_000) },
      ...{ maker: null, taker: wallet, txHash: `0x${n}`, receivedAtMs: timeMs(nowMs) },
      ...{ isBlock: false },
      ...{ run: null, offset: null, seq: null },
      ...set,
    })
    world.storage.trades.put(market.ref, trade(1))
    world.storage.trades.put(market.ref, trade(20, { outcomeIndex: 0 }))
    world.storage.trades.put(market.ref, trade(30, { taker: addressOf(78) }))
    world.storage.trades.put(other.ref, trade(40))
    const names = { outcome: 'No', question: 'm?', slug: 'm', eventSlug: null, category: null }
    const whale = (n: number) => ({ ...trade(n), ...names, wallet, fills: 2 })
    world.storage.whales.put(market.ref, whale(20))
    world.storage.whales.put(market.ref, whale(90))
    const view = assertComplete(await world.open(wallet))
    assert.deepEqual([tradesOf(view), view.isComplete, view.lacking], [3, false, 3])
    const rows = view.events({ ...EVER, order: 'asc' })
    assert.deepEqual(
      rows.map(({ event }) => [event.kind, event.price, event.txHash, event.usd]),
      [
        // A sale of Yes at 0.30 is a purchase of No at 0.70.
        ['buy', 700_000, '0x90', 7_000_000],
        ['sell', 300_000, '0x20', 7_000_000],
        ['buy', 700_000, '0x1', 7_000_000],
      ],
    )
    world.clock.advance(HOUR_MS)
    await world.open(wallet)
    await settled(60)
    await world.restart()
    const again = assertComplete(await world.open(wallet))
    assert.deepEqual([tradesOf(again), again.isComplete, again.lacking], [3, false, 3])
    assert.equal(await world.open(addressOf(79)), null, 'unknown to the venue and to the log')
    await world.wallets.stop()
  }
})

test('includes every event that the venue returned seconds before when it returns a wallet as complete', async () => {
  const world = new WalletWorld()
  world.list(listing('m'))
  const wallet = world.wallet(1, hourlyFills(world, 4))
  const random = seededRandom('promise', '1')
  const none = { token: null, price: priceMicros(0), role: null } as const
  let trailing = 0
  for (let step = 0; step < 120; step += 1) {
    world.clock.advance(random.below(20_000))
    await settled(3)
    const nowMs = world.clock.nowMs()
    world.venue.isDown = random.below(6) === 0
    if (random.below(3) === 0) {
      const merge = fillAt(nowMs, {
        ...none,
        kind: 'merge',
        txHash: `0x${step}`,
        size: sizeMicros(1),
      })
      world.venue.events.get(wallet)?.push(merge)
    }
    const view = assertComplete(await world.open(wallet))
    if (!view.isComplete) continue
    assert.ok(view.asOfMs >= nowMs - 5 * SECOND_MS, `as of ${nowMs - view.asOfMs} ms ago`)
    const rows = view.events({ ...EVER, order: 'asc' })
    const due = world.venue.listed(wallet).filter(({ kind }) => kind === 'merge')
    const shown = new Set(rows.map(({ event }) => event.txHash))
    for (const { txHash, timeMs: atMs } of due) {
      if (shown.has(txHash)) continue
      trailing += 1
      assert.ok(atMs + SECOND_MS > view.asOfMs, `${txHash} is older than what is promised`)
    }
  }
  assert.ok(trailing < 12, `${trailing}`)
  await world.wallets.stop()
})
