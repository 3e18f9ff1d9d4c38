// Cost of one update to all subscribers, against a bare uWebSockets.js app and the package `ws` in a loop. Those
// publish one constant message of the same size. Each publisher is a separate process with its own subscribers; they
// alternate every second. Ours is the whole API server: publisher, history, encoder, topics, sweeps; every subscriber
// follows all books. Two loads: one update per event-loop tick, and ten, which 5,000 venue messages a second bring in a
// tick of 2 ms (systemRunMsMax). Batches: 64 updates per tick to subscribers with `batch=on`, against a bare publisher
// of one constant frame per tick. Times start at the planned moment. Other numbers of subscribers:
// BENCH_SUBSCRIBERS=10,500.
// Excluded: creating the update (actors), networks, subscribers' processing.
// Precision: all publishers use 1 ms timers; processor time is the whole process's, in microseconds; on two cores the
// times include the subscribers' reading.

import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { Child } from './child.ts'
import {
  CONTESTANTS,
  type Contestant,
  type Encoding,
  type LoadCommand,
  type LoadReport,
  type Plan,
  type ServerCommand,
  type ServerReport,
  sharedMs,
} from './fan-out/messages.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  newTimes,
  type Row,
  timesRow,
} from './harness.ts'
import { median } from './latency-recorder.ts'

/** Socket writes a second that leave half of the machine to the subscribers. */
const WRITES_PER_SECOND = 16_000
const START_AFTER_MS = 100
const MANY_SUBSCRIBERS = 10_000
/** Minimum ratio of the bare publisher's processor time to ours. */
const BARE_SHARE_MIN = 0.9
/** The same for batches, against constant frames of equal length. */
const BATCHED_SHARE_MIN = 0.75
/** Updates in a tick of 2 ms at 32,000 venue messages a second. */
const BATCHED_PER_ROUND = 64
const BATCHED_SUBSCRIBERS = 1_000
/** Sent to one subscriber before the others connect, so that all code is compiled before the measurement. */
const WARM_UP = { tickCount: 3_000, perRound: 10, intervalMs: 1 }
const SMALL_WARM_UP = { tickCount: 5, perRound: 10, intervalMs: 1 }

type Shape = Omit<Plan, 'startMs'>

/** Shape of a load. */
interface Size {
  readonly subscriberCounts: readonly number[]
  readonly encodings: readonly Encoding[]
  readonly perTurns: readonly number[]
  readonly roundCount: number
  readonly roundMs: number
}

const SMALL: Size = {
  subscriberCounts: [20],
  encodings: ['msgpack'],
  perTurns: [10],
  roundCount: 1,
  roundMs: 200,
}

export const bench: Bench = {
  name: 'fan-out',
  question: 'What does one delivery of an update cost, against a bare publisher and against `ws`?',
  excludes: 'making the update, networks beyond loopback, the subscribers’ own work',
  async run(setting) {
    const size = setting.isSmall ? SMALL : largeSize(process.env.BENCH_SUBSCRIBERS, setting.seconds)
    const rows: Row[] = []
    const lines: string[] = []
    const measure = async (kind: Kind, perRounds: readonly number[]): Promise<void> => {
      const field = await Field.open(kind, setting)
      try {
        for (const perRound of perRounds) {
          const measured = await compete(field, perRound, size, setting)
          rows.push(...measured.rows)
          lines.push(...measured.lines)
        }
      } finally {
        await field.close()
      }
    }
    for (const subscriberCount of size.subscriberCounts) {
      for (const encoding of size.encodings) {
        await measure({ subscriberCount, encoding, isBatched: false }, size.perTurns)
        if (subscriberCount !== BATCHED_SUBSCRIBERS && !setting.isSmall) continue
        await measure({ subscriberCount, encoding, isBatched: true }, [BATCHED_PER_ROUND])
      }
    }
    const checked = `${lines.length} runs in which every subscriber got every message, in order`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: !setting.isSmall } }
  },
}

