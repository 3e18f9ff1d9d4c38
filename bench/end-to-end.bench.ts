// Time from a venue's planned sending of a message to its receipt by one of ten subscribers to every book and trade. A
// relay that parses nothing is the comparison. A venue process sends the simulated world's frames, one in twenty a
// trade, each at its planned moment over one socket. Delays in venue, server and subscriber are included. Ours is the
// whole engine over LMDB, from the connectors' socket on; the relay passes each frame to a bare uWebSockets.js publish.
// Both are separate processes with ten subscribers each and alternate over the same frames. Figures are medians of five
// runs each, after 15,000 frames of warm-up.
// Excluded: networks (loopback), the venues' subscription protocols, subscribers' processing, and trades of venue a,
// whose times are whole seconds (they are sent and counted, not timed).
// Precision: the venue uses 1 ms timers for both sides. Five processes share two cores, so processor time per frame is
// reported too.

import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { Child } from './child.ts'
import {
  type LoadCommand,
  type LoadReport,
  type SendPlan,
  type ServerCommand,
  type ServerReport,
  SIDES,
  type SideName,
  type VenueCommand,
  type VenueReport,
} from './end-to-end/messages.ts'
import { sharedMs } from './fan-out/messages.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  figureText,
  hashOf,
  inFolder,
  nanosText,
  newTimes,
  type Row,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'

const SUBSCRIBERS = 10
const RUNS = 5
const RUN_SECONDS = 1.2
const START_AFTER_MS = 50
/**
 * Frames before the counted runs, so that the compiler has seen all code: equally many at every rate, at no lower rate
 * than this.
 */
const WARM_UP_FRAMES = 15_000
const WARM_UP_RATE = 5_000
/** Maximum ratio of our time to the relay's, up to this rate; above it there is no target. */
const RELAY_TIMES_MAX = 2
const AIMED_RATE_MAX = 10_000

export const bench: Bench = {
  name: 'end-to-end',
  question:
    'How long from a venue’s planned send to the receipt by ten subscribers, against a bare relay?',
  excludes: 'networks beyond loopback, the subscribers’ own work, trades that bear whole seconds',
  async run(setting) {
    const rows: Row[] = []
    const lines: string[] = []
    for (const perSecond of setting.isSmall ? [500] : [1_000, 5_000, 10_000, 20_000]) {
      const measured = await inFolder((folder) => compete(perSecond, folder, setting))
      rows.push(...measured.rows)
      lines.push(...measured.lines)
    }
    const checked = `${lines.length} books rebuilt by a subscriber equal the simulated world's, no hole in any seq, every frame relayed to every subscriber`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
  },
}

interface Side {
  readonly server: Child<ServerCommand, ServerReport>
  readonly load: Child<LoadCommand, LoadReport>
}

/** Results of one run of one side. */
interface Run {
  readonly times: Histogram
  readonly processorMicros: number
  readonly frameCount: number
  readonly resyncCount: number
}

