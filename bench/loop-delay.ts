// Event-loop delay of messages during other work. A steady load of simulated venue frames goes through parse, map and
// real actors over the disk, each at its planned moment; the delay is how late each starts. Runs with and without the
// work alternate, so that background load affects both, and the medians of their p99s are compared. On a busy machine
// most of a delay is waiting for a processor. Linux reports that time, and the rest is attributed to the engine. The
// wait behind the work's own thread is subtracted too, so that figure alone does not prove that the limit is met.
// Excluded: sockets, subscribers.

import { openSync, readSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import type { Histogram } from 'hdr-histogram-js'
import { MarketActor } from '../actors/market/market.ts'
import type { MarketMessage } from '../actors/market/parts.ts'
import { type ActorRef, System } from '../actors/system.ts'
import { systemClock } from '../engine/clock.ts'
import type { VenueEvent } from '../engine/events.ts'
import type { OutcomeId } from '../engine/ids.ts'
import { silentLog } from '../engine/process/log.ts'
import { Metrics } from '../engine/process/metrics.ts'
import { Publisher } from '../engine/publisher.ts'
import type { Storage } from '../storage/contract/storage.ts'
import { marketParts, NAMES } from '../test/support/worlds/builders.ts'
import {
  type BenchSetting,
  check,
  figureRow,
  nanosText,
  newTimes,
  type Row,
  record,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'
import { listingOf, type SimFrame, simLoad } from './sim-load.ts'
import { RECEIVED_AT, type VenuePath, venuePath } from './venue-path.ts'

const SEED = 12
const FRAMES_PER_MS = 1
const RUNS = 5
/** Limit of the delay: this absolute value, or a multiple of the delay without the work. */
const P99_NS_MAX = 5_000_000
const RATIO_MAX = 1.5

/** The concurrent work; created for each run. */
interface LoopWork {
  /** Starts; resolves when the work has stopped after `signal` aborted, off the clock. */
  run(signal: AbortSignal): Promise<void>
}

const runMsOf = ({ isSmall }: Pick<BenchSetting, 'isSmall'>): number => (isSmall ? 60 : 3_000)

/** Delays of planned frames. */
interface Delays {
  readonly all: Histogram
  /** Less the loop's wait for a processor since the last tick; empty if the system does not report it. */
  readonly own: Histogram
}

/** Venue frames, one a millisecond, processed by separate actors over `storage`. */
export class LoopLoad {
  readonly publisher = new Publisher({ epoch: 'bench', log: silentLog, metrics: new Metrics() })
  readonly #frames: readonly SimFrame[]
  readonly #take: Readonly<Record<SimFrame['venue'], VenuePath>>
  readonly #cells = new Map<OutcomeId, ActorRef<MarketMessage>>()
  #takenCount = 0
  #eventCount = 0

  /** Lasts for one comparison plus `moreMs`. */
  constructor(storage: Storage, setting: BenchSetting, moreMs = 0) {
    const load = simLoad({
      seed: SEED,
      marketsPerVenue: setting.isSmall ? 20 : 150,
      frameCount: (2 * RUNS * runMsOf(setting) + moreMs) * FRAMES_PER_MS,
    })
    const system = new System({
      ...{ clock: systemClock, log: silentLog, metrics: new Metrics(), mustHold: () => false },
    })
    const { publisher } = this
    const { parts } = marketParts({ publisher, storage, nowMs: () => RECEIVED_AT })
    for (const market of load.markets) {
      const { description, native, ...summary } = listingOf(market)
      const number = storage.markets.put({ ...summary, description, native })
      const { venue, nativeId, outcomes } = summary
      const [id, platform] = [NAMES.marketId(venue, nativeId), NAMES.platform(venue)]
      const ref = { id, number, venue, platform, nativeId }
      const actorRef = system.spawn(new MarketActor(ref, summary, parts))
      for (const outcome of outcomes) this.#cells.set(outcome.id, actorRef)
    }
    const emit = (event: VenueEvent) => this.#route(event)
    this.#take = { a: venuePath('a', load, emit), b: venuePath('b', load, emit) }
    this.#frames = load.frames
    for (const { venue, text } of load.snapshots) this.#take[venue](text)
  }

  #route(event: VenueEvent): void {
    this.#eventCount += 1
    if (!('outcome' in event)) return
    if (event.kind === 'bookSnapshot' || event.kind === 'bookChange' || event.kind === 'trade')
      this.#cells.get(event.outcome)?.send(event)
  }

  /** Sends frames for this long and records the delay of each. */
  async run({ all, own }: Delays, forMs: number): Promise<void> {
    const startMs = systemClock.monotonicMs()
    const count = forMs * FRAMES_PER_MS
    let planned = 0
    let waitedMs = processorWaitMs()
    const tick = () => {
      const elapsedMs = systemClock.monotonicMs() - startMs
      const nowWaitedMs = processorWaitMs()
      // All frames of one moment are recorded first, so that none waits for another's processing.
      const from = this.#takenCount
      for (; planned < count && planned / FRAMES_PER_MS <= elapsedMs; planned += 1) {
        const lateMs = elapsedMs - planned / FRAMES_PER_MS
        record(all, lateMs)
        if (nowWaitedMs !== null && waitedMs !== null)
          record(own, lateMs - (nowWaitedMs - waitedMs))
        this.#takenCount += 1
      }
      waitedMs = nowWaitedMs
      for (const frame of this.#frames.slice(from, this.#takenCount)) {
        this.#take[frame.venue](frame.text)
      }
    }
    const stop = systemClock.every(1, tick)
    await pause(forMs)
    stop()
    tick()
  }

  /** Number of processed frames; throws if the load ended early. */
  checked(): number {
    check(this.#takenCount <= this.#frames.length, 'the load lasts as long as the runs')
    check(this.#eventCount >= this.#takenCount / 2, 'frames became events')
    return this.#takenCount
  }
}

/** Five runs with the work and five without, alternately; `what` names it in the rows. */
export async function timeBeside(
  what: string,
  work: LoopWork,
  load: LoopLoad,
  setting: BenchSetting,
): Promise<Row[]> {
  const runMs = runMsOf(setting)
  const beside: Delays[] = []
  const alone: Delays[] = []
  const besideRun = async () => {
    const stopping = new AbortController()
    const working = work.run(stopping.signal)
    await load.run(added(beside), runMs)
    stopping.abort()
    await working
  }
  const aloneRun = () => load.run(added(alone), runMs)
  for (let run = 0; run < RUNS; run += 1) {
    setting.say(`${what}: run ${run + 1} of ${RUNS} with and without`)
    // The order alternates.
    for (const one of run % 2 === 0 ? [aloneRun, besideRun] : [besideRun, aloneRun]) await one()
  }
  const rows: Row[] = []
  for (const [kind, name] of KINDS) {
    const [ours, others] = [beside, alone].map((runs) => runs.map((delays) => delays[kind]))
    if (ours === undefined || others === undefined || together(ours).totalCount === 0) continue
    rows.push(
      timesRow(`${name} ${what}`, together(ours)),
      timesRow(`${name} without`, together(others)),
      figureRow(`${name} ${what}, p99`, verdict(ours, others)),
    )
  }
  return rows
}

const KINDS = [
  ['all', 'loop delay'],
  ['own', 'loop delay less waits for a processor'],
] as const satisfies readonly (readonly [keyof Delays, string])[]

export const newDelays = (): Delays => ({ all: newTimes(), own: newTimes() })

function added(to: Delays[]): Delays {
  const delays = newDelays()
  to.push(delays)
  return delays
}

function together(runs: readonly Histogram[]): Histogram {
  const all = newTimes()
  for (const one of runs) all.add(one)
  return all
}

function verdict(beside: readonly Histogram[], alone: readonly Histogram[]): string {
  const p99s = (runs: readonly Histogram[]) =>
    runs.map((times) => times.getValueAtPercentile(99)).sort((one, other) => one - other)
  const [ours, others] = [p99s(beside), p99s(alone)]
  const ratio = median(ours) / Math.max(median(others), 1)
  const isMet = median(ours) < P99_NS_MAX || ratio <= RATIO_MAX
  const texts = (of: readonly number[]) => of.map(nanosText).join(', ')
  return (
    `median ${nanosText(median(ours))} of ${texts(ours)}; without ${nanosText(median(others))} of ` +
    `${texts(others)}; ${ratio.toFixed(2)} times; under 5 ms or 1.5 times: ${isMet ? 'yes' : 'no'}`
  )
}

/** Kept open, since opening it costs as much as ten messages. Belongs to the thread that opened it. */
let waits: { readonly file: number; readonly bytes: Buffer } | null = null

/** Time for which this thread was ready to run but waiting for a processor; null if the system does not report it. */
function processorWaitMs(): number | null {
  if (process.platform !== 'linux') return null
  try {
    waits ??= { file: openSync('/proc/thread-self/schedstat', 'r'), bytes: Buffer.alloc(128) }
    const count = readSync(waits.file, waits.bytes, 0, waits.bytes.length, 0)
    const [, waitNs] = waits.bytes.toString('latin1', 0, count).split(' ')
    return waitNs === undefined ? null : Number(waitNs) / 1e6
  } catch {
    return null
  }
}