function largeSize(requested: string | undefined, seconds: number | null): Size {
  const subscriberCounts =
    requested === undefined ? [100, 1_000, 10_000] : requested.split(',').map(Number)
  check(
    subscriberCounts.every((count) => Number.isSafeInteger(count) && count > 0),
    `BENCH_SUBSCRIBERS is ${requested}; it accepts numbers separated by commas`,
  )
  return {
    subscriberCounts,
    encodings: ['json', 'msgpack'],
    perTurns: [1, 10],
    roundCount: 4,
    roundMs: (seconds ?? 1) * 1_000,
  }
}

/** Cost of one contestant in one round. */
interface Round {
  readonly deliveryCount: number
  readonly comparedCount: number
  readonly processorMicros: number
  readonly tookMs: number
  readonly times: Histogram
}

/** Alternates all three; the first round of each is not counted. */
async function compete(
  field: Field,
  perRound: number,
  { roundCount, roundMs }: Size,
  { isSmall, say: logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; lines: readonly string[] }> {
  const { subscriberCount, encoding, isBatched } = field.kind
  const { contestants } = field
  const intervalMs = Math.max((1_000 * subscriberCount) / WRITES_PER_SECOND, 2)
  const tickCount = Math.max(Math.round(roundMs / intervalMs), 2)
  const rounds: Record<Contestant, Round[]> = { ours: [], bare: [], ws: [] }
  const lines: string[] = []
  // A round with this many subscribers takes several seconds in any case.
  const countedRounds = subscriberCount < MANY_SUBSCRIBERS ? roundCount : Math.min(roundCount, 3)
  for (let round = isSmall ? 1 : 0; round <= countedRounds; round += 1) {
    // The order of the contestants is rotated.
    for (let position = 0; position < contestants.length; position += 1) {
      const contestant = contestants[(position + round) % contestants.length] ?? 'ours'
      const done = await field.run(contestant, {
        tickCount,
        perRound,
        intervalMs,
      })
      check(
        done.deliveryCount === tickCount * perRound * subscriberCount,
        `${contestant}: ${done.deliveryCount} deliveries`,
      )
      if (round > 0) rounds[contestant].push(done)
      lines.push(`${contestant} ${encoding} ${done.deliveryCount} ${done.comparedCount}`)
    }
  }
  const ticks = perRound === 1 ? 'one a turn' : `${perRound} a turn`
  const title = `${subscriberCount} × ${encoding}, ${ticks}${isBatched ? ', batched' : ''}`
  const rows = rowsOf(title, rounds, field)
  for (const row of rows) if (row.kind === 'figure') logLine(`${row.what}: ${row.value}`)
  return { rows, lines }
}

function rowsOf(
  title: string,
  rounds: Readonly<Record<Contestant, readonly Round[]>>,
  { frameBytes, contestants, kind }: Field,
): Row[] {
  const rows: Row[] = []
  const micros = { ours: 0, bare: 0, ws: 0 }
  for (const contestant of contestants) {
    const some = rounds[contestant]
    const times = newTimes()
    for (const round of some) times.add(round.times)
    rows.push(timesRow(`${title}: ${contestant}`, times))
    micros[contestant] = median(some.map((one) => one.processorMicros / one.deliveryCount))
    const rate = median(some.map((one) => (one.deliveryCount / one.tookMs) * 1_000))
    const possible = Math.round(1_000_000 / micros[contestant])
    rows.push(
      figureRow(
        `${title}: ${contestant}`,
        `${micros[contestant].toFixed(3)} µs of processor a delivery of ${frameBytes} bytes (${possible} a second of processor), ${Math.round(rate)} deliveries/s made`,
      ),
    )
  }
  // Ratios of consecutive rounds, so that both have the same background load.
  const share = median(pairs(rounds.bare, rounds.ours))
  const atLeast = kind.isBatched ? BATCHED_SHARE_MIN : BARE_SHARE_MIN
  rows.push(aimedRow(`${title}: bare / ours by processor a delivery`, share, { atLeast }))
  if (kind.isBatched) return rows
  const times = median(pairs(rounds.ws, rounds.ours))
  rows.push(figureRow(`${title}: ws / ours by processor a delivery`, `${times.toFixed(1)} times`))
  return rows
}

function pairs(others: readonly Round[], own: readonly Round[]): number[] {
  return others.map((other, index) => {
    const mine = own[index]
    return mine === undefined ? Number.NaN : other.processorMicros / mine.processorMicros
  })
}

/** Receivers, encoding, and whether a tick is one frame. */
interface Kind {
  readonly subscriberCount: number
  readonly encoding: Encoding
  readonly isBatched: boolean
}

/** The publishers with their connected subscribers. */
class Field {
  readonly kind: Kind
  readonly contestants: readonly Contestant[]
  readonly #sides = new Map<Contestant, { server: Server; load: Load }>()
  readonly #children: Child<unknown, unknown>[] = []
  frameBytes = 0

  private constructor(kind: Kind) {
    this.kind = kind
    this.contestants = CONTESTANTS.filter((name) => !kind.isBatched || name !== 'ws')
  }

  static async open(kind: Kind, { isSmall }: BenchSetting): Promise<Field> {
    const warmUp = isSmall ? SMALL_WARM_UP : WARM_UP
    const field = new Field(kind)
    try {
      let frame: string | null = null
      for (const contestant of field.contestants) {
        frame = await field.#add(contestant, frame, warmUp)
      }
      return field
    } catch (error) {
      await field.close()
      throw error
    }
  }

  /** Ours is added first: the others publish one of its messages. */
  async #add(contestant: Contestant, frame: string | null, warmUp: Shape): Promise<string> {
    const { encoding, subscriberCount, isBatched } = this.kind
    const server: Server = new Child('fan-out/server.ts', [contestant])
    const first: Load = new Child('fan-out/load.ts', [])
    const load: Load = new Child('fan-out/load.ts', [])
    this.#children.push(server, first, load)
    const listening = await server.ask({ kind: 'open', encoding, frame, isBatched }, 'listening')
    const { port, marketIds } = listening
    const shared = { contestant, encoding, isBatched, port, marketIds, frame: listening.frame }
    await first.ask({ kind: 'connect', subscriberCount: 1, ...shared }, 'connected')
    await publish(server, first, warmUp)
    await first.end()
    await load.ask({ kind: 'connect', subscriberCount, ...shared }, 'connected')
    this.#sides.set(contestant, { server, load })
    this.frameBytes = Buffer.from(listening.frame, 'base64').length
    return listening.frame
  }

  run(contestant: Contestant, shape: Shape): Promise<Round> {
    const side = this.#sides.get(contestant)
    if (side === undefined) throw new Error(`${contestant} does not run`)
    return publish(side.server, side.load, shape)
  }

  async close(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.end()))
  }
}

/** Runs a plan from its start to its last delivery. */
async function publish(server: Server, load: Load, shape: Shape): Promise<Round> {
  const before = await server.ask({ kind: 'look' }, 'looked')
  const plan = { ...shape, startMs: sharedMs() + START_AFTER_MS }
  await load.ask({ kind: 'expect', publishedCount: before.publishedCount, ...plan }, 'expecting')
  const ended = load.next('done')
  server.tell({ kind: 'publish', ...plan })
  const { deliveryCount, comparedCount, tookMs, times } = await ended
  const after = await server.ask({ kind: 'look' }, 'looked')
  const processorMicros = after.processorMicros - before.processorMicros
  const histogram = decodeFromCompressedBase64(times)
  return { deliveryCount, comparedCount, tookMs, processorMicros, times: histogram }
}

type Server = Child<ServerCommand, ServerReport>
type Load = Child<LoadCommand, LoadReport>
