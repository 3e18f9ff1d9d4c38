import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { WalletView } from '../../../actors/wallets/views.ts'
import { type NativeMarketId, nativeEventId, nativeMarketId } from '../../../engine/ids.ts'
import { FEES_UNKNOWN, MODEL_UNKNOWN } from '../../../engine/market/fees.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { seededRandom } from '../../../engine/random.ts'
import {
  formatTime,
  HOUR_MS,
  priceMicros,
  sizeMicros,
  timeMs,
  usdMicros,
} from '../../../engine/units.ts'
import type { WalletEvent, WalletMarket } from '../../../engine/wallet.ts'
import { naiveFigures } from '../../support/reference/wallet-figures.ts'
import { listing } from '../../support/worlds/builders.ts'
import { randomHistory } from '../../support/worlds/wallet-histories.ts'
import { assertComplete, fillAt, settled, WalletWorld } from '../../support/worlds/wallet-venue.ts'

const SEEDS = process.env.TEST_LONG === '1' ? 300 : 10
const EVER = { fromMs: timeMs(0), toMs: timeMs(9e15), after: null, limit: 1_000 } as const
const ALL = { ...EVER, order: 'asc' } as const

test('returns the names of a wallet’s market even if the catalogue removed or never contained the market', async () => {
  const world = new WalletWorld()
  const nowMs = world.clock.nowMs()
  const removed = listing('forgotten')
  const old = listing('old', { status: 'resolved', settlementPrice: priceMicros(0) })
  world.list(removed)
  world.fetchable.set(old.nativeId, old)
  const events = ['forgotten', 'old', 'unlisted'].map((name, index) =>
    fillAt(nowMs - (9 - index) * HOUR_MS, { name }),
  )
  const wallet = world.wallet(1, events)
  await world.open(wallet)
  const market = world.markets.get(removed.nativeId) ?? assert.fail()
  world.markets.delete(removed.nativeId)
  world.wallets.onRemoved(market)
  for (const run of ['at once', 'after a restart']) {
    const view = assertComplete(await world.open(wallet))
    const shown = [
      view.events(ALL).map(({ facts }) => facts),
      (await view.positions()).map(({ facts }) => facts),
    ]
    for (const facts of shown) {
      const named = facts.map((one) => [one?.question, one?.slug, one?.eventSlug, one?.labels])
      const nameOf = ({ question, slug, eventSlug }: MarketListing) => [question, slug, eventSlug]
      assert.deepEqual(
        named,
        [
          [...nameOf(removed), ['Yes', 'No']],
          [...nameOf(old), ['Yes', 'No']],
          [undefined, undefined, undefined, undefined],
        ],
        run,
      )
      assert.deepEqual(facts[0]?.tokens, ['forgotten-yes', 'forgotten-no'])
    }
    await world.restart()
  }
  await world.wallets.stop()
})

function listed(market: WalletMarket): MarketListing {
  const { nativeId, tokens, payout, resolvedAtMs, group, labels, takerFee } = market
  const isClosed = resolvedAtMs !== null
  const closed = isClosed ? { closed: true, closedTime: formatTime(resolvedAtMs) } : {}
  return listing(nativeId, {
    ...{ nativeId, slug: nativeId, event: nativeEventId(market.eventSlug ?? '') },
    outcomes: tokens.map((id, index) => ({ label: labels[index] ?? '', id })),
    ...{ status: isClosed ? 'resolved' : 'open', settlementPrice: payout },
    native: { negRisk: group !== null, ...closed },
    fees: { ...FEES_UNKNOWN, now: { ...MODEL_UNKNOWN, taker: takerFee } },
  })
}

async function figuresOf(view: WalletView) {
  const positions = (await view.positions()).map((position) => {
    const { token, balance, amount, cost, realized, isCostKnown } = position
    return { token, balance, amount, cost, realized, isCostKnown }
  })
  positions.sort((one, other) => (one.token < other.token ? -1 : 1))
  return { positions, totals: view.totals }
}

