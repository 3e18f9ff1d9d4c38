// Two engines over a log in this process. The standby becomes leader when the first engine is killed.

import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createEngine, type Engine } from '../../engine/app/engine.ts'
import { type Leader, openLeader } from '../../engine/app/leader.ts'
import { systemClock } from '../../engine/clock.ts'
import type { VenueEvent } from '../../engine/events.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { seededRandom } from '../../engine/random.ts'
import { TIME_END, TIME_ZERO } from '../../engine/units.ts'
import type { Storage } from '../../storage/contract/storage.ts'
import { StreamClient } from '../support/clients/stream-client.ts'
import { EventReceiver, newSecret } from '../support/fakes/event-receivers.ts'
import { type FaultyLog, FaultyLogServer } from '../support/fakes/faulty-log.ts'
import { quietVenue } from '../support/fakes/quiet-venue.ts'
import { until } from '../support/fakes/receivers.ts'
import { openMemoryStorage } from '../support/reference/memory.ts'
import { SETTINGS } from '../support/rigs/recorded-engine.ts'
import { eventListing, NAMES } from '../support/worlds/builders.ts'
import { manyMarkets, VenueEvents } from '../support/worlds/venue-events.ts'

const MARKETS = manyMarkets(4)
const WEBHOOK = {
  format: 'standard' as const,
  ...{ eventTypes: ['trade.created'], description: null },
  filters: {
    ...{
      marketIds: null,
      venue: null,
      wallets: null,
      takerWallets: null,
      minUsd: null,
      minChange: null,
    },
    ...{ minProfit: null, minEdge: null, minAgeMs: null },
    ...{ side: null, takerSide: null, eventSlugs: null, categories: null },
  },
}

/** The order of `markets` determines the market numbers. */
class Member {
  readonly storage: Storage = openMemoryStorage()
  readonly link: FaultyLog
  readonly deposed: boolean[] = []
  leader: Leader | null = null
  engine: Engine | null = null
  readonly leading: Promise<void>
  readonly #ending = new AbortController()
  #emit: (event: VenueEvent) => void = () => undefined

  constructor(server: FaultyLogServer, epoch: string, markets: typeof MARKETS) {
    this.link = server.connect()
    this.leading = this.#lead(epoch, markets)
  }

  async #lead(epoch: string, listed: typeof MARKETS): Promise<void> {
    const { storage, link } = this
    const shared = { storage, clock: systemClock, log: silentLog, metrics: new Metrics() }
    this.leader = await openLeader({
      ...{ ...shared, cluster: link, signal: this.#ending.signal, names: NAMES },
      retention: { retentionDays: 30, sizeBytesMax: 1e10 },
      onDeposed: () => this.deposed.push(true),
    })
    if (this.leader === null) return
    this.engine = createEngine(
      { ...SETTINGS, trustedProxies: ['127.0.0.1'] },
      {
        ...{ ...shared, random: seededRandom('failover'), epoch, version: '0' },
        cluster: this.leader.parts,
        venues: (parts) => {
          this.#emit = parts.emit
          return NAMES.keys.map((key) => {
            const markets = listed.filter(({ venue }) => venue === key)
            const events = markets.map(({ nativeId, venue }) => eventListing(nativeId, { venue }))
            const quiet = quietVenue(key, systemClock)
            const crawl = async (onPage: Parameters<typeof quiet.catalog.crawl>[0]) =>
              onPage({ markets, events })
            return { ...quiet, catalog: { ...quiet.catalog, crawl } }
          })
        },
      },
    )
    await this.engine.start()
    await this.leader.start(this.engine)
  }

  get open(): Engine {
    assert.ok(this.engine !== null)
    return this.engine
  }

  play(events: VenueEvents, count: number): void {
    for (let left = count; left > 0; left -= 1) this.#emit(events.next(systemClock.nowMs()))
  }

  /** Writes nothing to the log and does not release the lease, as if killed. */
  async kill(): Promise<void> {
    this.link.setLink('down')
    await this.stop()
  }

  async stop(): Promise<void> {
    this.#ending.abort()
    await this.leader?.pause()
    await this.engine?.stop()
    await this.leader?.stop()
  }
}

