// The simulated venue a on free loopback ports, with faults that tests trigger.

import { silentLog } from '../../../engine/process/log.ts'
import type { Random } from '../../../engine/random.ts'
import { Faults } from '../../../engine/venues/simulator/faults.ts'
import type { SimFault } from '../../../engine/venues/simulator/model.ts'
import {
  type PolymarketServer,
  startPolymarketServer,
} from '../../../engine/venues/simulator/polymarket/server.ts'
import { WalletLedgers } from '../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { FrameReader } from '../clients/venue-client.ts'
import { StubWorld } from '../worlds/stub-world.ts'
import { ManualClock } from './manual-clock.ts'

/** Faults occur at every opportunity with 0, and never with 1. */
export class SetChance implements Random {
  value = 1
  next = (): number => this.value
  below = (): number => 0
  pick<T>(items: readonly T[]): T {
    const [first] = items
    if (first === undefined) throw new RangeError('pick needs at least one item')
    return first
  }
}

export interface StubVenue {
  readonly clock: ManualClock
  readonly world: StubWorld
  readonly chance: SetChance
  readonly server: PolymarketServer
  readonly wallets: WalletLedgers
  readonly gamma: string
  readonly clob: string
  readonly data: string
  market(): Promise<FrameReader>
  rtds(options?: { autoPong?: boolean }): Promise<FrameReader>
  stop(): Promise<void>
}

/** The given faults occur once the test sets the chance to 0. */
export async function startStubVenue(
  options: {
    faults?: readonly SimFault[]
    isRateLimited?: boolean
    activityEndsS?: number | null
  } = {},
): Promise<StubVenue> {
  const clock = new ManualClock()
  const world = new StubWorld(clock)
  const chance = new SetChance()
  const wallets = new WalletLedgers({ world })
  const server = await startPolymarketServer({
    ...{ world, wallets },
    faults: new Faults(options.faults ?? [], chance),
    clock,
    log: silentLog,
    host: '127.0.0.1',
    ports: { gamma: 0, clob: 0, data: 0, rtds: 0 },
    state: (query) => ({ asked: query.get('view') }),
    isRateLimited: options.isRateLimited ?? false,
    activityEndsS: options.activityEndsS ?? null,
  })
  const { ports } = server
  const open: FrameReader[] = []
  const connect = async (port: number, path: string, ws = {}): Promise<FrameReader> => {
    const reader = await FrameReader.open(`ws://127.0.0.1:${port}${path}`, ws)
    open.push(reader)
    return reader
  }
  return {
    clock,
    world,
    chance,
    server,
    wallets,
    gamma: `http://127.0.0.1:${ports.gamma}`,
    clob: `http://127.0.0.1:${ports.clob}`,
    data: `http://127.0.0.1:${ports.data}`,
    market: () => connect(ports.clob, '/ws/market'),
    rtds: (ws) => connect(ports.rtds, '/', ws),
    async stop() {
      for (const reader of open) reader.close()
      wallets.stop()
      await server.stop()
    },
  }
}
