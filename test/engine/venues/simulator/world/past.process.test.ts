import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../../../engine/process/log.ts'
import type { SimMarket } from '../../../../../engine/venues/simulator/model.ts'
import { type Simulator, startSimulator } from '../../../../../engine/venues/simulator/simulator.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { publicKeyPem } from '../../../../support/fakes/rsa-pair.ts'

const NOW = Date.UTC(2026, 10, 20, 12)
const HOUR_S = 3_600

async function start(t: TestContext, hasPast = true): Promise<Simulator> {
  const clock = new ManualClock(NOW)
  const simulator = await startSimulator({
    ...{ seed: 3, marketsPerVenue: 120, messagesPerSecond: 50, faults: [], clock },
    ...{ log: silentLog, basePort: 0, kalshiPublicKeyPem: publicKeyPem, hasPast },
  })
  t.after(() => simulator.stop())
  return simulator
}

test('generates the same trade history for the same seed and start, without changing listed markets', async (t) => {
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

test('serves past trades on the chart endpoints and wallet endpoints of both venues', async (t) => {
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
