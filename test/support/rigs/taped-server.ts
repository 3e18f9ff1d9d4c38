// An API server whose updates are on a tape, and what a live subscriber received.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { TapeRecorder } from '../../../actors/tape/tape-recorder.ts'
import { ReplayReader } from '../../../engine/app/replay/replay-reader.ts'
import { EngineError } from '../../../engine/errors.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { seededRandom } from '../../../engine/random.ts'
import { tapeDisk } from '../../../engine/tape/disk.ts'
import type { TapeTask } from '../../../engine/tape/tape-task.ts'
import { TapeTaskRunner } from '../../../engine/tape/task-runner.ts'
import { priceMicros } from '../../../engine/units.ts'
import { type Message, StreamClient } from '../clients/stream-client.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import type { FakeMarket } from '../fakes/market.ts'
import { ask, bid, level } from '../worlds/builders.ts'
import { tapeSettings } from '../worlds/tape-world.ts'
import { type ApiServer, openApiServer } from './api-server.ts'

const REPLAYS_OF_OWNER_MAX = 2

export interface TapedServer {
  readonly server: ApiServer
  readonly clock: ManualClock
  readonly startMs: number
  /** What a subscriber of all markets received in the channels orderbook, trades and prices. */
  readonly received: readonly Message[]
  /** Replays that are open, and that were opened. */
  readonly counts: { open: number; opened: number }
  /** Readers of replays wait for `until` before each chunk. */
  readonly reading: { until: Promise<void> }
  stop(): Promise<void>
}

function act(market: FakeMarket, number: number): void {
  const random = seededRandom('replay', number)
  const price = (1 + random.below(49)) / 100
  const kind = random.below(10)
  if (kind < 6) market.change(bid(price, random.below(300)), ask(1 - price, 1 + random.below(9)))
  else if (kind < 7) market.trade()
  else if (kind === 7) market.reprice(priceMicros(10_000 * (1 + random.below(99))))
  else if (kind === 8) market.replace([level(price, 5)], [level(1 - price, 6)], 'venue_gap')
  else if (number % 2 === 0) market.markStale('silent')
  else market.confirm()
}

/** Three markets of venue_a change 400 times, once in 5 ms. The account `free` has the tier free. */
export async function openTapedServer(folder: string): Promise<TapedServer> {
  const clock = new ManualClock()
  const startMs = clock.nowMs()
  const server = await openApiServer({ clock })
  const { engine } = server
  const runner = new TapeTaskRunner(tapeDisk)
  const port = { run: async (task: TapeTask) => runner.run(task), close: async () => undefined }
  const recorder = new TapeRecorder({
    ...{ clock, log: silentLog, metrics: new Metrics(), port, venues: ['a', 'b'] },
    ...{ publisher: engine.publisher, catalog: engine.catalog },
    settings: tapeSettings(folder, { epoch: engine.epoch }),
    selection: { kind: 'all' },
  })
  engine.publisher.watch(recorder)
  engine.tape = recorder
  const counts = { open: 0, opened: 0 }
  const reading = { until: Promise.resolve() }
  engine.replays = {
    reserve() {
      if (counts.open >= REPLAYS_OF_OWNER_MAX) {
        throw new EngineError('RATE_LIMITED', 'an account may have 2 replays at once')
      }
      counts.open += 1
      counts.opened += 1
      const readers: ReplayReader[] = []
      return {
        read(query) {
          const reader = new ReplayReader(folder, query)
          readers.push(reader)
          const next = async () => {
            await reading.until
            return reader.next()
          }
          return { next, close: () => reader.close() }
        },
        release() {
          counts.open -= 1
          for (const reader of readers) reader.close()
        },
      }
    },
  }
  engine.accounts.make('free', { tier: 'free', requestsPerMinute: 1_000, socketsMax: 2 })
  const markets = ['one', 'two', 'three'].map((name) => engine.add(name, { venue: 'a' }))
  await recorder.start()
  const client = await StreamClient.open(server.port)
  for (const [id, channel] of ['orderbook', 'trades', 'prices'].entries()) {
    await client.ask({ action: 'subscribe', id, channel, market_ids: ['*'] }, 'subscribed')
  }
  for (const market of markets) market.replace([level(0.4, 1)], [level(0.6, 1)])
  for (let step = 0; step < 400; step += 1) {
    const market = markets[step % 3]
    if (market !== undefined) act(market, step)
    clock.advance(5)
    if (step % 20 === 0) await nextTurn()
  }
  await client.ask({ action: 'ping', id: 9 }, 'pong')
  const received = client.messages
  clock.advance(1_000)
  await nextTurn()
  await client.close()
  const stop = async () => {
    await recorder.stop()
    await server.stop()
  }
  return { server, clock, startMs, received, counts, reading, stop }
}