function expectedFigures(events: readonly WalletEvent[], markets: readonly WalletMarket[]) {
  const byId = new Map(markets.map((market) => [market.nativeId, market]))
  const naive = naiveFigures(events, (id) => byId.get(id) ?? null, [])
  const positions = naive.positions.map((position) => {
    const { token, balance, amount, cost, realized, isCostKnown } = position
    return { token, balance, amount, cost, realized, isCostKnown }
  })
  return { positions, totals: naive.totals }
}

async function opened(world: WalletWorld, wallet: ReturnType<WalletWorld['wallet']>) {
  await world.open(wallet)
  await settled(40)
  return assertComplete(await world.open(wallet))
}

test('divides a conversion over all markets of its group, including settled markets, with one request per group', async () => {
  let conversions = 0
  let smaller = 0
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const shape = { isComplete: true, eventCount: 60, groupCount: 3 }
    const { events, markets } = randomHistory(seed, shape)
    const random = seededRandom('groups', seed)
    const resolvedMs = markets.map(({ resolvedAtMs }) => resolvedAtMs ?? 0)
    const endMs = Math.max(events.at(-1)?.timeMs ?? 0, ...resolvedMs)
    const world = new WalletWorld({ startMs: endMs + 600_000 })
    for (const market of markets) {
      world.fetchable.set(market.nativeId, listed(market))
      if (market.group !== null) world.venue.groups.set(market.nativeId, market.group)
      if (random.below(3) > 0) world.list(listed(market))
      else if (market.group !== null) smaller += 1
    }
    const wallet = world.wallet(1, events)
    const expected = expectedFigures(events, markets)
    const converted = new Set(events.flatMap((event) => event.converted))
    conversions += expected.totals.conversions
    // Without a group the wallet is incomplete and requests the group again later.
    if (random.below(2) === 0) {
      world.venue.returnsGroups = false
      const isLacking = converted.size > 0
      assert.equal((await opened(world, wallet)).isComplete, !isLacking, `seed ${seed}`)
      if (random.below(2) === 0) await world.restart()
      assert.equal((await opened(world, wallet)).isComplete, !isLacking, `seed ${seed}`)
      world.clock.advance(31_000)
      world.venue.returnsGroups = true
      world.venue.groupRequests.length = 0
    }
    const view = await opened(world, wallet)
    assert.equal(view.isComplete, true, `seed ${seed}`)
    assert.deepEqual(await figuresOf(view), expected, `seed ${seed}`)
    assert.equal(new Set(world.venue.groupRequests).size, world.venue.groupRequests.length)
    assert.ok(world.venue.groupRequests.every((id) => converted.has(id)))
    world.venue.groupRequests.length = 0
    await world.restart()
    world.clock.advance(6 * HOUR_MS)
    assert.deepEqual(await figuresOf(await opened(world, wallet)), expected, `seed ${seed}, again`)
    assert.deepEqual(world.venue.groupRequests, [], 'a known group is not requested again')
    await world.wallets.stop()
  }
  assert.ok(conversions > SEEDS && smaller > SEEDS / 2, `${conversions} conversions, ${smaller}`)
})

test('repeats the request for a wallet’s unsettled market after a minute when the catalogue lacks the market', async () => {
  const world = new WalletWorld()
  const nowMs = world.clock.nowMs()
  const moved = nativeMarketId('moved')
  world.fetchable.set(moved, listing(moved))
  const wallet = world.wallet(1, [fillAt(nowMs - HOUR_MS, { name: 'moved', outcome: 'no' })])
  const payoutsOf = async () =>
    (await (await opened(world, wallet)).positions()).map(({ facts }) => facts?.payout ?? null)
  assert.deepEqual(await payoutsOf(), [null])
  world.fetchable.set(
    moved,
    listing(moved, {
      ...{ status: 'resolved', settlementPrice: priceMicros(1_000_000) },
      native: { closed: true },
    }),
  )
  world.clock.advance(10_000)
  assert.deepEqual(await payoutsOf(), [null])
  world.clock.advance(60_000)
  assert.deepEqual(await payoutsOf(), [1_000_000])
  await world.wallets.stop()
})

