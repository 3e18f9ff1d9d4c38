// Compares the books that connections hold with a count of their subscriptions after random commands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../engine/process/log.ts'
import { type Random, seededRandom } from '../../../../engine/random.ts'
import type { Socket } from '../../../../http/ws/fan-out/batches.ts'
import { Hub } from '../../../../http/ws/hub.ts'
import { Session } from '../../../../http/ws/session/session.ts'
import { FakeDemand } from '../../../support/fakes/book-demand.ts'
import { FakeEngine } from '../../../support/fakes/engine.ts'
import { ManualClock } from '../../../support/fakes/manual-clock.ts'

type Message = Readonly<Record<string, unknown>>

class OpenSocket implements Socket {
  readonly messages: Message[] = []

  send(message: unknown): number {
    this.messages.push(JSON.parse(String(message)))
    return 1
  }
  subscribe(): boolean {
    return true
  }
  unsubscribe(): boolean {
    return true
  }
  getBufferedAmount(): number {
    return 0
  }
  cork(action: () => void): ReturnType<Socket['cork']> {
    action()
    return Object.create(null)
  }
  end(): void {}
  close(): void {}
}

const BOOK_CHANNELS = ['orderbook', 'depth', 'prices']
const CHANNELS = [...BOOK_CHANNELS, 'trades', 'lifecycle']
const VENUES = ['venue_a', 'venue_b']

function open() {
  const clock = new ManualClock()
  const engine = new FakeEngine(clock)
  const demand = new FakeDemand(clock)
  engine.coverage = () => demand
  engine.accounts.make('ann')
  engine.addEvent('e')
  const markets = ['m0', 'm1', 'm2', 'm3', 'm4', 'm5'].map((name, index) =>
    engine.add(name, index % 2 === 0 ? { eventSlug: 'event-e' } : { venue: 'b' }),
  )
  const topics = { numSubscribers: () => 0, publish: () => true }
  const { publisher, metrics } = engine
  const hub = new Hub({ engine, publisher, clock, log: silentLog, metrics, topics })
  const caller = engine.accounts.callerOfKey('ann-key') ?? assert.fail()
  const join = () => {
    const ws = new OpenSocket()
    const session = new Session({ id: 'c', caller, encoder: hub.encoder('j'), ws, hub })
    hub.add(session)
    const command = (fields: object) => {
      clock.advance(1_000)
      session.receive(Buffer.from(JSON.stringify({ id: 1, ...fields })), false)
      // Later slices of a command run when the clock of the slice has advanced.
      for (let slice = 0; session.hasWork && slice < 100; slice += 1) session.run()
      assert.equal(session.hasWork, false)
      return ws.messages.splice(0)
    }
    return { session, command }
  }
  return { clock, engine, demand, hub, markets, caller, join }
}

/** The single and wildcard subscriptions of a connection to one channel. */
interface Model {
  readonly wide: Set<string>
  readonly singles: Set<string>
}

/** A connection's subscriptions as http/ws/README.md describes them. */
class NaiveSubscriptions {
  readonly channels = new Map<string, Model>(
    CHANNELS.map((channel) => [channel, { wide: new Set<string>(), singles: new Set<string>() }]),
  )

  subscribe(channel: string, ids: readonly string[], wide: string | null): void {
    const model = this.#of(channel)
    if (wide === null) {
      for (const id of ids) if (!isPart(model, id)) model.singles.add(id)
    } else if (!model.wide.has('*')) {
      this.#take(model, wide)
      model.wide.add(wide)
    }
  }

  unsubscribe(channel: string, ids: readonly string[], wide: string | null): void {
    const model = this.#of(channel)
    const isRefused =
      wide === null ? ids.some((id) => isPart(model, id)) : model.wide.has('*') && wide !== '*'
    if (isRefused) return
    if (wide === null) for (const id of ids) model.singles.delete(id)
    else this.#take(model, wide)
  }

  #take({ wide: wides, singles }: Model, wide: string): void {
    for (const other of wides) if (wide === '*' || wide === other) wides.delete(other)
    for (const id of singles) if (wide === '*' || id.startsWith(wide)) singles.delete(id)
  }

  #of(channel: string): Model {
    return this.channels.get(channel) ?? assert.fail(channel)
  }
}

const isPart = ({ wide }: Model, id: string): boolean =>
  wide.has('*') || VENUES.some((venue) => wide.has(venue) && id.startsWith(venue))

