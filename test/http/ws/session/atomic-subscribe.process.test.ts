import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { openApiServer } from '../../../support/rigs/api-server.ts'
import { bid, level } from '../../../support/worlds/builders.ts'

const isLong = process.env.TEST_LONG === '1'
const CLIENTS = isLong ? 1_000 : 120
const CHANGES = isLong ? 20_000 : 8_000
const MARKETS = 100
/** Number of changes between two event-loop ticks. */
const BURST = 40

/** Stores only the seq of each book. */
class Watcher {
  readonly defects: string[] = []
  readonly counts = { snapshots: 0, updates: 0 }
  readonly socket: WebSocket
  readonly #seqs = new Map<string, number>()
  readonly #wanted = new Set<string>()
  #commands = 0
  readonly #awaited = new Map<unknown, (isDone: boolean) => void>()

  constructor(port: number) {
    this.socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws?api_key=many-key`)
    this.socket.on('message', (bytes) => this.#take(JSON.parse(String(bytes))))
  }

  /** Resolves with the reply, or with false if the rate limit refused the command. */
  command(action: 'subscribe' | 'unsubscribe' | 'ping', ids: readonly string[]): Promise<boolean> {
    this.#commands += 1
    const id = this.#commands
    const rest = action === 'ping' ? {} : { channel: 'orderbook', market_ids: ids }
    this.socket.send(JSON.stringify({ action, id, ...rest }))
    return new Promise((resolve) => this.#awaited.set(id, resolve))
  }

  stand(market: string): number | undefined {
    return this.#seqs.get(market)
  }

  get wanted(): ReadonlySet<string> {
    return this.#wanted
  }

  #take(message: Readonly<Record<string, unknown>>): void {
    const { type, id } = message
    const market = String(message.market_id)
    if (type === 'snapshot') {
      this.counts.snapshots += 1
      this.#seqs.set(market, Number(message.seq))
    } else if (type === 'update') this.#update(market, Number(message.seq))
    else if (type === 'subscribed') for (const one of idsOf(message)) this.#wanted.add(one)
    else if (type === 'unsubscribed') this.#forget(idsOf(message))
    else if (type === 'error' && message.code !== 'RATE_LIMITED') {
      this.defects.push(JSON.stringify(message))
    }
    if (!ENDS.includes(String(type))) return
    this.#awaited.get(id)?.(type !== 'error')
    this.#awaited.delete(id)
  }

  #update(market: string, seq: number): void {
    this.counts.updates += 1
    const last = this.#seqs.get(market)
    if (last === undefined) this.defects.push(`${market}: ${seq} before a snapshot`)
    else if (seq !== last + 1) this.defects.push(`${market}: ${seq} after ${last}`)
    this.#seqs.set(market, seq)
  }

  #forget(ids: readonly string[]): void {
    for (const market of ids) {
      this.#seqs.delete(market)
      this.#wanted.delete(market)
    }
  }
}

const ENDS = ['synced', 'unsubscribed', 'pong', 'error']

function idsOf({ accepted }: Readonly<Record<string, unknown>>): readonly string[] {
  assert.ok(Array.isArray(accepted))
  return accepted.map(String)
}

/** Subscribes and unsubscribes random markets, one command after another, until the end. */
async function wander(
  watcher: Watcher,
  random: Random,
  { ids, isOver }: { ids: readonly string[]; isOver: () => boolean },
): Promise<void> {
  while (!isOver()) {
    const chosen = Array.from({ length: 1 + random.below(4) }, () => random.pick(ids))
    if (random.next() < 0.5) await watcher.command('subscribe', chosen)
    else await watcher.command('unsubscribe', chosen)
    // Each client stays below the command limit with pauses of a different length.
    for (let left = 20 + random.below(40); left > 0 && !isOver(); left -= 1) await tick()
  }
  while (!(await watcher.command('ping', []))) await tick()
}

const tick = () => new Promise((resolve) => setImmediate(resolve))

test('sends a book snapshot before all changes, without a gap, when a client reconnects while books change', async (t) => {
  const apiServer = await openApiServer()
  apiServer.engine.accounts.make('many', { requestsPerMinute: 1_000_000, socketsMax: CLIENTS })
  const markets: FakeMarket[] = []
  for (let index = 0; index < MARKETS; index += 1) {
    const market = apiServer.engine.add(`m${index}`)
    market.replace([level(0.4, 1)], [level(0.6, 1)])
    markets.push(market)
  }
  const ids = markets.map(({ ref }) => ref.id)
  const watchers = Array.from({ length: CLIENTS }, () => new Watcher(apiServer.port))
  await Promise.all(
    watchers.map(({ socket }) => new Promise((resolve) => socket.once('open', resolve))),
  )
  let published = 0
  const wandering = watchers.map((watcher, index) =>
    wander(watcher, seededRandom('atomic', index), { ids, isOver: () => published >= CHANGES }),
  )
  const random = seededRandom('atomic changes')
  for (; published < CHANGES; published += BURST) {
    for (let index = 0; index < BURST; index += 1) {
      random.pick(markets).change(bid(0.01 * (1 + random.below(30)), 1 + random.below(9)))
    }
    await tick()
  }
  await Promise.all(wandering)
  const total = { snapshots: 0, updates: 0 }
  for (const [index, watcher] of watchers.entries()) {
    assert.deepEqual(watcher.defects.slice(0, 3), [], `client ${index}`)
    for (const { ref } of markets) {
      if (!watcher.wanted.has(ref.id)) continue
      const { seq } = apiServer.engine.publisher.latest('orderbook', ref.number)
      assert.equal(watcher.stand(ref.id), seq, `client ${index}: ${ref.id}`)
    }
    total.snapshots += watcher.counts.snapshots
    total.updates += watcher.counts.updates
    watcher.socket.terminate()
  }
  t.diagnostic(
    `${CLIENTS} clients, ${published} changes: ${total.snapshots} snapshots, ${total.updates} updates`,
  )
  assert.ok(
    total.snapshots > CLIENTS && total.updates > CHANGES,
    'enough messages for a valid test',
  )
  await apiServer.stop()
})
