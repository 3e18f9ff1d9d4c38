// A server to which the venue process sends frames, with its subscribers.

import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { Child } from '../child.ts'
import { check } from '../harness.ts'
import { sharedMs } from '../latency-recorder.ts'
import type { api as subscribersApi } from '../subscribers.ts'
import type { SendPlan } from './frames.ts'
import type { Opening, api as serverApi } from './server.ts'
import type { api as venueApi } from './venue.ts'

export const SUBSCRIBERS = 10
export const START_AFTER_MS = 50
const CHANNELS = ['orderbook', 'trades']

export type Venue = Child<typeof venueApi>
export type Subscribers = Child<typeof subscribersApi>
export type FrameRange = Pick<SendPlan, 'perSecond' | 'from' | 'to'>

export const openVenue = (): Venue => new Child('end-to-end/venue.ts')
export const openSubscribers = (): Subscribers => new Child('subscribers.ts')

export function connectSubscribers(
  subscribers: Subscribers,
  port: number,
  apiKey: string | null,
): Promise<void> {
  const target = { port, apiKey, channels: CHANNELS, subscriberCount: SUBSCRIBERS }
  return subscribers.call('connect', target)
}

interface FedRun {
  readonly frameCount: number
  readonly processorMicros: number
  readonly batchCount: number
  readonly batchBytes: number
  readonly residentBytesMax: number
  readonly deliveries: readonly {
    readonly times: Histogram
    readonly deliveryCount: number
    readonly resyncCount: number
    /** Messages that were lost, according to the subscribers of single markets. */
    readonly lostCount: number
    readonly processorMicros: number
  }[]
}

export class FedServer {
  readonly #name: string
  readonly #venue: Venue
  readonly #server: Child<typeof serverApi>
  subscribers: readonly Subscribers[] = []

  /** `relay` forwards frames without parsing them. Any other name is the complete engine. */
  constructor(name: string, venue: Venue) {
    this.#name = name
    this.#venue = venue
    this.#server = new Child('end-to-end/server.ts', [name])
  }

  /** Resolves when the server has every book. Subscribers connect after that. */
  async open(opening: Opening): Promise<{ port: number; apiKey: string | null }> {
    const opened = await this.#server.call('open', opening)
    if (opened.apiKey === null) return opened
    await this.#venue.call('snapshots', this.#name)
    for (let before = -1; ; ) {
      const { frameCount } = await this.#server.call('look')
      if (frameCount > 0 && frameCount === before) return opened
      before = frameCount
      await pause(START_AFTER_MS)
    }
  }

  async run(range: FrameRange): Promise<FedRun> {
    const before = await this.#server.call('look')
    const plan = { ...range, startMs: sharedMs() + START_AFTER_MS }
    for (const process of this.subscribers) await process.call('expect', plan)
    await this.#venue.call('send', this.#name, plan)
    const finished = await Promise.all(this.subscribers.map((process) => process.call('finish')))
    const frameCount = range.to - range.from
    for (;;) {
      const after = await this.#server.call('look')
      const arrived = after.frameCount - before.frameCount
      check(arrived <= frameCount, `${this.#name} got ${arrived} frames of ${frameCount}`)
      if (arrived < frameCount) {
        await pause(START_AFTER_MS)
        continue
      }
      return {
        frameCount,
        processorMicros: after.processorMicros - before.processorMicros,
        batchCount: after.batchCount - before.batchCount,
        batchBytes: after.batchBytes - before.batchBytes,
        residentBytesMax: after.residentBytesMax,
        deliveries: finished.map((one) => ({
          ...one,
          times: decodeFromCompressedBase64(one.times),
        })),
      }
    }
  }

  staleCount(): Promise<number> {
    return this.#server.call('staleCount')
  }

  /** Returns every book of the world. Throws unless the first subscriber has equal books. */
  async checkedBooks(): Promise<readonly string[]> {
    const truth = await this.#venue.call('truth')
    const received = await this.subscribers[0]?.call('received')
    const rebuilt = new Set(received?.books)
    for (const line of truth) check(rebuilt.has(line), `no subscriber's book is\n${line}`)
    return truth
  }

  /** Ends the subscribers first, because they fail when the server disconnects them. */
  async end(): Promise<void> {
    await Promise.all(this.subscribers.map((process) => process.end()))
    await this.#server.end()
  }
}
