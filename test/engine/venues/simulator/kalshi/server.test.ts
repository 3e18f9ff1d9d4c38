// The simulated venue b over the moving world: what a client rebuilds from the stream is what REST
// shows, and a full stream stays cheap.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { seededRandom } from '../../../../../engine/random.ts'
import { timeMs } from '../../../../../engine/units.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import {
  type Message,
  record,
  records,
  startStub,
} from '../../../../support/clients/kalshi-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { StubWorld } from '../../../../support/worlds/kalshi-world.ts'
import { NOON, planMarket, planOf } from '../../../../support/worlds/sim-plan.ts'

test('keeps books and trades from the stream equal to REST while the world changes', async (t) => {
  const clock = new ManualClock(NOON)
  const listing = { venue: 'b' as const }
  const markets = Array.from({ length: 12 }, (_, index) => planMarket(index, listing))
  // One opens and one closes under the client's eyes.
  const opening = { openMs: timeMs(NOON + 2_000) }
  const closing = { closeMs: timeMs(NOON + 3_000), determineMs: timeMs(NOON + 3_500) }
  markets.push(planMarket(12, { ...listing, listing: opening }))
  markets.push(planMarket(13, { ...listing, listing: closing }))
  const world = new SimulatedWorld({
    seed: 5,
    messagesPerSecond: 2_000,
    plan: planOf(markets),
    faults: new Faults([], seededRandom('none')),
    clock,
    random: seededRandom('kalshi world'),
  })
  const venue = await startStub({ world, clock })
  t.after(() => venue.stop())
  const client = await venue.connect()
  const tickers = world.markets('b').map((market) => market.listing.nativeId)
  client.send('subscribe', { channels: ['orderbook_delta'], market_tickers: tickers })
  client.send('subscribe', { channels: ['trade', 'ticker', 'market_lifecycle_v2'] })
  const messages: Message[] = await client.drain()
  for (let round = 0; round < 100; round += 1) {
    for (let step = 0; step < 3; step += 1) {
      clock.advance(20)
      world.step()
    }
    messages.push(...(await client.drain()))
  }
  const deltas = messages.filter(({ type }) => type === 'orderbook_delta')
  assert.ok(deltas.length > 2_000, `${deltas.length} deltas`)
  assertNumbered(messages)
  const books = rebuild(messages)
  for (const ticker of tickers) {
    const answer = await venue.get(`/markets/${ticker}/orderbook`)
    const book = record(answer.body.orderbook_fp)
    const expected = [...levels('yes', book.yes_dollars), ...levels('no', book.no_dollars)].sort()
    const rebuilt = [...(books.get(ticker) ?? [])].map(([key, size]) => `${key} ${size}`).sort()
    assert.deepEqual(rebuilt, expected, ticker)
  }
  const streamed = messages
    .filter(({ type }) => type === 'trade')
    .map(({ msg }) => record(msg).trade_id)
  const listed: unknown[] = []
  let cursor = ''
  do {
    const page = (await venue.get(`/markets/trades?limit=1000&cursor=${cursor}`)).body
    listed.push(...records(page.trades).map(({ trade_id }) => trade_id))
    cursor = String(page.cursor)
  } while (cursor !== '')
  assert.deepEqual(listed.reverse(), streamed)
  const kinds = messages
    .filter(({ type }) => type === 'market_lifecycle_v2')
    .map(({ msg }) => record(msg).event_type)
  assert.deepEqual(kinds, ['determined'])
})

test('leaves no timer or listener after stop or when its port is in use', async () => {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const venue = await startStub({ world, clock })
  const client = await venue.connect()
  const closed = once(client.socket, 'close')
  const other = new ManualClock()
  await assert.rejects(startStub({ world, clock: other, port: venue.port }), /EADDRINUSE/)
  assert.equal(other.timerCount, 0)
  assert.equal(world.listenerCount, 1)
  await venue.stop()
  await closed
  assert.equal(clock.timerCount, 0)
  assert.equal(world.listenerCount, 0)
})

/** The numbers of every sid run from 1 without a hole; tickers have none. */
function assertNumbered(messages: readonly Message[]): void {
  const seqs = new Map<unknown, number>()
  for (const message of messages) {
    if (message.type === 'subscribed') continue
    if (message.type === 'ticker') {
      assert.equal(message.seq, undefined)
      continue
    }
    const seq = (seqs.get(message.sid) ?? 0) + 1
    seqs.set(message.sid, seq)
    assert.equal(message.seq, seq)
  }
}

/** Books as "leg price" → hundredths of a contract. */
function rebuild(messages: readonly Message[]): Map<string, Map<string, number>> {
  const books = new Map<string, Map<string, number>>()
  for (const { type, msg } of messages) {
    const { market_ticker, side, price_dollars, delta_fp, ...sides } = record(msg)
    const ticker = String(market_ticker)
    if (type === 'orderbook_snapshot') {
      const entries = [
        ...levels('yes', sides.yes_dollars_fp),
        ...levels('no', sides.no_dollars_fp),
      ].map((text): [string, number] => {
        const [leg, price, size] = text.split(' ')
        return [`${leg} ${price}`, Number(size)]
      })
      books.set(ticker, new Map(entries))
    } else if (type === 'orderbook_delta') {
      const book = books.get(ticker)
      assert.ok(book !== undefined, 'a snapshot comes before the first delta')
      const key = `${side} ${price_dollars}`
      const size = (book.get(key) ?? 0) + Math.round(Number(delta_fp) * 100)
      assert.ok(size >= 0, 'no level falls below zero')
      if (size === 0) book.delete(key)
      else book.set(key, size)
    }
  }
  return books
}

function levels(leg: string, side: unknown): string[] {
  if (!Array.isArray(side)) return []
  return side.map(([price, size]) => `${leg} ${price} ${Math.round(Number(size) * 100)}`)
}
