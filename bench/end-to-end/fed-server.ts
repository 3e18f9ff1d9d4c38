// A server that the venue process feeds, with its subscribers, for the benches end-to-end and cluster.

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

/** Ten subscribers to every book and trade. */
export function connectSubscribers(
  subscribers: Subscribers,
  port: number,
  apiKey: string | null,
): Promise<void> {
  const target = { port, apiKey, channels: CHANNELS, subscriberCount: SUBSCRIBERS }
  return subscribers.call('connect', target)
}

/** Results of one run. */
interface FedRun {
  readonly frameCount: number
  /** Processor time of the server process. */
  readonly processorMicros: number
  readonly batchCount: number
  readonly batchBytes: number
  /** One entry per subscriber process. */
  readonly deliveries: readonly {
    readonly times: Histogram
    readonly deliveryCount: number
    readonly resyncCount: number
    /** Processor time of the subscribers' process. */
    readonly processorMicros: number
  }[]
}

export class FedServer {
  readonly #name: string
  readonly #venue: Venue
  readonly #server: Child<typeof serverApi>
  /** The processes of its subscribers; a cluster's engine has those of its gateways. */
  subscribers: readonly Subscribers[] = []

  /** `relay` parses nothing; any other name is the whole engine. */
  constructor(name: string, venue: Venue) {
    this.#name = name
    this.#venue = venue
    this.#server = new Child('end-to-end/server.ts', [name])
  }

  /** Connects to the venue; resolves when every book is there, before subscribers connect. */
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

  /** Sends frames at their planned moments; resolves when all have arrived. */
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
        deliveries: finished.map((one) => ({
          ...one,
          times: decodeFromCompressedBase64(one.times),
        })),
      }
    }
  }

  /** Every book of the world, once the first subscriber's books are equal. */
  async checkedBooks(): Promise<readonly string[]> {
    const truth = await this.#venue.call('truth')
    const received = await this.subscribers[0]?.call('received')
    const rebuilt = new Set(received?.books)
    for (const line of truth) check(rebuilt.has(line), `no subscriber's book is\n${line}`)
    return truth
  }

  /** Ends the subscribers first, since they fail when disconnected. */
  async end(): Promise<void> {
    await Promise.all(this.subscribers.map((process) => process.end()))
    await this.#server.end()
  }
}
