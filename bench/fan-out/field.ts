// Starts the publishers of the fan-out bench, each with a process for its subscribers.

import { decodeFromCompressedBase64, type Histogram } from 'hdr-histogram-js'
import { Child } from '../child.ts'
import { sharedMs } from '../latency-recorder.ts'
import type { api as loadApi } from './load.ts'
import type { ContestantName, Encoding, Plan, api as serverApi } from './server.ts'

type Shape = Omit<Plan, 'startMs'>

const START_AFTER_MS = 100
/**
 * A plan that runs with one subscriber before the others connect, so that all code is compiled before the measurement.
 */
const WARM_UP = { tickCount: 3_000, perRound: 10, intervalMs: 1 }
const SMALL_WARM_UP = { tickCount: 5, perRound: 10, intervalMs: 1 }

export interface Round {
  readonly deliveryCount: number
  readonly comparedCount: number
  readonly processorMicros: number
  readonly tookMs: number
  readonly times: Histogram
}

/** Number of subscribers, encoding, and whether the updates of a tick are sent as one frame. */
export interface Kind {
  readonly subscriberCount: number
  readonly encoding: Encoding
  readonly isBatched: boolean
}

const CONTESTANTS: readonly ContestantName[] = ['ours', 'bare', 'ws']

interface Side {
  readonly server: Child<typeof serverApi>
  readonly load: Child<typeof loadApi>
}

export class Field {
  readonly kind: Kind
  readonly contestants: readonly ContestantName[]
  readonly #sides = new Map<ContestantName, Side>()
  readonly #children: { end(): Promise<void> }[] = []
  frameBytes = 0

  constructor(kind: Kind) {
    this.kind = kind
    this.contestants = CONTESTANTS.filter((name) => !kind.isBatched || name !== 'ws')
  }

  /** Our server starts first, because the other publishers send a copy of one of its messages. */
  async open(isSmall: boolean): Promise<void> {
    const { encoding, subscriberCount, isBatched } = this.kind
    let constant: string | null = null
    for (const contestant of this.contestants) {
      const server: Side['server'] = new Child('fan-out/server.ts', [contestant])
      const first: Side['load'] = new Child('fan-out/load.ts')
      const load: Side['load'] = new Child('fan-out/load.ts')
      this.#children.push(server, first, load)
      const opened: Awaited<ReturnType<(typeof serverApi)['open']>> = await server.call(
        'open',
        encoding,
        constant,
        isBatched,
      )
      const shared = { contestant, encoding, isBatched, ...opened }
      await first.call('connect', { subscriberCount: 1, ...shared })
      await publish({ server, load: first }, isSmall ? SMALL_WARM_UP : WARM_UP)
      await first.end()
      await load.call('connect', { subscriberCount, ...shared })
      this.#sides.set(contestant, { server, load })
      this.frameBytes = Buffer.from(opened.frame, 'base64').length
      constant = opened.frame
    }
  }

  run(contestant: ContestantName, shape: Shape): Promise<Round> {
    const side = this.#sides.get(contestant)
    if (side === undefined) throw new Error(`${contestant} does not run`)
    return publish(side, shape)
  }

  async close(): Promise<void> {
    await Promise.all(this.#children.map((child) => child.end()))
  }
}

async function publish({ server, load }: Side, shape: Shape): Promise<Round> {
  const before = await server.call('look')
  const plan = { ...shape, startMs: sharedMs() + START_AFTER_MS }
  await load.call('expect', { publishedCount: before.publishedCount, ...plan })
  const ended = load.call('done')
  await server.call('publish', plan)
  const { times, ...counts } = await ended
  const after = await server.call('look')
  const processorMicros = after.processorMicros - before.processorMicros
  return { ...counts, processorMicros, times: decodeFromCompressedBase64(times) }
}
