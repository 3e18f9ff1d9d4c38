// Compares the complete API server with a bare uWebSockets.js app and with a loop over `ws` sockets, which publish one
// constant message of the same size. Each publisher is a separate process with its own subscribers. The publishers
// alternate every second. Loads: one and ten updates per event-loop tick, and 64 updates per tick to subscribers with
// `batch=on`. Times start at the planned time. On two cores they include the subscribers' work.

import { Field, type Kind, type Round } from './fan-out/field.ts'
import type { ContestantName, Encoding } from './fan-out/server.ts'
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

/** Number of socket writes per second that use about half of the machine. The subscribers need the second half. */
const WRITES_PER_SECOND = 16_000
const MANY_SUBSCRIBERS = 10_000
/** Target: minimum ratio of the bare publisher's processor time to ours. */
const BARE_SHARE_MIN = 0.9
/** Target for batches, compared with constant frames of equal length. */
const BATCHED_SHARE_MIN = 0.75
/** Number of updates in a tick of 2 ms at 32,000 venue messages per second. */
const BATCHED_PER_ROUND = 64
const BATCHED_SUBSCRIBERS = 1_000
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

const LARGE: Size = {
  subscriberCounts: [100, 1_000, 10_000],
  encodings: ['json', 'msgpack'],
  perTurns: [1, 10],
  roundCount: 4,
  roundMs: 1_000,
}

export const bench: Bench = {
  name: 'fan-out',
  question:
    'What does one delivery of an update cost, compared with a bare publisher and with `ws`?',
  excludes: 'creating the update, networks beyond loopback, the subscribers’ own work',
  async run(setting) {
    const size = setting.isSmall ? SMALL : { ...LARGE, roundMs: (setting.seconds ?? 1) * 1_000 }
    const rows: Row[] = []
    const lines: string[] = []
    const measure = async (kind: Kind, perRounds: readonly number[]): Promise<void> => {
      const field = new Field(kind)
      try {
        await field.open(setting.isSmall)
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

async function compete(
  field: Field,
  perRound: number,
  { roundCount, roundMs }: Size,
  { isSmall, logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; lines: readonly string[] }> {
  const { subscriberCount, encoding, isBatched } = field.kind
  const { contestants } = field
  const intervalMs = Math.max((1_000 * subscriberCount) / WRITES_PER_SECOND, 2)
  const tickCount = Math.max(Math.round(roundMs / intervalMs), 2)
  const rounds: Record<ContestantName, Round[]> = { ours: [], bare: [], ws: [] }
  const lines: string[] = []
  const countedRounds = subscriberCount < MANY_SUBSCRIBERS ? roundCount : Math.min(roundCount, 3)
  for (let round = isSmall ? 1 : 0; round <= countedRounds; round += 1) {
    for (let position = 0; position < contestants.length; position += 1) {
      const contestant = contestants[(position + round) % contestants.length] ?? 'ours'
      const done = await field.run(contestant, { tickCount, perRound, intervalMs })
      check(
        done.deliveryCount === tickCount * perRound * subscriberCount,
        `${contestant}: ${done.deliveryCount} deliveries`,
      )
      if (round > 0) rounds[contestant].push(done)
      lines.push(`${contestant} ${encoding} ${done.deliveryCount} ${done.comparedCount}`)
    }
  }
  const ticks = perRound === 1 ? 'one a tick' : `${perRound} a tick`
  const title = `${subscriberCount} × ${encoding}, ${ticks}${isBatched ? ', batched' : ''}`
  const rows = rowsOf(title, rounds, field)
  for (const row of rows) if (row.kind === 'figure') logLine(`${row.what}: ${row.value}`)
  return { rows, lines }
}

function rowsOf(
  title: string,
  rounds: Readonly<Record<ContestantName, readonly Round[]>>,
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
  // Ratios of consecutive rounds, because both rounds have about the same background load.
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
