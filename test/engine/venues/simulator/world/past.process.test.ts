// The past that a world begins with, judged by adding up what each wallet did and by what both venues answer.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../../../engine/process/log.ts'
import { complement, toNumber } from '../../../../../engine/units.ts'
import type { SimMarket } from '../../../../../engine/venues/simulator/model.ts'
import { type Simulator, startSimulator } from '../../../../../engine/venues/simulator/simulator.ts'
import { originOf } from '../../../../../engine/venues/simulator/world/migrated-market.ts'
import type { WalletAccount } from '../../../../../engine/venues/simulator/world/wallet-account.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const HOUR_S = 3_600

async function start(t: TestContext, hasPast = true): Promise<Simulator> {
  const clock = new ManualClock(NOW)
  const simulator = await startSimulator({
    ...{ seed: 3, marketsPerVenue: 120, messagesPerSecond: 50, faults: [], clock },
    ...{ log: silentLog, basePort: 0, kalshiPublicKeyPem: null, hasPast },
  })
  t.after(() => simulator.stop())
  return simulator
}

interface Figures {
  amount: number
  average: number
  realized: number
}

/** Amounts, running averages and profits by the venue's written rules, from the rows of activity alone. */
function added(ledger: WalletAccount): {
  positions: ReadonlyMap<SimMarket, readonly [Figures, Figures]>
  cash: number
} {
  const positions = new Map<SimMarket, [Figures, Figures]>()
  let cash = 0
  const of = (market: SimMarket): [Figures, Figures] => {
    const fresh = () => ({ amount: 0, average: 0, realized: 0 })
    const existing = positions.get(market) ?? [fresh(), fresh()]
    positions.set(market, existing)
    return existing
  }
  const buy = (at: Figures, size: number, price: number): void => {
    at.average = (at.average * at.amount + price * size) / (at.amount + size)
    at.amount += size
  }
  const sell = (at: Figures, size: number, price: number): void => {
    at.amount -= size
    at.realized += size * (price - at.average)
    assert.ok(at.amount >= 0, 'nobody sells what he lacks')
  }
  const converted = new Set<string>()
  // No of every market given goes at its cost; what comes back shares that cost, less the dollars paid.
  const convert = (txHash: string, size: number): void => {
    const rows = ledger.events.filter((row) => row.kind === 'CONVERSION' && row.txHash === txHash)
    const given = rows.flatMap(({ market }) => market ?? [])
    const others = (given[0]?.event.markets ?? []).filter((each) => !given.includes(each))
    let cost = 0
    for (const market of given) {
      const [, second] = of(market)
      cost += second.average
      sell(second, size, second.average)
    }
    for (const market of others) {
      buy(of(market)[0], size, (cost - (given.length - 1)) / others.length)
    }
  }
  for (const { kind, market, fill, outcomeIndex, size, usd, txHash } of ledger.events) {
    if (market === null) continue
    if (kind === 'CONVERSION' && !converted.has(txHash)) {
      converted.add(txHash)
      convert(txHash, size)
    }
    const [first, second] = of(market)
    const { payout } = market.listing
    if (kind === 'MIGRATION') {
      const from = of(originOf(market) ?? market)[outcomeIndex ?? 0]
      const { average } = from
      sell(from, size, average)
      buy(outcomeIndex === 0 ? first : second, size, average)
      continue
    }
    if (fill !== null) {
      const { trade, participant } = fill
      const at = trade.outcomeIndex === 0 ? first : second
      const isBuy = (trade.side === 'buy') === (participant === 0)
      if (isBuy) buy(at, size, usd / size)
      else sell(at, size, usd / size)
      cash += isBuy ? -usd : usd
      continue
    }
    cash += kind === 'SPLIT' ? -usd : usd
    for (const at of [first, second]) {
      const paid = toNumber(at === first ? payout : complement(payout))
      if (kind === 'SPLIT') buy(at, size, 0.5)
      else if (kind === 'MERGE') sell(at, size, 0.5)
      else if (kind === 'REDEEM' && at === (outcomeIndex === 0 ? first : second)) {
        sell(at, at.amount, paid)
      }
    }
  }
  return { positions, cash }
}

const countOf = (ledgers: readonly WalletAccount[], kind: string): number =>
  ledgers.reduce((sum, { events }) => sum + events.filter((each) => each.kind === kind).length, 0)

