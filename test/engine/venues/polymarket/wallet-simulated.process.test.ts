// Reads wallets of the simulated venue over HTTP. The simulator's ledgers are the reference.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemClock } from '../../../../engine/clock.ts'
import { HttpClient } from '../../../../engine/fetch.ts'
import { nativeMarketId, walletAddress } from '../../../../engine/ids.ts'
import { silentLog } from '../../../../engine/process/log.ts'
import { Metrics } from '../../../../engine/process/metrics.ts'
import { seededRandom } from '../../../../engine/random.ts'
import { timeMs } from '../../../../engine/units.ts'
import { PolymarketCatalog } from '../../../../engine/venues/polymarket/catalog/catalog.ts'
import { DataApi } from '../../../../engine/venues/polymarket/data-api.ts'
import { readPositions } from '../../../../engine/venues/polymarket/wallets/positions.ts'
import { readProfile } from '../../../../engine/venues/polymarket/wallets/profile.ts'
import { readWalletHistory } from '../../../../engine/venues/polymarket/wallets/wallet-history.ts'
import type { SimWalletEvent } from '../../../../engine/venues/simulator/model.ts'
import { startSimulator } from '../../../../engine/venues/simulator/simulator.ts'
import type { WalletAccount } from '../../../../engine/venues/simulator/world/wallet-account.ts'
import type { WalletEvent } from '../../../../engine/wallet.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { publicKeyPem } from '../../../support/fakes/rsa-pair.ts'
import { venueCounters } from '../../../support/fakes/venue-counters.ts'

const MINUTES = process.env.TEST_LONG === '1' ? 120 : 10
const WALLETS = 25

interface Told {
  readonly atS: number
  readonly hash: string
  readonly kind: string
  readonly markets: string[]
  readonly size: number
  usd: number
  readonly fee: number
}

/** The simulator's events of a wallet, in the format and order of our wallet events. */
function expectedOf({ wallet, events }: WalletAccount): string[] {
  const published: Told[] = []
  for (const event of events) {
    const row = toldOf(event, wallet.address)
    const before = published.at(-1)
    if (row.kind === 'conversion' && before?.kind === 'conversion' && before.hash === row.hash) {
      before.markets.push(...row.markets)
      before.usd += row.usd
    } else published.push(row)
  }
  published.sort(
    (one, other) =>
      one.atS - other.atS || Number(one.hash > other.hash) - Number(one.hash < other.hash),
  )
  return published.map(({ atS, hash, kind, markets, size, usd, fee }) =>
    [atS, hash, kind, markets.join('+'), size, usd, fee].join(' '),
  )
}

function toldOf(event: SimWalletEvent, address: string): Told {
  const { fill, kind, fee, usd } = event
  const isOwn = ['SPLIT', 'MERGE', 'REDEEM', 'CONVERSION', 'MIGRATION'].includes(kind)
  if (fill?.participant === 0) assert.equal(fill.trade.taker.address, address)
  const role = fill?.participant === 0 ? 'taker' : 'maker'
  return {
    atS: Math.floor(event.atMs / 1_000),
    hash: event.txHash.toLowerCase(),
    kind: fill !== null ? role : isOwn ? kind.toLowerCase() : 'income',
    markets: [event.market?.listing.nativeId ?? ''],
    size: fill !== null || isOwn ? event.size : usd,
    usd,
    fee,
  }
}

function nameOf({ kind, market, converted, timeMs, txHash, size, usd, fee, role }: WalletEvent) {
  const markets = kind === 'conversion' ? converted.join('+') : market
  const name = kind === 'buy' || kind === 'sell' ? role : kind
  return [timeMs / 1_000, txHash, name, markets, size, usd, fee].join(' ')
}

async function openWorld() {
  const clock = new ManualClock()
  const simulator = await startSimulator({
    seed: 7,
    marketsPerVenue: 40,
    messagesPerSecond: 100,
    faults: [],
    clock,
    random: seededRandom('simulated wallets'),
    log: silentLog,
    basePort: 0,
    kalshiPublicKeyPem: publicKeyPem,
  })
  for (let minute = 0; minute < MINUTES; minute += 1) clock.advance(60_000)
  const client = (baseUrl: string) =>
    new HttpClient({
      baseUrl,
      timeoutMs: 600_000,
      bodyBytesMax: 1 << 25,
      retries: 4,
      clock: systemClock,
      random: seededRandom('client'),
      log: silentLog,
      metrics: new Metrics(),
    })
  const [gamma, data] = [client(simulator.urls.gamma), client(simulator.urls.data)]
  const stop = async () => {
    gamma.stop()
    data.stop()
    await simulator.stop()
  }
  const { counters, drift } = venueCounters('a')
  const api = new DataApi({ client: data, drift })
  return { simulator, parts: { clock, gamma, data: api, counters }, stop }
}

test('reads the ledgers of simulated wallets unchanged, including roles, fees and owners', async () => {
  const { simulator, parts, stop } = await openWorld()
  const signal = new AbortController().signal
  try {
    const busiest = [...simulator.wallets.all()]
      .sort((one, other) => other.events.length - one.events.length)
      .slice(0, WALLETS)
    const kinds = new Set<string>()
    for (const ledger of busiest) {
      const owner = walletAddress(ledger.eoa)
      assert.ok(owner !== null)
      const profile = await readProfile(parts, owner, signal)
      assert.equal(profile?.proxy, ledger.wallet.address.toLowerCase())
      assert.equal(profile.eoa, owner)
      const events: WalletEvent[] = []
      const requested = { address: profile.proxy, fromMs: timeMs(0) }
      const reach = await readWalletHistory(
        parts,
        requested,
        (published) => void events.push(...published),
        signal,
      )
      assert.equal(reach.isComplete, true)
      assert.equal(ledger.droppedEventCount, 0)
      assert.deepEqual(events.map(nameOf), expectedOf(ledger))
      for (const { kind } of events) kinds.add(kind)
      const sizes = new Map<string, number>()
      for (const { market, positions } of ledger.holdings.values()) {
        for (const index of [0, 1] as const) {
          if (positions[index].amount > 0)
            sizes.set(market.listing.tokens[index], positions[index].amount)
        }
      }
      const open = (await readPositions(parts, profile.proxy, signal)).filter(
        ({ isClosed }) => !isClosed,
      )
      assert.equal(open.length, sizes.size)
      for (const { token, size } of open) assert.ok(Math.abs(size - (sizes.get(token) ?? 0)) <= 50)
    }
    for (const kind of ['buy', 'sell', 'split', 'merge', 'conversion'])
      assert.ok(kinds.has(kind), `no ${kind}`)
  } finally {
    await stop()
  }
})

test('returns the market group of every market that the simulated wallets converted', async () => {
  const { simulator, parts, stop } = await openWorld()
  const signal = new AbortController().signal
  try {
    const catalog = new PolymarketCatalog({ ...parts, fees: { completed: (market) => market } })
    const groups = new Map<string, readonly string[]>()
    for (const { events } of simulator.wallets.all()) {
      for (const { kind, market } of events) {
        if (kind !== 'CONVERSION' || market === null) continue
        const ids = market.event.markets.map(({ listing }) => listing.nativeId)
        groups.set(market.listing.nativeId, ids)
      }
    }
    assert.ok(groups.size > 0)
    for (const [id, group] of groups) {
      assert.deepEqual(await catalog.group(nativeMarketId(id), signal), group)
    }
  } finally {
    await stop()
  }
})
