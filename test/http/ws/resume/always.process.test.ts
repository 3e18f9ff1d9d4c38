import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import {
  type ActiveSubscription,
  ResumingClient,
} from '../../../support/clients/resuming-client.ts'
import type { FakeMarket } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'
import { type ApiServer, openApiServer } from '../../../support/rigs/api-server.ts'
import { level } from '../../../support/worlds/builders.ts'
import { simulateActivity } from '../../../support/worlds/market-activity.ts'

/** Each reading of the clock takes 0.2 ms, so that time slices end although the test does not advance the clock. */
class TickingClock extends ManualClock {
  #lookCount = 0

  override monotonicMs(): number {
    this.#lookCount += 1
    return super.monotonicMs() + this.#lookCount / 5
  }
}

const ROUNDS = 250
const clock = new TickingClock()
let server: ApiServer
const markets: FakeMarket[] = []

before(async () => {
  server = await openApiServer({ clock })
  for (let index = 0; index < 30; index += 1) {
    const added = server.engine.add(`m${index}`, { venue: index % 3 === 0 ? 'b' : 'a' })
    const levels = Array.from({ length: 15 }, (_, at) => level(0.01 * (at + 1), 5))
    if (index < 25) added.replace(levels, [level(0.9, 1)])
    markets.push(added)
  }
})
after(() => server.stop())

const tick = () => new Promise((resolve) => setImmediate(resolve))

function stir(random: Random): void {
  if (random.next() < 0.05) return publishLifecycle(random.pick(markets))
  simulateActivity(markets, random)
}

function publishLifecycle({ ref, summary }: FakeMarket): void {
  const { publisher } = server.engine
  const times = { venueTimeMs: clock.nowMs(), receivedAtMs: clock.nowMs() }
  publisher.publish({
    ...{
      kind: 'lifecycle',
      market: ref,
      ...times,
      event: 'changed',
      facts: summary,
      matchedMarket: null,
    },
    ...publisher.stamp('lifecycle', ref.number),
  })
}

function listeners(): {
  readonly listening: ActiveSubscription
  readonly numbers: readonly number[]
}[] {
  const channels = ['orderbook', 'trades', 'lifecycle']
  const all = markets.map((_, index) => index)
  const some = (indexes: readonly number[]) => ({
    listening: {
      channels,
      target: { market_ids: indexes.map((index) => markets[index]?.ref.id) },
      isAll: false,
    },
    numbers: indexes,
  })
  const everything = { channels, target: { market_ids: ['*'] }, isAll: true }
  return [
    { listening: everything, numbers: all },
    { listening: everything, numbers: all },
    {
      listening: { channels, target: { platform: 'venue_a' }, isAll: false },
      numbers: all.filter((index) => index % 3 !== 0),
    },
    some([0]),
    some([3, 4, 5, 6, 7, 29]),
    some(all.slice(5, 28)),
  ]
}

async function settle(clients: readonly ResumingClient[]): Promise<void> {
  for (let round = 0; round < 5_000; round += 1) {
    for (const client of clients) client.take()
    if (clients.every((client) => client.isSettled)) break
    clock.advance(25)
    await tick()
  }
  for (const [index, client] of clients.entries()) {
    assert.ok(client.isSettled, `client ${index} was never answered`)
    clock.advance(1_000)
    await client.client?.ask({ action: 'ping', id: 'settle' }, 'pong')
    client.take()
  }
}

for (const seed of [1, 2, 3]) {
  test(`loses no message when a client disconnects and resumes at any moment (seed ${seed})`, async (t) => {
    const random = seededRandom('always', seed)
    const clients = listeners().map(({ listening }, index) => {
      const encoding = index % 4 === 0 ? 'msgpack' : 'json'
      const batch = index % 2 === 0 ? 'on' : 'off'
      return new ResumingClient(listening, `api_key=ann-key&encoding=${encoding}&batch=${batch}`)
    })
    for (let round = 0; round < ROUNDS; round += 1) {
      for (let index = random.below(30); index > 0; index -= 1) stir(random)
      const client = random.pick(clients)
      const roll = random.next()
      if (!client.isConnected) await client.connect(server.port)
      else if (roll < 0.2) await client.disconnect()
      clock.advance(random.below(60))
      for (let index = random.below(4); index > 0; index -= 1) {
        await tick()
        stir(random)
      }
    }
    for (const client of clients) if (!client.isConnected) await client.connect(server.port)
    await settle(clients)
    for (let index = 0; index < 100; index += 1) stir(random)
    clock.advance(5_000)
    await settle(clients)
    const { publisher } = server.engine
    for (const [index, { numbers }] of listeners().entries()) {
      const client = clients[index]
      assert.ok(client !== undefined)
      assert.deepEqual([client.defects, client.books.defects], [[], []], `client ${index}`)
      assert.equal(client.counts.gaps, 0)
      for (const { ref, naive } of numbers.flatMap((number) => markets[number] ?? [])) {
        const truth = { bids: naive.levels('bid'), asks: naive.levels('ask') }
        assert.deepEqual(client.books.levels(ref.id), truth, `client ${index}: ${ref.id}`)
        assert.equal(client.books.seqs.get(ref.id), publisher.latest('orderbook', ref.number).seq)
        for (const channel of ['trades', 'lifecycle'] as const) {
          const seq = client.seqs.get(`${channel} ${ref.id}`)
          if (seq !== undefined) assert.equal(seq, publisher.latest(channel, ref.number).seq)
        }
      }
      t.diagnostic(JSON.stringify(client.counts))
      await client.disconnect()
    }
    const total = clients.reduce((sum, { counts }) => sum + counts.replayed, 0)
    assert.ok(total > 500, 'too few messages for a valid test')
  })
}
