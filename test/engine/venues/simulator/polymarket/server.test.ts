// The simulated venue a as a whole: slow readers, rates, stopping, and one run over the real world
// (SIMPM36 to 39).

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../../engine/process/log.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { Calendar } from '../../../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { startPolymarketServer } from '../../../../../engine/venues/simulator/polymarket/server.ts'
import { WalletLedgers } from '../../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { FrameReader, record, records, request } from '../../../../support/clients/venue-client.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { SetChance, startStubVenue } from '../../../../support/fakes/stub-venue.ts'

test('refuses requests beyond the venue’s rate limit until tokens refill', async () => {
  const venue = await startStubVenue({ isRateLimited: true })
  try {
    const statuses = async (count: number) => {
      const all = await Promise.all(
        Array.from({ length: count }, () => request(`${venue.data}/v2/trades?limit=1`)),
      )
      return all.filter((answer) => answer.status === 200).length
    }
    assert.equal(await statuses(310), 300)
    venue.clock.advance(1_000)
    assert.equal(await statuses(40), 30)
    assert.equal((await request(`${venue.data}/v2/oi`)).status, 200)
    const answer = await request(`${venue.data}/v2/trades`)
    assert.equal(answer.status, 429)
  } finally {
    await venue.stop()
  }
})

test('closes every socket, timer and listener on stop, and leaves none open when a port is in use', async () => {
  const venue = await startStubVenue()
  const [market, rtds] = [await venue.market(), await venue.rtds()]
  const { world, clock } = venue
  assert.equal(world.listenerCount, 3)
  await assert.rejects(
    startPolymarketServer({
      world,
      faults: new Faults([], new SetChance()),
      clock,
      wallets: venue.wallets,
      log: silentLog,
      host: '127.0.0.1',
      ports: { ...venue.server.ports, gamma: 0, clob: 0 },
      state: () => null,
    }),
    /EADDRINUSE/,
  )
  assert.equal(world.listenerCount, 3)
  await venue.stop()
  await Promise.all([market.closed, rtds.closed])
  assert.equal(world.listenerCount, 0)
  assert.equal(clock.timerCount, 0)
  await assert.rejects(fetch(`${venue.gamma}/status`))
})

test('lists the real world completely and sends updates that keep a client’s books correct', async () => {
  const clock = new ManualClock()
  const quiet = new Faults([], seededRandom(1))
  const world = new SimulatedWorld({
    seed: 7,
    messagesPerSecond: 2_000,
    plan: new Calendar({ seed: 7, marketsPerVenue: 120 }),
    faults: quiet,
    clock,
    random: seededRandom('world'),
  })
  const server = await startPolymarketServer({
    world,
    faults: quiet,
    clock,
    wallets: new WalletLedgers({ world }),
    log: silentLog,
    host: '127.0.0.1',
    ports: { gamma: 0, clob: 0, data: 0, rtds: 0 },
    state: () => null,
  })
  const at = (port: number) => `http://127.0.0.1:${port}`
  const reader = await FrameReader.open(`ws://127.0.0.1:${server.ports.clob}/ws/market`)
  try {
    const listed = new Set<unknown>()
    for (let cursor: unknown = ''; cursor !== undefined; ) {
      const path = `/markets/keyset?limit=50${cursor === '' ? '' : `&after_cursor=${cursor}`}`
      const body = record((await request(`${at(server.ports.gamma)}${path}`)).body)
      for (const row of records(body.markets)) listed.add(row.conditionId)
      cursor = body.next_cursor
    }
    const active = world.markets('a').filter(({ status }) => status !== 'unopened')
    assert.ok(active.length > 0)
    // Gamma leaves out the last byte of a condition of protocol v2.
    const shown = active.map(({ listing: { nativeId, isV2 } }) =>
      isV2 ? nativeId.slice(0, 64) : nativeId,
    )
    assert.ok(new Set(shown.map(({ length }) => length)).size === 2)
    assert.deepEqual(new Set(shown), listed)
    const open = active.filter(({ status }) => status === 'open')
    reader.send({ assets_ids: open.map(({ listing }) => listing.tokens[0]), type: 'market' })
    const books = new Map<unknown, Readonly<Record<string, unknown>>>()
    const levels = new Map<string, string>()
    let changeCount = 0
    const apply = (message: Readonly<Record<string, unknown>>) => {
      if (message.event_type === 'book') {
        books.set(message.asset_id, message)
        for (const key of levels.keys())
          if (key.startsWith(`${message.asset_id} `)) levels.delete(key)
        for (const [side, list] of [
          ['BUY', message.bids],
          ['SELL', message.asks],
        ] as const) {
          for (const level of records(list)) {
            levels.set(`${message.asset_id} ${side} ${level.price}`, String(level.size))
          }
        }
      } else if (message.event_type === 'price_change') {
        changeCount += 1
        for (const entry of records(message.price_changes)) {
          if (!books.has(entry.asset_id)) continue
          const key = `${entry.asset_id} ${entry.side} ${entry.price}`
          if (entry.size === '0') levels.delete(key)
          else levels.set(key, String(entry.size))
        }
      }
    }
    for (const book of records(await reader.nextJson())) apply(book)
    assert.equal(books.size, open.length)
    for (let step = 0; step < 50; step += 1) {
      clock.advance(20)
      world.step()
    }
    for (const frame of await reader.drain()) apply(record(JSON.parse(frame)))
    assert.ok(changeCount > 100, `${changeCount} changes`)
    const tokens = open
      .filter(({ status }) => status === 'open')
      .map(({ listing }) => listing.tokens[0])
    for (let from = 0; from < tokens.length; from += 100) {
      const requested = tokens.slice(from, from + 100).map((token_id) => ({ token_id }))
      for (const book of records(
        (await request(`${at(server.ports.clob)}/books`, requested)).body,
      )) {
        const ours = [...levels.keys()].filter((key) => key.startsWith(`${book.asset_id} `)).length
        let theirs = 0
        for (const [side, list] of [
          ['BUY', book.bids],
          ['SELL', book.asks],
        ] as const) {
          for (const level of records(list)) {
            theirs += 1
            assert.equal(levels.get(`${book.asset_id} ${side} ${level.price}`), level.size)
          }
        }
        assert.equal(ours, theirs)
      }
    }
    const answer = await request(`${at(server.ports.data)}/v2/trades?limit=1000`)
    const hashes = records(record(answer.body).data).map((row) => row.transaction_hash)
    assert.deepEqual(new Set(hashes), new Set(world.trades('a').map(({ txHash }) => txHash)))
    assert.ok(hashes.length > 0)
  } finally {
    reader.close()
    await server.stop()
  }
})
