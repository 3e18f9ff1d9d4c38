import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NativeMarketId, nativeMarketId } from '../../../../../engine/ids.ts'
import type { ReadListing } from '../../../../../engine/market/market.ts'
import { usdMicros } from '../../../../../engine/units.ts'
import { PolymarketOpenInterest } from '../../../../../engine/venues/polymarket/catalog/open-interest.ts'
import type { DataRequest } from '../../../../../engine/venues/polymarket/data-api.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { venueCounters } from '../../../../support/fakes/venue-counters.ts'
import { listing } from '../../../../support/worlds/builders.ts'
import { settled } from '../../../../support/worlds/wallet-venue.ts'

const idOf = (number: number): NativeMarketId =>
  nativeMarketId(`0x${number.toString(16).padStart(64, '0')}`)

/** Open interest by market number. Requests fail while `isDown` is true. */
class FakeVenue {
  readonly clock = new ManualClock()
  readonly stated = new Map<number, number>()
  readonly requested: number[][] = []
  readonly seen: number[] = []
  isDown = false
  readonly interest = new PolymarketOpenInterest({
    data: { value: async (requested) => this.#answer(requested) },
    clock: this.clock,
    counters: venueCounters('a').counters,
    emit: ({ market }) => this.seen.push(Number(BigInt(market))),
  })

  #answer({ path, query }: DataRequest): unknown {
    assert.equal(path, '/v2/oi')
    const ids = String(query.condition).split(',')
    this.requested.push(ids.map((id) => Number(BigInt(id))))
    if (this.isDown) throw new Error('down')
    return ids.flatMap((id) => {
      const value = this.stated.get(Number(BigInt(id)))
      return value === undefined ? [] : [{ condition_id: id, value }]
    })
  }

  read(number: number, set: Partial<ReadListing> = {}): number | null {
    const id = idOf(number)
    const volume24h = usdMicros(number * 1_000_000)
    return this.interest.completed(listing(id, { nativeId: id, volume24h, ...set })).openInterest
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms)
    await settled()
  }
}

test('requests the open interest of 20 markets per call, most traded first, at most every five minutes per market', async () => {
  const venue = new FakeVenue()
  for (let number = 1; number <= 50; number += 1) {
    venue.stated.set(number, number + 0.5)
    assert.equal(venue.read(number), null)
  }
  venue.read(99, { status: 'closed' })
  venue.interest.start()
  await settled()
  assert.deepEqual(venue.requested, [Array.from({ length: 20 }, (_, at) => 50 - at)])
  for (let call = 0; call < 5; call += 1) await venue.pass(1_000)
  assert.deepEqual(
    venue.requested.flat().sort((one, other) => one - other),
    Array.from({ length: 50 }, (_, at) => at + 1),
  )
  assert.equal(venue.seen.length, 50, 'each listing is read again')
  assert.equal(venue.read(7), 7_500_000)
  await venue.pass(300_000)
  assert.equal(venue.requested.length, 4)
  assert.equal(venue.seen.length, 50, 'nothing changed')
  await venue.interest.stop()
})

test('retains the known open interest when a market is missing from the response or reported as empty', async () => {
  const venue = new FakeVenue()
  venue.read(1)
  venue.read(2)
  venue.stated.set(1, 3_356.035556)
  venue.interest.start()
  await settled()
  assert.deepEqual([venue.read(1), venue.read(2)], [3_356_035_556, null])
  venue.stated.set(1, 0)
  await venue.pass(300_000)
  assert.equal(venue.read(1), 3_356_035_556)
  venue.stated.clear()
  await venue.pass(300_000)
  assert.equal(venue.read(1), 3_356_035_556, 'an empty response')
  venue.isDown = true
  await venue.pass(330_000)
  assert.equal(venue.read(1), 3_356_035_556)
  venue.isDown = false
  venue.stated.set(1, 0)
  await venue.pass(330_000)
  assert.equal(venue.read(1), 0, 'zero was reported twice')
  await venue.interest.stop()
})