async function compete(
  perSecond: number,
  dataDir: string,
  { isSmall, seconds, say: logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; lines: readonly string[] }> {
  const marketsPerVenue = isSmall ? 20 : 100
  const runs = isSmall ? 1 : RUNS
  const runSeconds = isSmall ? 0.3 : (seconds ?? RUN_SECONDS)
  const warmUpFrames = isSmall ? 100 : WARM_UP_FRAMES
  const wanted = warmUpFrames + Math.ceil(perSecond * runSeconds * runs)
  const field = new Field()
  try {
    const open = { kind: 'open', marketsPerVenue, frameCount: wanted } as const
    const { port: venuePort, frameCount } = await field.venue.ask(open, 'listening')
    await field.open({ venuePort, dataDir, marketsPerVenue })
    const done: Record<SideName, Run[]> = { ours: [], relay: [] }
    const runFrames = (frameCount - warmUpFrames) / runs
    for (let run = 0; run <= runs; run += 1) {
      const isWarmUp = run === 0
      const from = isWarmUp ? 0 : warmUpFrames + Math.floor((run - 1) * runFrames)
      const to = isWarmUp ? warmUpFrames : warmUpFrames + Math.floor(run * runFrames)
      const rate = isWarmUp ? Math.max(perSecond, WARM_UP_RATE) : perSecond
      // The order of the sides alternates.
      for (const side of run % 2 === 0 ? SIDES : SIDES.toReversed()) {
        const measured = await field.run(side, { perSecond: rate, from, to })
        if (!isWarmUp) done[side].push(measured)
      }
      logLine(
        isWarmUp ? `${perSecond} a second: warm` : `${perSecond} a second: run ${run} of ${runs}`,
      )
    }
    return { rows: rowsOf(perSecond, done), lines: await field.checkedBooks() }
  } finally {
    await field.close()
  }
}

/** Times, ratios of consecutive runs, and cost per frame. */
function rowsOf(perSecond: number, done: Readonly<Record<SideName, readonly Run[]>>): Row[] {
  const title = `${perSecond}/s`
  const rows: Row[] = []
  for (const side of SIDES) {
    const times = newTimes()
    for (const run of done[side]) times.add(run.times)
    check(times.totalCount > 0, `${title}: nothing came through ${side}`)
    rows.push(timesRow(`${title}: ${side}, planned send → subscriber`, times))
    const at = (rank: number) =>
      nanosText(median(done[side].map((run) => run.times.getValueAtPercentile(rank))))
    const each = median(done[side].map((run) => run.processorMicros / run.frameCount))
    const resyncs = done[side].reduce((sum, run) => sum + run.resyncCount, 0)
    const behind =
      resyncs === 0 ? '' : `; ${resyncs} books sent anew to subscribers that fell behind`
    rows.push(
      figureRow(
        `${title}: ${side}, medians of ${done[side].length} runs`,
        `p50 ${at(50)}, p99 ${at(99)}; ${each.toFixed(1)} µs of server processor a frame to ${SUBSCRIBERS} subscribers${behind}`,
      ),
    )
  }
  for (const rank of [50, 99]) {
    const ratio = median(
      done.ours.map(({ times }, index) => {
        const relayed = done.relay[index]?.times.getValueAtPercentile(rank) ?? Number.NaN
        return times.getValueAtPercentile(rank) / relayed
      }),
    )
    const what = `${title}: ours / relay, p${rank}`
    const isAimed = perSecond <= AIMED_RATE_MAX
    rows.push(
      isAimed
        ? aimedRow(what, ratio, { atMost: RELAY_TIMES_MAX })
        : figureRow(what, `${figureText(ratio)} times; without an aim`),
    )
  }
  return rows
}

/** The venue, and both sides with their subscribers. */
class Field {
  readonly venue: Child<VenueCommand, VenueReport> = new Child('end-to-end/venue.ts')
  readonly #sides: Readonly<Record<SideName, Side>> = {
    ours: sideOf('ours'),
    relay: sideOf('relay'),
  }

  /** Connects both sides to the venue; resolves when every book is there, before subscribers connect. */
  async open(position: Omit<Extract<ServerCommand, { kind: 'open' }>, 'kind'>): Promise<void> {
    await Promise.all(SIDES.map((name) => this.#open(name, position)))
  }

  async #open(
    name: SideName,
    position: Omit<Extract<ServerCommand, { kind: 'open' }>, 'kind'>,
  ): Promise<void> {
    const { server, load } = this.#sides[name]
    const { port, apiKey } = await server.ask({ kind: 'open', ...position }, 'listening')
    if (name === 'ours') {
      await this.venue.ask({ kind: 'snapshots', side: name }, 'sent')
      await this.#arrived(server)
    }
    const who = { port, apiKey, subscriberCount: SUBSCRIBERS }
    await load.ask({ kind: 'connect', ...who }, 'connected')
  }

  /** Polls until no more frames arrive at a server. */
  async #arrived(server: Side['server']): Promise<void> {
    for (let before = -1; ; ) {
      const { frameCount } = await server.ask({ kind: 'look' }, 'looked')
      if (frameCount > 0 && frameCount === before) return
      before = frameCount
      await pause(START_AFTER_MS)
    }
  }

  async run(name: SideName, part: Pick<SendPlan, 'perSecond' | 'from' | 'to'>): Promise<Run> {
    const { server, load } = this.#sides[name]
    const before = await server.ask({ kind: 'look' }, 'looked')
    const plan = { ...part, startMs: sharedMs() + START_AFTER_MS }
    await load.ask({ kind: 'expect', ...plan }, 'expecting')
    await this.venue.ask({ kind: 'send', side: name, ...plan }, 'sent')
    const { deliveryCount, resyncCount, times } = await load.ask({ kind: 'finish' }, 'finished')
    const after = await server.ask({ kind: 'look' }, 'looked')
    const frameCount = after.frameCount - before.frameCount
    check(frameCount === part.to - part.from, `${name} got ${frameCount} frames`)
    if (name === 'relay') {
      check(deliveryCount === SUBSCRIBERS * frameCount, `${deliveryCount} frames were relayed`)
    }
    const processorMicros = after.processorMicros - before.processorMicros
    const decoded = decodeFromCompressedBase64(times)
    return { times: decoded, processorMicros, frameCount, resyncCount }
  }

  /** Every book of the world, once the subscriber's books are equal. */
  async checkedBooks(): Promise<readonly string[]> {
    const { books: truth } = await this.venue.ask({ kind: 'truth' }, 'truth')
    const { books } = await this.#sides.ours.load.ask({ kind: 'books' }, 'books')
    const rebuilt = new Set(books)
    for (const line of truth) check(rebuilt.has(line), `no subscriber's book is\n${line}`)
    return truth
  }

  async close(): Promise<void> {
    const sides = Object.values(this.#sides).flatMap(({ server, load }) => [server, load])
    await Promise.all([this.venue, ...sides].map((child) => child.end()))
  }
}

function sideOf(name: SideName): Side {
  const server: Side['server'] = new Child('end-to-end/server.ts', [name])
  return { server, load: new Child('end-to-end/load.ts') }
}
