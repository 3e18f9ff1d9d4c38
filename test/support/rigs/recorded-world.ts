// An engine that writes into an in-process log, seeded venue events, and a clock that advances while a test waits.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { seededRandom } from '../../../engine/random.ts'
import { FaultyLogServer } from '../fakes/faulty-log.ts'
import { ManualClock } from '../fakes/manual-clock.ts'
import { NOON } from '../worlds/builders.ts'
import { manyMarkets, VenueEvents } from '../worlds/venue-events.ts'
import { RecordedEngine } from './recorded-engine.ts'

export type RecordedWorld = Awaited<ReturnType<typeof openRecordedWorld>>

/** Call it once per test file if possible, because its threads take a second to start. */
export async function openRecordedWorld(seed: string) {
  const clock = new ManualClock(NOON)
  const server = new FaultyLogServer(clock, seed)
  const markets = manyMarkets(6)
  const engine = new RecordedEngine({ clock, markets })
  const random = seededRandom('world', seed)
  const events = new VenueEvents(random, markets)
  const settle = async <Result>(promise: Promise<Result>): Promise<Result> => {
    let isDone = false
    const note = () => {
      isDone = true
    }
    promise.then(note, note)
    while (!isDone) {
      await nextTurn()
      clock.advance(1)
    }
    return promise
  }
  await settle(engine.start(server.connect()))
  /** Runs this many ticks of up to four events each. Default: on the first engine. */
  const play = async (ticks: number, by: RecordedEngine = engine) => {
    for (let tick = 0; tick < ticks; tick += 1) {
      for (let left = 1 + random.below(4); left > 0; left -= 1) by.emit(events.next(clock.nowMs()))
      await settle(by.flush())
    }
  }
  /** Returns false if the condition does not become true within a minute. */
  const until = async (isSo: () => boolean): Promise<boolean> => {
    for (let check = 0; check < 6_000; check += 1) {
      if (isSo()) return true
      await nextTurn()
      clock.advance(10)
    }
    return false
  }
  return { clock, server, markets, engine, events, settle, play, until }
}
