import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { PRICE_HALF, PRICE_ONE, priceMicros, timeMs } from '../../../../../engine/units.ts'
import type { PlannedEvent } from '../../../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import type { SimMarket, SimWalletEvent } from '../../../../../engine/venues/simulator/model.ts'
import {
  migratedOf,
  originOf,
} from '../../../../../engine/venues/simulator/world/migrated-market.ts'
import type { WalletAccount } from '../../../../../engine/venues/simulator/world/wallet-account.ts'
import { isNamed } from '../../../../../engine/venues/simulator/world/wallet-events.ts'
import { WalletLedgers } from '../../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { type Plan, SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { NOON, planEvent, planMarket } from '../../../../support/worlds/sim-plan.ts'

const SECOND_MS = 1_000
const CLOSES_MS = 40 * SECOND_MS
const RESOLVES_MS = 50 * SECOND_MS

/** The third of the event's five markets wins. One market is void, and one market stays open. */
function plan(): Plan {
  const ends = {
    closeMs: timeMs(NOON + CLOSES_MS),
    determineMs: timeMs(NOON + CLOSES_MS),
    resolveMs: timeMs(NOON + RESOLVES_MS),
  }
  const group = [0, 2, 4, 6, 8].map((index) => {
    const payout = index === 4 ? PRICE_ONE : priceMicros(0)
    return planMarket(index, { prior: 0.2, listing: { ...ends, payout, activity: 3 } })
  })
  const [first] = group
  assert.ok(first !== undefined)
  const exclusive: PlannedEvent = {
    event: { ...planEvent(first).event, isMutuallyExclusive: true },
    markets: group,
  }
  const halved = planMarket(10, { prior: 0.5, listing: { ...ends, payout: PRICE_HALF } })
  const lasting = planEvent(planMarket(12, { listing: { activity: 0.5 } }))
  const taxed: PlannedEvent = { ...lasting, event: { ...lasting.event, topic: 'crypto' } }
  const events = [exclusive, planEvent(halved), taxed, planEvent(planMarket(13))]
  return {
    eventsAt: () => events,
    createdBetween: () => [],
    eventNumbered: () => null,
    teams: () => [],
  }
}

/** Runs a world for `seconds` in steps of 20 ms, then for `minutes` in steps of 20 s. */
function runWorld(options: { seconds?: number; minutes?: number; countMax?: number } = {}) {
  const { seconds = 52, minutes = 20, countMax } = options
  const clock = new ManualClock(NOON)
  const world = new SimulatedWorld({
    seed: 5,
    messagesPerSecond: 1_500,
    plan: plan(),
    faults: new Faults([], seededRandom(1)),
    clock,
    random: seededRandom('world', 5),
  })
  const ledgers = new WalletLedgers({ world, ...(countMax === undefined ? {} : { countMax }) })
  for (let elapsed = 0; elapsed < seconds * SECOND_MS; elapsed += 20) {
    clock.advance(20)
    world.step()
  }
  for (let elapsed = 0; elapsed < minutes * 60; elapsed += 20) {
    clock.advance(20 * SECOND_MS)
    world.step()
  }
  return { world, ledgers }
}

const SHORT = { seconds: 15, minutes: 0 }

/** Tests that do not change the world share this world. */
const { world, ledgers } = runWorld()

function eventsOf(
  kind: SimWalletEvent['kind'],
): readonly (readonly [WalletAccount, SimWalletEvent])[] {
  return ledgers
    .all()
    .flatMap((ledger) =>
      ledger.events.filter((event) => event.kind === kind).map((event) => [ledger, event] as const),
    )
}

/** Changes of the Yes and No balances of each market by an event, without tokens that a conversion returns. */
function tokenMoves(
  event: SimWalletEvent,
  held: (market: SimMarket) => readonly [number, number],
): readonly (readonly [SimMarket, number, number])[] {
  const { market, kind, size, fill } = event
  if (market === null) return []
  if (fill !== null) {
    const isBuy = (fill.trade.side === 'buy') === (fill.participant === 0)
    const delta = isBuy ? size : -size
    return [
      [
        market,
        fill.trade.outcomeIndex === 0 ? delta : 0,
        fill.trade.outcomeIndex === 1 ? delta : 0,
      ],
    ]
  }
  if (kind === 'SPLIT') return [[market, size, size]]
  if (kind === 'MERGE') return [[market, -size, -size]]
  if (kind === 'REDEEM') {
    const [yes, no] = held(market)
    const isFirst = event.outcomeIndex === 0
    const isWinner =
      (isFirst ? market.listing.payout : PRICE_ONE - market.listing.payout) === PRICE_ONE
    // A winner may redeem in several parts, each at one dollar per contract.
    const size = isWinner ? event.usd : isFirst ? yes : no
    return [isFirst ? [market, -size, 0] : [market, 0, -size]]
  }
  if (kind === 'MIGRATION') {
    const [yes, no] = event.outcomeIndex === 0 ? [size, 0] : [0, size]
    return [
      [originOf(market) ?? market, -yes, -no],
      [market, yes, no],
    ]
  }
  return kind === 'CONVERSION' ? [[market, 0, -size]] : []
}

