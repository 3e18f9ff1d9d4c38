// The three setups of the cluster bench: a single process, a single process without subscribers, and an engine with
// gateways. The first gateway has the subscribers.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { natsEnv, type RunningNats, startNats } from '../../engine/cluster/nats-server.ts'
import { Child } from '../child.ts'
import {
  connectSubscribers,
  FedServer,
  type FrameRange,
  openSubscribers,
  openVenue,
} from '../end-to-end/fed-server.ts'
import { check } from '../harness.ts'
import { processorSecondsOf } from '../live-service.ts'
import type { api as gatewayApi } from './gateway.ts'

export const SIDES = ['all', 'alone', 'engine'] as const
export type SideName = (typeof SIDES)[number]

/**
 * Processor time per delivery, of a gateway and of the process of its subscribers. The work of the subscribers is equal
 * in every run, so their time shows changes of the machine's speed.
 */
export interface Delivery {
  readonly micros: number
  readonly besideMicros: number
}

export interface StreamRun {
  readonly frameCount: number
  /** Processor time per frame, of the process that receives from the venue and of nats-server. */
  readonly micros: number
  readonly natsMicros: number
  readonly batchCount: number
  readonly batchBytes: number
  /** Null: the setup has no subscribers. */
  readonly times: Histogram | null
  /** Cost of the gateway that has subscribers. Null: there is none. */
  readonly delivery: Delivery | null
}

export class StreamField {
  readonly #venue = openVenue()
  readonly servers: Readonly<Record<SideName, FedServer>> = {
    all: new FedServer('all', this.#venue),
    alone: new FedServer('alone', this.#venue),
    engine: new FedServer('engine', this.#venue),
  }
  readonly #gateways: Child<typeof gatewayApi>[] = []
  #nats: RunningNats | null = null
  #apiKey: string | null = null
  frameCount = 0

  async open(folder: string, marketsPerVenue: number, wantedCount: number): Promise<void> {
    const nats = await startNats(join(folder, 'nats'), 0, systemClock)
    this.#nats = nats
    const { port: venuePort, frameCount } = await this.#venue.call(
      'open',
      wantedCount,
      marketsPerVenue,
    )
    this.frameCount = frameCount
    for (const side of SIDES) {
      const dataDir = join(folder, side)
      mkdirSync(dataDir)
      const log = side === 'engine' ? { nats: natsEnv('engine', nats) } : {}
      const opening = { venuePort, dataDir, marketsPerVenue, ...log }
      const { port, apiKey } = await this.servers[side].open(opening)
      this.#apiKey = apiKey
      if (side === 'all') await this.#subscribe(this.servers.all, port)
    }
    await this.keepGateways(1)
  }

  async #subscribe(server: FedServer, port: number): Promise<void> {
    const subscribers = openSubscribers()
    server.subscribers = [subscribers]
    await connectSubscribers(subscribers, port, this.#apiKey)
  }

  /** Starts or stops gateways until there are this many. The first one has the subscribers and is never stopped. */
  async keepGateways(count: number): Promise<void> {
    for (const gateway of this.#gateways.splice(count)) await gateway.end()
    while (this.#gateways.length < count && this.#nats !== null) {
      const gateway: Child<typeof gatewayApi> = new Child('cluster/gateway.ts')
      this.#gateways.push(gateway)
      const name = `g${this.#gateways.length}`
      const port = await gateway.call('open', natsEnv('gateway', this.#nats), name)
      if (this.#gateways.length === 1) await this.#subscribe(this.servers.engine, port)
    }
  }

  async run(side: SideName, range: FrameRange): Promise<StreamRun> {
    const gateways = side === 'engine' ? this.#gateways : []
    const looks = () => Promise.all(gateways.map((gateway) => gateway.call('look')))
    const nats = () => processorSecondsOf(this.#nats?.child.pid ?? 0) * 1e6
    const [before, natsBefore] = [await looks(), nats()]
    const { frameCount, processorMicros, deliveries, ...log } = await this.servers[side].run(range)
    const after = await looks()
    check(
      after.every(({ faultCount }) => faultCount === 0),
      'the mirror of a gateway failed',
    )
    const [first] = deliveries
    const used = (after[0]?.processorMicros ?? 0) - (before[0]?.processorMicros ?? 0)
    return {
      ...{ ...log, frameCount, times: first?.times ?? null },
      micros: processorMicros / frameCount,
      natsMicros: (nats() - natsBefore) / frameCount,
      delivery:
        first === undefined || side !== 'engine'
          ? null
          : {
              micros: used / first.deliveryCount,
              besideMicros: first.processorMicros / first.deliveryCount,
            },
    }
  }

  async finish(from: number): Promise<void> {
    const to = this.frameCount
    if (from < to) await this.run('engine', { perSecond: 1_000, from, to })
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.servers).map((server) => server.end()))
    await Promise.all([...this.#gateways, this.#venue].map((process) => process.end()))
    await this.#nats?.stop()
  }
}