function randomTarget(random: Random, ids: readonly string[]) {
  const kind = random.below(10)
  if (kind === 0) return { fields: { market_ids: ['*'] }, ids: [], wide: '*' }
  if (kind <= 2) {
    const platform = random.pick(VENUES)
    return { fields: { platform }, ids: [], wide: platform }
  }
  if (kind === 3) {
    const ofEvent = ids.filter((id) => id.startsWith('venue_a'))
    return { fields: { event_slugs: ['event-e'] }, ids: ofEvent, wide: null }
  }
  const some = ids.filter(() => random.below(2) === 0)
  const chosen = some.length === 0 ? [random.pick(ids)] : some
  return { fields: { market_ids: chosen }, ids: chosen, wide: null }
}

const ROUNDS = process.env.TEST_LONG === '1' ? 20 : 8

test('requests coverage of a market once per connection that subscribes to its book, after random commands', () => {
  const random = seededRandom('book holds')
  for (let round = 0; round < ROUNDS; round += 1) {
    const { engine, demand, hub, markets, caller, join } = open()
    const refused = markets[random.below(markets.length)]
    if (refused !== undefined && round % 2 === 1) demand.refused.add(refused.ref.number)
    const connections = [join(), join()].map((each) => ({
      ...each,
      naive: new NaiveSubscriptions(),
    }))
    const ids = markets.map(({ ref }) => ref.id)
    const check = () => {
      const expected = new Map<string, number>()
      for (const { naive } of connections) {
        for (const channel of BOOK_CHANNELS) {
          for (const id of naive.channels.get(channel)?.singles ?? []) {
            const number = engine.catalog.find(id)?.ref.number ?? 0
            if (demand.refused.has(number)) continue
            const key = `${number} ${caller.accountId} subscription`
            expected.set(key, (expected.get(key) ?? 0) + 1)
          }
        }
      }
      assert.deepEqual([...demand.holds].sort(), [...expected].sort())
    }
    for (let step = 0; step < 60; step += 1) {
      const { command, naive } = random.pick(connections)
      const channel = random.pick(CHANNELS)
      const { fields, ids: chosen, wide } = randomTarget(random, ids)
      if (random.below(3) > 0) {
        command({ action: 'subscribe', channel, ...fields })
        naive.subscribe(channel, chosen, wide)
      } else {
        command({ action: 'unsubscribe', channel, ...fields })
        naive.unsubscribe(channel, chosen, wide)
      }
      check()
    }
    for (const { session } of connections) hub.remove(session)
    assert.equal(demand.holds.size, 0, 'a closed connection holds nothing')
    hub.stop()
  }
})

test('requests coverage of a subscribed market that is not covered, and sends a stale snapshot with the reason', () => {
  const { demand, markets, join } = open()
  const [market] = markets
  assert.ok(market !== undefined)
  market.markStale('not_covered')
  const messages = join().command({
    ...{ action: 'subscribe', channel: 'orderbook', market_ids: [market.ref.id] },
  })
  assert.deepEqual(
    messages.map(({ type, stale, stale_reason }) => ({ type, stale, stale_reason })),
    [
      { type: 'subscribed', stale: undefined, stale_reason: undefined },
      { type: 'snapshot', stale: true, stale_reason: 'not_covered' },
      { type: 'synced', stale: undefined, stale_reason: undefined },
    ],
  )
  assert.equal(demand.holds.size, 1)
})

test('covers the markets of a snapshot command, and replies when their books are live or after 2 s', async () => {
  const { clock, demand, markets, join, caller } = open()
  const [one, two] = markets
  assert.ok(one !== undefined && two !== undefined)
  for (const market of [one, two]) market.markStale('not_covered')
  const { session, command } = join()
  demand.onWait = (number) => {
    if (number !== one.ref.number) return
    one.isStale = false
    demand.waits.end(number)
  }
  clock.advance(1_000)
  const fields = { action: 'snapshot', id: 1, market_ids: [one.ref.id, two.ref.id] }
  session.receive(Buffer.from(JSON.stringify(fields)), false)
  assert.equal(session.hasWork, true)
  clock.advance(2_000)
  for (let turn = 0; turn < 5; turn += 1) {
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  const messages = command({ action: 'ping' })
  assert.deepEqual(
    messages.map(({ type, stale_reason }) => [type, stale_reason]),
    [
      ['snapshot', null],
      ['snapshot', 'not_covered'],
      ['synced', undefined],
      ['pong', undefined],
    ],
  )
  assert.deepEqual(demand.requests, [
    [one.ref.number, caller.accountId],
    [two.ref.number, caller.accountId],
  ])
})
