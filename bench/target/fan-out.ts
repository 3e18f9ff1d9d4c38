// Subscribers of a deployment, each to the books of its most active markets and to every trade. Measures deliveries per
// second. For a local address, also measures the age of messages since `received_ms`, which may be up to 1 ms too high.
// A tunnel from a local address to another machine gives wrong ages. For other addresses, reports the time between
// deliveries.

import { setTimeout as pause } from 'node:timers/promises'
import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { TargetError, type TargetRequest } from '../arguments.ts'
import {
  type BenchResult,
  check,
  figureRow,
  hashOf,
  newTimes,
  record,
  timesRow,
} from '../harness.ts'
import { Received, type StreamMessage } from '../received.ts'
import { openStreams, TargetStream } from './stream.ts'
import type { Target } from './target.ts'

class Ages {
  readonly times: Histogram = newTimes()
  readonly #isShared: boolean
  readonly #lastAtMs: number[] = []
  isOn = false

  constructor(isShared: boolean) {
    this.#isShared = isShared
  }

  note(client: number, { received_ms: receivedMs }: StreamMessage, atMs: number): void {
    const lastAtMs = this.#lastAtMs[client]
    this.#lastAtMs[client] = atMs
    if (!this.isOn || receivedMs === undefined) return
    const sinceMs = this.#isShared ? receivedMs : lastAtMs
    if (sinceMs !== undefined) record(this.times, atMs - sinceMs)
  }
}

/** Rejects with TargetError if the deployment refuses or ends a stream, or if nothing arrives. */
export async function runTargetFanOut(
  target: Target,
  { clientCount, seconds }: TargetRequest,
  logLine: (line: string) => void,
): Promise<BenchResult> {
  const ages = new Ages(target.isHere)
  const clients = Array.from({ length: clientCount }, () => new Received())
  logLine(`${clientCount} streams subscribe to ${target.marketIds.length} books and all trades`)
  const streams = await openStreams(clientCount, async (index) => {
    const client = clients[index] ?? new Received()
    const stream = await TargetStream.open(target, (message, atMs) => {
      if (client.take(message)) ages.note(index, message, atMs)
    })
    await stream.subscribe({ channel: 'orderbook', market_ids: target.marketIds })
    await stream.subscribe({ channel: 'trades', market_ids: ['*'] })
    return stream
  })
  try {
    const delivered = () => clients.reduce((sum, { deliveryCount }) => sum + deliveryCount, 0)
    const fromCount = delivered()
    const startedMs = systemClock.monotonicMs()
    logLine(`listening for ${seconds} s`)
    ages.isOn = true
    await pause(seconds * 1_000)
    ages.isOn = false
    const deliveryCount = delivered() - fromCount
    const tookSeconds = (systemClock.monotonicMs() - startedMs) / 1_000
    for (const stream of streams) stream.assertOpen()
    if (deliveryCount === 0)
      throw new TargetError(`${target.origin} delivered nothing in ${seconds} s`)
    return resultOf(clients, ages.times, { deliveryCount, tookSeconds, isHere: target.isHere })
  } finally {
    for (const stream of streams) stream.close()
  }
}

function resultOf(
  clients: readonly Received[],
  times: Histogram,
  {
    deliveryCount,
    tookSeconds,
    isHere,
  }: { deliveryCount: number; tookSeconds: number; isHere: boolean },
): BenchResult {
  const holes = clients.flatMap((client) => client.holes)
  check(holes.length === 0, `${holes.length} gaps in seq, the first: ${holes[0]}`)
  const total = (count: (client: Received) => number) =>
    clients.reduce((sum, client) => sum + count(client), 0)
  const perSecond = Math.round(deliveryCount / tookSeconds)
  const age = 'received by the service → at a subscriber (whole milliseconds)'
  const checked = `${deliveryCount} deliveries to ${clients.length} subscribers, no hole in any seq`
  return {
    rows: [
      timesRow(isHere ? age : 'between two deliveries at a subscriber', times),
      figureRow('deliveries', `${perSecond} a second over ${clients.length} subscribers`),
      figureRow(
        'announced',
        `${total((one) => one.resyncCount)} resyncs, ${total((one) => one.gapCount)} gaps`,
      ),
    ],
    state: { hash: hashOf([checked]), checked, isRepeatable: false },
  }
}