const GROUP = ['g0', 'g1', 'g2', 'g3'].map(nativeMarketId)

/** Ten No of g0, bought at 0.70, are converted into ten Yes of each remaining market. g3 settled long ago. */
function conversionWorld() {
  const world = new WalletWorld()
  const nowMs = world.clock.nowMs()
  for (const id of GROUP) {
    const event = nativeEventId('group')
    const one = listing(id, { event, native: { negRisk: true } })
    world.fetchable.set(id, one)
    if (id !== 'g3') world.list(one)
    world.venue.groups.set(id, GROUP)
  }
  const bought = fillAt(nowMs - 2 * HOUR_MS, {
    ...{ name: 'g0', outcome: 'no', price: priceMicros(700_000) },
  })
  const [converted] = GROUP
  assert.ok(converted !== undefined)
  const conversion = (atMs: number): WalletEvent => ({
    ...fillAt(atMs, { name: 'g0', size: sizeMicros(10_000_000), usd: usdMicros(0) }),
    ...{ kind: 'conversion', token: null, price: priceMicros(0), role: null },
    converted: [converted],
  })
  return { world, bought, conversion, nowMs }
}

const costsOf = async (view: WalletView) =>
  Object.fromEntries(
    (await view.positions())
      .filter(({ amount }) => amount > 0)
      .map(({ token, cost }) => [token, cost]),
  )

test('waits for the market group of a recent conversion, and repeats the request for an unknown group after an hour', async () => {
  const { world, bought, conversion, nowMs } = conversionWorld()
  const wallet = world.wallet(1, [bought, conversion(nowMs - 5_000)])
  world.venue.groups.clear()
  const first = await opened(world, wallet)
  assert.deepEqual([first.isComplete, await costsOf(first)], [false, {}])
  for (const id of GROUP) world.venue.groups.set(id, GROUP)
  world.clock.advance(6 * 60_000)
  assert.equal((await opened(world, wallet)).isComplete, false)
  assert.deepEqual(world.venue.groupRequests, ['g0'])
  world.clock.advance(HOUR_MS)
  const complete = await opened(world, wallet)
  assert.deepEqual(world.venue.groupRequests, ['g0', 'g0'])
  const yes: Record<string, number> = { 'g1-yes': 2_333_333, 'g2-yes': 2_333_333 }
  assert.deepEqual(
    [complete.isComplete, await costsOf(complete)],
    [true, { ...yes, 'g3-yes': 2_333_334 }],
  )
  await world.wallets.stop()
})

test('never takes the market group of a conversion from the catalogue when the venue returns no group', async () => {
  const { world, bought, conversion, nowMs } = conversionWorld()
  const wallet = world.wallet(1, [bought, conversion(nowMs - HOUR_MS)])
  world.venue.returnsGroups = false
  assert.equal((await opened(world, wallet)).isComplete, false)
  await world.wallets.stop()
  world.storage.wallets.putPnlState(wallet, new Uint8Array([1, 2, 3]))
  await world.restart()
  const market = world.markets.get(nativeMarketId('g1')) ?? assert.fail()
  world.wallets.onListed(market)
  const view = await opened(world, wallet)
  assert.deepEqual([view.isComplete, await costsOf(view)], [false, {}])
  const stored = (id: NativeMarketId) => world.storage.wallets.market(id)
  assert.deepEqual(
    GROUP.map((id) => [stored(id)?.isConverted ?? null, stored(id)?.group ?? null]),
    [[true, null], ...GROUP.slice(1).map(() => [null, null])],
  )
  await world.wallets.stop()
})
