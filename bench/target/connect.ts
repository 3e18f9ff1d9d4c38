// Clients of a deployment connect, subscribe to the books of its most active markets, disconnect without a close frame,
// and resume. Measures the time until all are in sync, for both connections. Each sequence must continue without a gap.

import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../../engine/clock.ts'
import type { TargetRequest } from '../arguments.ts'
import {
  type BenchResult,
  check,
  figureRow,
  hashOf,
  newTimes,
  record,
  timesRow,
} from '../harness.ts'
import { Received } from '../received.ts'
import { openStreams, TargetStream } from './stream.ts'
import type { Target } from './target.ts'

const AWAY_MS_MAX = 5_000

/** Rejects with TargetError if the deployment refuses or ends a stream. */
export async function runTargetConnect(
  target: Target,
  { clientCount, seconds }: TargetRequest,
  logLine: (line: string) => void,
): Promise<BenchResult> {
  const clients = Array.from({ length: clientCount }, () => new Received())
  const [joined, resumed] = [newTimes(), newTimes()]
  let replayedCount = 0
  const open = async (index: number): Promise<TargetStream> => {
    const client = clients[index] ?? new Received()
    const since = client.position('orderbook')
    const startedMs = systemClock.monotonicMs()
    const stream = await TargetStream.open(target, (message) => client.take(message))
    const command = { channel: 'orderbook', market_ids: target.marketIds }
    const ended = await stream.subscribe(since === null ? command : { ...command, since })
    record(since === null ? joined : resumed, systemClock.monotonicMs() - startedMs)
    replayedCount += ended.replayed ?? 0
    return stream
  }
  const timed = async (what: string) => {
    const startedMs = systemClock.monotonicMs()
    const streams = await openStreams(clientCount, open)
    const tookMs = systemClock.monotonicMs() - startedMs
    logLine(`${clientCount} clients ${what} after ${(tookMs / 1_000).toFixed(2)} s`)
    return { streams, text: `${(tookMs / 1_000).toFixed(2)} s` }
  }
  const listenMs = Math.min(AWAY_MS_MAX, (seconds * 1_000) / 3)
  const first = await timed('in sync')
  await listen(first.streams, listenMs)
  await pause(listenMs)
  const second = await timed('resumed')
  await listen(second.streams, listenMs)
  const holes = clients.flatMap((client) => client.holes)
  check(holes.length === 0, `${holes.length} gaps in seq, the first: ${holes[0]}`)
  const anew = clients.reduce((sum, { resyncCount }) => sum + resyncCount, 0)
  const received = clients.reduce((sum, { deliveryCount }) => sum + deliveryCount, 0)
  const checked = `${clientCount} clients resumed, ${received} updates, no hole in any seq across the disconnect`
  return {
    rows: [
      timesRow('a client: connect to its books in sync', joined),
      timesRow('a client: connect again to resumed', resumed),
      figureRow(`all ${clientCount} in sync, all resumed`, `${first.text}, ${second.text}`),
      figureRow('while away', `${replayedCount} updates replayed, ${anew} books restarted`),
    ],
    state: { hash: hashOf([checked]), checked, isRepeatable: false },
  }
}

async function listen(streams: readonly TargetStream[], forMs: number): Promise<void> {
  try {
    await pause(forMs)
    for (const stream of streams) stream.assertOpen()
  } finally {
    for (const stream of streams) stream.cut()
  }
}