test('starts a new world with a consistent wallet history', async (t) => {
  const { wallets, world } = await start(t)
  const ledgers = wallets.all()
  for (const kind of ['TRADE', 'SPLIT', 'MERGE', 'REDEEM', 'CONVERSION', 'REWARD']) {
    assert.ok(countOf(ledgers, kind) > 0, `there is a ${kind}`)
  }
  let [won, lost, compared] = [0, 0, 0]
  for (const ledger of ledgers) {
    const { positions, cash } = added(ledger)
    assert.equal(cash, ledger.cash)
    for (const [market, figures] of positions) {
      for (const index of [0, 1] as const) {
        const shown = ledger.holdings.get(market)?.positions[index]
        assert.equal(shown?.amount, figures[index].amount)
        assert.ok(Math.abs((shown?.realized ?? 0) - figures[index].realized) < 1)
        compared += 1
      }
      if (market.status !== 'resolved') continue
      const profit = figures[0].realized + figures[1].realized
      won += profit > 0 ? 1 : 0
      lost += profit < 0 ? 1 : 0
    }
  }
  assert.ok(won > 100 && lost > 100 && compared > 1_000, `${won} won, ${lost} lost, ${compared}`)
  for (const venue of ['a', 'b'] as const) {
    let lastMs = 0
    for (const { atMs, market } of world.trades(venue)) {
      const { openMs, closeMs } = market.listing
      assert.ok(atMs >= lastMs && atMs >= openMs && atMs < closeMs && atMs < NOW)
      lastMs = atMs
    }
    assert.ok(world.trades(venue).length > 5_000)
  }
})

test('derives the past from seed and start without changing listed markets', async (t) => {
  const [one, other, without] = [await start(t), await start(t), await start(t, false)]
  const rows = ({ wallets }: Simulator) =>
    wallets.all().map(({ wallet, eoa, cash, events }) => ({
      ...{ wallet, eoa, cash },
      events: events.map(({ kind, atMs, txHash, size }) => [kind, atMs, txHash, size]),
    }))
  assert.deepEqual(rows(one), rows(other))
  for (const venue of ['a', 'b'] as const) {
    const markets = ({ world }: Simulator) =>
      world.markets(venue).map((market) => [market.listing.nativeId, market.status, market.book])
    assert.deepEqual(markets(one), markets(without))
    assert.deepEqual(without.world.trades(venue), [])
  }
})

test('serves past trades on the venues’ endpoints, so that the first charts are filled', async (t) => {
  const { urls, world, wallets } = await start(t)
  const nowS = NOW / 1_000
  const old = (market: SimMarket) =>
    market.status === 'open' && market.listing.openMs < NOW - 24 * HOUR_S * 1_000
  for (const { listing } of world.markets('a').filter(old).slice(0, 10)) {
    const url = `${urls.clob}/prices-history?market=${listing.tokens[0]}&interval=1d`
    const { history } = await read<{ history: readonly unknown[] }>(url)
    assert.ok(history.length >= 287, `${history.length} points of a day`)
  }
  let traded = 0
  for (const { listing, event } of world.markets('b').filter(old).slice(0, 10)) {
    const range = `start_ts=${nowS - 24 * HOUR_S + 1}&end_ts=${nowS}&period_interval=60`
    const url = `${urls.kalshiRest}/series/${event.series}/markets/${listing.nativeId}/candlesticks?${range}`
    const { candlesticks } = await read<{ candlesticks: readonly Candle[] }>(url)
    assert.equal(candlesticks.length, 24)
    traded += candlesticks.filter(({ price }) => price.close_dollars !== undefined).length
  }
  assert.ok(traded > 100, `${traded} of 240 hours traded`)
  const redeemed = wallets.all().find(({ events }) => events.some(({ kind }) => kind === 'REDEEM'))
  assert.ok(redeemed !== undefined)
  const user = `user=${redeemed.wallet.address}`
  for (const path of [`activity?${user}&type=REDEEM`, `positions?${user}&status=CLOSED`]) {
    const { data } = await read<{ data: readonly unknown[] }>(`${urls.data}/v2/${path}`)
    assert.ok(data.length > 0, path)
  }
  const kalshi = await read<{ trades: unknown[] }>(`${urls.kalshiRest}/markets/trades?limit=1000`)
  assert.equal(kalshi.trades.length, 1_000)
  const state = await read<{ venues: Record<string, { trades: number }> }>(
    `${urls.gamma}/sim/state`,
  )
  assert.equal(state.venues.a?.trades, world.trades('a').length)
})

interface Candle {
  readonly price: { readonly close_dollars?: string }
}

async function read<Answer>(url: string): Promise<Answer> {
  const response = await fetch(url)
  assert.equal(response.status, 200, url)
  return JSON.parse(await response.text())
}