/** Fails if a balance is ever negative. */
function balances(
  ledger: WalletAccount,
  events: readonly SimWalletEvent[] = ledger.events,
): Map<SimMarket, [number, number]> {
  const held = new Map<SimMarket, [number, number]>()
  const of = (market: SimMarket): [number, number] => {
    const existing = held.get(market) ?? [0, 0]
    held.set(market, existing)
    return existing
  }
  const move = (market: SimMarket, yes: number, no: number): void => {
    const balance = of(market)
    balance[0] += yes
    balance[1] += no
    assert.ok(balance[0] >= 0 && balance[1] >= 0, `${ledger.wallet.address} below zero`)
  }
  events.forEach((event, index) => {
    for (const [market, yes, no] of tokenMoves(event, of)) move(market, yes, no)
    if (event.kind !== 'CONVERSION' || event.market === null) return
    if (events[index + 1]?.txHash === event.txHash) return
    const rows = events.filter((row) => row.kind === 'CONVERSION' && row.txHash === event.txHash)
    const given = new Set(rows.map(({ market }) => market))
    for (const market of event.market.event.markets) {
      if (!given.has(market)) move(market, event.size, 0)
    }
  })
  return held
}

const cashOf = ({ kind, usd, fill }: SimWalletEvent): number => {
  if (kind === 'REWARD' || kind === 'MAKER_REBATE' || kind === 'MIGRATION') return 0
  const isPaid =
    kind === 'SPLIT' || (fill !== null && (fill.trade.side === 'buy') === (fill.participant === 0))
  return isPaid ? -usd : usd
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

test('updates wallet balances so that no balance is negative and every balance equals the sum of its events', () => {
  assert.ok(ledgers.all().length > 500)
  for (const ledger of ledgers.all()) {
    const matchedMarket = balances(ledger)
    for (const [market, { positions }] of ledger.holdings) {
      assert.deepEqual(
        positions.map(({ amount }) => amount as number),
        matchedMarket.get(market) ?? [0, 0],
      )
    }
    const times = ledger.events.map(({ atMs }) => atMs as number)
    assert.deepEqual(
      times,
      times.toSorted((one, other) => one - other),
    )
  }
})

test('updates wallet balances without negative values for any order of the transactions of one second', () => {
  let moved = 0
  for (const sign of [1, -1]) {
    for (const ledger of ledgers.all()) {
      const keyed = ledger.events.map((event) => {
        return { event, second: Math.floor(event.atMs / SECOND_MS), hash: event.txHash }
      })
      keyed.sort((one, other) => {
        if (one.second !== other.second) return one.second - other.second
        return one.hash === other.hash ? 0 : one.hash < other.hash ? -sign : sign
      })
      const sorted = keyed.map(({ event }) => event)
      moved += sorted.filter((event, index) => event !== ledger.events[index]).length
      const matchedMarket = balances(ledger, sorted)
      for (const [market, held] of balances(ledger))
        assert.deepEqual(matchedMarket.get(market), held)
    }
  }
  assert.ok(moved > 1_000, `${moved}`)
})

test('updates cash to the sum of all payments, and the sum of all cash and holdings remains zero', () => {
  let dust = 0
  let worth = 0
  for (const ledger of ledgers.all()) {
    assert.equal(ledger.cash, sum(ledger.events.map(cashOf)))
    assert.equal(ledger.fees, sum(ledger.events.map(({ fee }) => fee)))
    for (const event of ledger.events) if (event.fill !== null) dust += cashOf(event)
    for (const [{ listing, status }, [yes, no]] of balances(ledger)) {
      const payout = status === 'resolved' ? listing.payout : PRICE_HALF
      worth += (yes * payout + no * (PRICE_ONE - payout)) / PRICE_ONE
    }
  }
  // The dust is the rounding of prices that are off the tick.
  const fillCount = eventsOf('TRADE').length
  assert.ok(Math.abs(dust) <= fillCount, `${dust}`)
  // All wallets together paid for what they hold, so the sum of cash and worth is zero.
  const cash = sum(ledgers.all().map((ledger) => ledger.cash))
  assert.ok(Math.abs(cash + worth - dust) <= fillCount / 1_000, `${cash} ${worth} ${dust}`)
  assert.ok(worth > 0)
})

test('splits dollars into tokens before a sale when tokens are missing, and sometimes merges the tokens of both outcomes', () => {
  let splits = 0
  for (const { events } of ledgers.all()) {
    events.forEach((event, index) => {
      if (event.kind !== 'SPLIT') return
      const next = events[index + 1]
      assert.equal(next?.kind, 'TRADE')
      assert.equal(next.market, event.market)
      assert.equal(next.atMs, event.atMs)
      assert.equal(next.txHash, event.txHash)
      assert.equal(event.usd, event.size as number)
      splits += 1
    })
  }
  assert.ok(splits > 500)
  const merges = eventsOf('MERGE').length
  assert.ok(merges > 20 && merges < splits, `${merges}`)
  assert.ok(eventsOf('REWARD').length + eventsOf('MAKER_REBATE').length > 5)
  assert.ok([...eventsOf('REWARD')].every(([, { market, usd }]) => market === null && usd > 0))
})

test('redeems most winning tokens at the payout and some losing tokens for nothing', () => {
  const redeems = eventsOf('REDEEM')
  for (const [, { atMs, market, size, usd, txHash }] of redeems) {
    assert.ok(market !== null && atMs >= market.listing.resolveMs + 5_000)
    if (!isNamed({ kind: 'REDEEM', txHash })) assert.equal(size, usd as number)
    else if (usd === 0) assert.ok(size > 0, 'a row that names a losing token has its contracts')
  }
  const paid = redeems.filter(([, { usd }]) => usd > 0)
  assert.ok(paid.length > 50 && redeems.length - paid.length > 50)
  const count = { winners: 0, losers: 0 }
  for (const ledger of ledgers.all()) {
    for (const [market, [yes, no]] of balances(ledger)) {
      if (market.status !== 'resolved') continue
      const worth = yes * market.listing.payout + no * (PRICE_ONE - market.listing.payout)
      if (worth > 0) count.winners += 1
      else if (yes + no > 0) count.losers += 1
    }
  }
  const stored = count.winners / (count.winners + paid.length)
  assert.ok(stored > 0.05 && stored < 0.3, `${stored}`)
  assert.ok(count.losers > redeems.length - paid.length)
  const halves = redeems.filter(([, { market }]) => market?.listing.payout === PRICE_HALF)
  assert.ok(halves.length > 0 && halves.every(([, { usd }]) => usd > 0))
})

test('writes one row per converted market with the same transaction hash, and all dollars in the first row', () => {
  const byHash = new Map<string, SimWalletEvent[]>()
  for (const [, event] of eventsOf('CONVERSION')) {
    const rows = byHash.get(event.txHash) ?? []
    rows.push(event)
    byHash.set(event.txHash, rows)
  }
  assert.ok(byHash.size > 5, `${byHash.size}`)
  for (const rows of byHash.values()) {
    assert.ok(rows.length >= 2)
    assert.equal(new Set(rows.map(({ market }) => market)).size, rows.length)
    assert.equal(new Set(rows.map(({ size }) => size)).size, 1)
    const [first, ...others] = rows
    assert.equal(first?.usd, (rows.length - 1) * (first?.size ?? 0))
    assert.ok(others.every(({ usd }) => usd === 0))
    assert.ok(rows.every(({ market }) => market?.event.isMutuallyExclusive === true))
  }
})

test('drops the oldest wallet events above the limit, and counts the dropped events of each wallet', () => {
  const small = runWorld({ ...SHORT, countMax: 3_000 }).ledgers
  const large = runWorld(SHORT).ledgers
  const stored = sum(small.all().map(({ events }) => events.length))
  assert.ok(stored <= 3_000 && stored > 2_500, `${stored}`)
  for (const ledger of small.all()) {
    const complete = large.wallet(ledger.wallet.address)
    assert.ok(complete !== null)
    assert.equal(ledger.droppedEventCount + ledger.events.length, complete.events.length)
    const seen = ({ kind, usd, txHash }: SimWalletEvent) => [kind, usd, txHash]
    assert.deepEqual(
      ledger.events.map(seen),
      complete.events.slice(ledger.droppedEventCount).map(seen),
    )
    assert.equal(ledger.cash, complete.cash)
  }
})

test('migrates the position in one outcome to protocol v2 at cost, and redeems the position under protocol v2', () => {
  const moved = eventsOf('MIGRATION')
  assert.ok(moved.length > 10, `${moved.length}`)
  for (const [, { market, outcomeIndex, size, usd }] of moved) {
    assert.ok(market !== null && outcomeIndex !== null && size > 0 && usd === 0)
    const origin = originOf(market)
    assert.ok(origin !== null && migratedOf(origin) === market)
    assert.equal(world.market('a', market.listing.nativeId), market)
    assert.equal(market.status, origin.status)
    const id = BigInt(market.listing.nativeId)
    assert.deepEqual(market.listing.tokens, [`${id}`, `${id + 1n}`])
    assert.ok(market.listing.nativeId.includes(origin.listing.nativeId.slice(-32)))
  }
  const redeemed = eventsOf('REDEEM').filter(([, { market }]) => market && originOf(market))
  assert.ok(redeemed.length > 0)
})
