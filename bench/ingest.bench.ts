// Frames of the simulated world pass at full speed through the complete engine with LMDB to one subscriber. The limit
// does the minimum work alternately on the same thread: JSON.parse of the frames, JSON.stringify of the updates, and a
// bare uWebSockets.js publish to an equal subscriber. Both process 64 frames per event-loop tick, and wait when the
// subscriber is 3,000 messages behind. Processor time is that of the complete process.

import { readFileSync } from 'node:fs'
import { setImmediate as nextTick } from 'node:timers/promises'
import { systemClock } from '../engine/clock.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  figureRow,
  hashOf,
  type Row,
  withLmdb,
} from './harness.ts'
import { type IngestLoad, ingestLoad, messagesOf } from './ingest/load.ts'
import { openLimit, openOurs, type Side } from './ingest/sides.ts'
import { median } from './latency-recorder.ts'
import { listingOf } from './sim-load.ts'

const FRAMES_PER_ROUND = 64
const WINDOW = 1_500
/** Target: minimum share of the limit's rate, by processor time per frame. */
const SHARE_MIN = 0.4

export const bench: Bench = {
  name: 'ingest',
  question: 'How many venue frames a second can one thread turn into published updates, with LMDB?',
  excludes: 'the venue’s sockets, the subscriber’s own work',
  async run(setting) {
    const { isSmall } = setting
    const rounds = isSmall ? 1 : 7
    const load = ingestLoad(isSmall ? 1_000 : 80_000, isSmall ? 20 : 100)
    const messages = await withLmdb((storage) => messagesOf(load, storage))
    return withLmdb(async (storage) => {
      for (const market of load.world.markets) storage.markets.put(listingOf(market))
      const ours = await openOurs(load, storage)
      const limit = await openLimit(load, messages)
      try {
        const rows = await compete(load, { ours, limit }, rounds, setting)
        const lines = await ours.checked()
        const checked = `${lines.length} books of the engine and of the subscriber equal the simulated world's, ${load.tradeCount} trades stored and received, no number left out`
        return { rows, state: { hash: hashOf(lines), checked, isRepeatable: !isSmall } }
      } finally {
        await limit.close()
        await ours.close()
      }
    })
  },
}

interface Cost {
  readonly processMs: number
  /** Processor time of the main thread. NaN if the system does not report it. */
  readonly threadMs: number
  readonly tookMs: number
}

/**
 * Each round sends a part of the frames through one side and then through the other. The first round is not counted.
 */
async function compete(
  { frames }: IngestLoad,
  sides: { readonly ours: Side; readonly limit: Side },
  rounds: number,
  { logLine }: BenchSetting,
): Promise<readonly Row[]> {
  const costs: Record<keyof typeof sides, { cost: Cost; count: number }[]> = { ours: [], limit: [] }
  const parts = rounds + 1
  for (let part = 0; part < parts; part += 1) {
    const [from, to] = [part, part + 1].map((edge) => Math.floor((edge * frames.length) / parts))
    const order = part % 2 === 0 ? (['ours', 'limit'] as const) : (['limit', 'ours'] as const)
    for (const name of order) {
      const cost = await drive(sides[name], from ?? 0, to ?? 0)
      if (part > 0) costs[name].push({ cost, count: (to ?? 0) - (from ?? 0) })
    }
    logLine(`part ${part + 1} of ${parts}`)
  }
  const micros = (name: keyof typeof sides, kind: keyof Cost) =>
    costs[name].map(({ cost, count }) => (1_000 * cost[kind]) / count)
  const share = (kind: keyof Cost) => {
    const limit = micros('limit', kind)
    return median(micros('ours', kind).map((own, round) => (limit[round] ?? Number.NaN) / own))
  }
  const costOf = (name: keyof typeof sides) => {
    const process = median(micros(name, 'processMs'))
    const thread = median(micros(name, 'threadMs')).toFixed(2)
    const rate = Math.round(1e6 / median(micros(name, 'tookMs')))
    const possible = Math.round(1e6 / process)
    return `${process.toFixed(2)} µs of processor a frame (${possible} a second of processor), ${thread} µs of it on the main thread; ${rate} frames/s by the clock`
  }
  return [
    figureRow('ours', costOf('ours')),
    figureRow('limit: JSON.parse, JSON.stringify, bare publish', costOf('limit')),
    aimedRow('ours / limit, rate by processor', share('processMs'), { atLeast: SHARE_MIN }),
    figureRow('ours / limit, rate by the main thread', share('threadMs').toFixed(2)),
    figureRow('ours / limit, rate by the clock', share('tookMs').toFixed(2)),
  ]
}

async function drive(side: Side, from: number, to: number): Promise<Cost> {
  const startedMs = systemClock.monotonicMs()
  const before = { processMs: processMs(), threadMs: threadMs() }
  let sampled = side.sentCount()
  for (let at = from; at < to; at += FRAMES_PER_ROUND) {
    side.take(at, Math.min(at + FRAMES_PER_ROUND, to))
    if (side.sentCount() - sampled >= WINDOW) {
      await side.subscriber.call('reached', sampled)
      sampled = side.sentCount()
    } else await nextTick()
  }
  await side.settle()
  await side.subscriber.call('reached', side.sentCount())
  return {
    processMs: processMs() - before.processMs,
    threadMs: threadMs() - before.threadMs,
    tookMs: systemClock.monotonicMs() - startedMs,
  }
}

function processMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function threadMs(): number {
  if (process.platform !== 'linux') return Number.NaN
  return Number(readFileSync('/proc/thread-self/schedstat', 'latin1').split(' ')[0]) / 1e6
}