function tradesOf(storage: Storage, venue: 'a' | 'b') {
  const all = { fromMs: TIME_ZERO, toMs: TIME_END, after: null, order: 'asc', limit: 1e6 } as const
  const rows = storage.trades.rangeOfVenue({ venue, ...all })
  const reported = rows.map(({ trade: { ordinal: _, run: __, ...trade } }) => trade)
  return reported.sort((one, other) => (one.nativeId < other.nativeId ? -1 : 1))
}

const server = new FaultyLogServer(systemClock, 'failover')
const secret = newSecret()
const receiver = await EventReceiver.open('accept', [secret])
const one = new Member(server, 'first', MARKETS)
await one.leading
// The standby's venues list the markets in another order, so it numbers them differently.
const two = new Member(server, 'second', MARKETS.toReversed())
after(async () => {
  await Promise.all([two.stop(), receiver.close()])
})
const events = new VenueEvents(seededRandom('failover'), MARKETS)
const key = await one.open.accounts.openLocalAccount(null)
const [account] = one.storage.accounts.accounts()
assert.ok(account !== undefined)
const requested = { ...WEBHOOK, url: receiver.url, secret }
const { webhook } = await one.open.view.webhooks.create(account.id, requested)
one.play(events, 300)
const counts = (storage: Storage) => {
  const [stored] = storage.webhooks.all()
  assert.ok(stored !== undefined)
  return storage.outbox.state(stored.number).counts
}
await until(() => counts(one.storage).pending === 0, 'the first events are delivered')
const delivered = new Set(receiver.events.keys())
assert.ok(delivered.size > 10)
// The deliveries must stay pending.
receiver.manner = 'hang'
one.play(events, 300)
const reported = one.open.publisher.offset('trades')
await until(() => {
  const [a, b] = [tradesOf(two.storage, 'a'), tradesOf(two.storage, 'b')]
  return a.length + b.length === reported
}, 'the standby has every trade')
await until(
  () => counts(two.storage).pending === counts(one.storage).pending,
  'the standby has every delivery',
)
const pending = counts(one.storage).pending
assert.ok(pending > 10)
const trades = { a: tradesOf(one.storage, 'a'), b: tradesOf(one.storage, 'b') }
await one.kill()
receiver.manner = 'accept'
await two.leading

test('stores the previous leader’s trades and webhooks on the next leader’s disk, under different row numbers', () => {
  for (const venue of ['a', 'b'] as const) {
    assert.deepEqual(tradesOf(two.storage, venue), trades[venue])
  }
  assert.deepEqual(
    [...two.storage.webhooks.all()].map(({ id, url }) => ({ id, url })),
    [{ id: webhook.id, url: webhook.url }],
  )
})

test('posts unacknowledged webhook events with the same id and body, and does not repeat acknowledged events', async () => {
  await until(() => counts(two.storage).pending === 0, 'the second engine delivers the rest')
  assert.equal(receiver.events.size, delivered.size + pending)
  assert.deepEqual(receiver.faults, [])
  assert.equal(receiver.duplicates, 0)
})

test('resumes streams at the next leader with the parameter `since`, without a gap', async () => {
  const client = await StreamClient.open(two.open.port, `api_key=${key}`)
  const since = { epoch: 'first', offset: 20 }
  client.send({ action: 'subscribe', id: 1, channel: 'trades', market_ids: ['*'], since })
  await client.next(({ type }) => type === 'resumed')
  const resumed = client.messages.filter(({ type }) => type === 'trade')
  assert.deepEqual(
    resumed.map(({ offset }) => offset),
    Array.from({ length: reported - 20 }, (_, index) => 21 + index),
  )
  assert.equal(
    client.messages.some(({ type }) => type === 'gap'),
    false,
  )
  await client.close()
  const health = await fetch(`http://127.0.0.1:${two.open.port}/health`)
  const { cluster }: { readonly cluster?: Readonly<Record<string, unknown>> } = JSON.parse(
    await health.text(),
  )
  assert.deepEqual([cluster?.role, cluster?.log, cluster?.is_heard], ['engine', 'up', true])
})
