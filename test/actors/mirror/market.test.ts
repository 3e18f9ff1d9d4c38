import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MirrorMarket } from '../../../actors/mirror/market.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { Publisher } from '../../../engine/publisher.ts'
import { usdMicros } from '../../../engine/units.ts'
import { bookChecksum } from '../../support/fakes/market.ts'
import { openMemoryStorage } from '../../support/reference/memory.ts'
import {
  bid,
  level,
  NAMES,
  NOON,
  recordingPublisher,
  storedMarket,
} from '../../support/worlds/builders.ts'
import { tradeUpdate } from '../../support/worlds/webhook-world.ts'

/** The engine has published five trades of the market. */
function open() {
  const { publisher } = recordingPublisher()
  const actor = storedMarket({ publisher, storage: openMemoryStorage() }).open()
  const quoted = { price: actor.price(), figures: actor.figures, tradesSeq: 5, pricesSeq: 5 }
  const mirror = new MirrorMarket(
    actor.ref,
    { summary: actor.summary, quoted },
    {
      publisher: new Publisher({ epoch: 'test', log: silentLog, metrics: new Metrics() }),
      isDisconnected: () => false,
      disconnectCount: () => 0,
      description: () => null,
      volumeUnit: (venue) => NAMES.of(venue).volumeUnit,
      bars: null,
    },
  )
  return { mirror, market: actor.ref }
}

test('counts a trade once in a mirrored market’s volumes, even if the trade arrives twice', () => {
  const { mirror, market } = open()
  const before = [mirror.volume24h, mirror.volumeTotal ?? 0]
  for (const seq of [5, 6, 6, 7, 6, 7]) {
    mirror.noteTrade({ ...tradeUpdate({ market, atMs: NOON }), seq })
  }
  const traded = usdMicros(40_000_000)
  assert.deepEqual(
    [mirror.volume24h, mirror.volumeTotal],
    before.map((volume) => volume + traded),
  )
})

test('rejects changed levels when the checksum of the resulting book differs from the engine’s checksum', () => {
  const { mirror, market } = open()
  const times = { venueTimeMs: NOON, receivedAtMs: NOON }
  const [bids, asks] = [[level(0.4, 10)], [level(0.42, 5)]]
  mirror.replace({ bids, asks, isStale: false, staleReason: null, offset: 1, seq: 1, ...times })
  const change = (size: number, checksum: number | null) =>
    mirror.change({
      ...{ kind: 'book', market, ...times, offset: 1, seq: 1 },
      ...{ changes: [bid(0.4, size)], checksum },
    })
  assert.equal(change(11, null), true)
  assert.equal(change(12, bookChecksum([level(0.4, 12)], asks)), true)
  assert.equal(change(13, bookChecksum([level(0.4, 12)], asks)), false)
})
