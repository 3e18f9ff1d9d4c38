// Server process of the scale bench: the complete engine on a prepared data folder, with two venues that list nothing
// and send nothing.

import { readFileSync } from 'node:fs'
import { setImmediate as nextTick } from 'node:timers/promises'
import { encodeIntoCompressedBase64 } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import type { BookChangeEvent } from '../../engine/events.ts'
import { outcomeId } from '../../engine/ids.ts'
import { seededRandom } from '../../engine/random.ts'
import { priceMicros, sizeMicros, timeMs } from '../../engine/units.ts'
import { collectGarbage, newTimes, openStorage, timeInRotation } from '../harness.ts'
import { processorMicros, serve } from '../in-child.ts'
import { type QuietEngine, startQuietEngine } from '../quiet-engine.ts'
import { SCALE_NOW } from './fill.ts'

const SOME = 200
const ROUTE_BATCH = 100
const BOOK_BATCH = 100
const LEVELS_PER_SIDE = 20
const CENT = 10_000

const bornMs = systemClock.monotonicMs()
let quiet: QuietEngine | null = null

/**
 * `startMs`: time from the start of the process until it listens. `some`: an evenly distributed part of the markets.
 */
async function open(dataDir: string) {
  // The engine's clock starts at the time of the stored data.
  const nowMs = () => timeMs(SCALE_NOW + Math.floor(systemClock.monotonicMs() - bornMs))
  const clock = { ...systemClock, nowMs }
  const storage = await openStorage(dataDir, clock)
  quiet = await startQuietEngine(storage, clock)
  const { engine, apiKey } = quiet
  // The monotonic clock starts with the process.
  const startMs = systemClock.monotonicMs()
  const { marketCount } = engine.catalog
  const step = Math.max(1, Math.floor(marketCount / SOME))
  const some: { id: string; question: string }[] = []
  let position = 0
  for (const { ref, summary } of engine.catalog.markets(null)) {
    if (position % step === 0) some.push({ id: ref.id, question: summary.question })
    position += 1
  }
  return { port: engine.port, apiKey, startMs, marketCount, some }
}

/**
 * Sends books of 20 levels per side for the first markets, which must be open. Returns the number of markets that then
 * have levels.
 */
async function fillBooks(count: number): Promise<number> {
  if (quiet === null) throw new Error('the engine is not open')
  const { engine, emit } = quiet
  const actors = [...engine.catalog.entries()].map(({ actor }) => actor).slice(0, count)
  const side = (from: number, step: number) =>
    Array.from({ length: LEVELS_PER_SIDE }, (_, level) => ({
      price: priceMicros(from + level * step),
      size: sizeMicros((level + 1) * 1_000_000),
    }))
  for (const [index, { ref, summary }] of actors.entries()) {
    const [outcome] = summary.outcomes
    if (outcome === undefined) continue
    emit({
      kind: 'bookSnapshot',
      ...{ venue: ref.venue, outcome: outcome.id, venueTimeMs: SCALE_NOW, receivedAtMs: SCALE_NOW },
      ...{ bids: side(49 * CENT, -CENT), asks: side(51 * CENT, CENT), isInOrder: true },
    })
    if (index % BOOK_BATCH === 0) await nextTick()
  }
  await nextTick()
  const views = actors.map(({ ref }) => engine.catalog.find(ref.id))
  return views.filter((view) => view?.book().bids.length === LEVELS_PER_SIDE).length
}

/**
 * Sends book changes without a previous snapshot, which the actors ignore, so that only routing is timed. The events of
 * a batch are created just before the batch is routed, like those of a new frame.
 */
function route(count: number, ownersMax: number | null): string {
  if (quiet === null) throw new Error('the engine is not open')
  const { engine, emit } = quiet
  const random = seededRandom('scale route')
  const all = [...engine.catalog.entries()].flatMap(({ actor }) => {
    const [first] = actor.summary.outcomes
    return first === undefined ? [] : [{ venue: actor.ref.venue, outcome: first.id }]
  })
  const owners =
    ownersMax === null ? all : Array.from({ length: ownersMax }, () => random.pick(all))
  const changes = [
    { side: 'bid' as const, price: priceMicros(400_000), size: sizeMicros(1_000_000) },
  ]
  const next = (): BookChangeEvent => {
    const { venue, outcome } = random.pick(owners)
    return {
      kind: 'bookChange',
      venue,
      // Each event has its own string, as if parsed from a venue's message.
      outcome: outcomeId(Buffer.from(outcome).toString('latin1')),
      venueTimeMs: SCALE_NOW,
      receivedAtMs: SCALE_NOW,
      mode: 'absolute',
      changes,
      top: null,
    }
  }
  let events: BookChangeEvent[] = []
  const beforeBatch = (_from: number, size: number) => {
    events = Array.from({ length: size }, next)
  }
  const batch = () => {
    for (const event of events) emit(event)
  }
  const times = newTimes()
  timeInRotation([{ times, beforeBatch, batch }], {
    operationCount: count,
    batchCount: ROUTE_BATCH,
  })
  return encodeIntoCompressedBase64(times)
}

export const api = serve({
  open,
  fillBooks,
  /** Times the routing of one event each to at most this many actors of the whole catalogue. Null: no limit. */
  route,
  /** Memory without file pages, main heap, external memory, and processor time of the process. Linux only. */
  look(isCollected: boolean) {
    if (isCollected) collectGarbage()
    const status = readFileSync('/proc/self/status', 'latin1')
    const anonymousBytes = 1_024 * Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? Number.NaN)
    const { heapUsed: heapBytes, external: externalBytes } = process.memoryUsage()
    return { anonymousBytes, heapBytes, externalBytes, processorMicros: processorMicros() }
  },
})
