// Runs the engine in this process, so that its updates can be compared with what clients receive.

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createEngine, type Engine } from '../../../engine/app/engine.ts'
import { type Clock, systemClock } from '../../../engine/clock.ts'
import { loadConfig } from '../../../engine/config.ts'
import type { Update } from '../../../engine/events.ts'
import { openLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import type { Watcher } from '../../../engine/publisher.ts'
import { seededRandom } from '../../../engine/random.ts'
import { openVenues, type VenueAddresses } from '../../../engine/venues/venues.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import type { TrueTrade } from '../reference/client-ledger.ts'
import type { Rig } from './full-service.ts'

export const jwtSecret = 'x'.repeat(32)

class EngineObserver implements Watcher {
  readonly name = 'witness'
  readonly trades: TrueTrade[] = []
  readonly counts = { book: 0, bookReplaced: 0, price: 0, trade: 0, gap: 0, other: 0 }

  onUpdate(update: Update): void {
    const { kind } = update
    if (kind === 'book' || kind === 'bookReplaced' || kind === 'price' || kind === 'gap') {
      this.counts[kind] += 1
    } else if (update.kind === 'trade') {
      this.counts.trade += 1
      const { market, offset, seq, trade } = update
      this.trades.push({
        market: market.id.toLowerCase(),
        id: trade.nativeId.toLowerCase(),
        offset,
        seq,
        atMs: trade.timeMs,
      })
    } else this.counts.other += 1
  }
}

export interface WatchedEngine {
  readonly engine: Engine
  readonly witness: EngineObserver
  readonly apiKey: string
  readonly metrics: Metrics
}

interface WatchedAddress {
  readonly dataDir: string
  readonly addresses: VenueAddresses
  readonly clock: Clock
}

/** The engine's local account has no limits. `prepare` can fill the storage before the actors read it. */
export async function openWatchedEngine(
  { dataDir, addresses, clock }: WatchedAddress,
  prepare: (storage: Storage) => Promise<void> = async () => undefined,
): Promise<WatchedEngine> {
  const config = loadConfig({
    ...{ VENUES: 'live', PORT: '0', DATA_DIR: dataDir, LOG_LEVEL: 'warn' },
  })
  const [metrics, log] = [new Metrics(), openLog(config.logLevel)]
  const storage = await openLmdbStorage({ dataDir, clock, log, metrics })
  await prepare(storage)
  const engine = createEngine(
    { ...config, jwtSecret, secretsKey: jwtSecret },
    {
      ...{ clock, log, metrics, storage },
      random: seededRandom('watched engine'),
      venues: (parts) => openVenues(parts, addresses),
      epoch: Math.random().toString(36).slice(2, 10),
      version: '0',
    },
  )
  const witness = new EngineObserver()
  engine.publisher.watch(witness)
  const apiKey = await engine.accounts.openLocalAccount(null)
  await engine.start()
  return { engine, witness, apiKey, metrics }
}

/** Runs in real time with the venues of a rig. */
export function startWatchedEngine(
  rig: Rig,
  prepare?: (storage: Storage) => Promise<void>,
): Promise<WatchedEngine> {
  const first = Number(new URL(rig.gamma).port)
  const at = (step: number) => `127.0.0.1:${first + step}`
  const polymarket = {
    gamma: rig.gamma,
    clob: `http://${at(1)}`,
    data: `http://${at(2)}`,
    marketWs: `ws://${at(1)}/ws/market`,
    rtdsWs: `ws://${at(3)}`,
  }
  const kalshi = {
    restUrl: `http://${at(10)}/trade-api/v2`,
    wsUrl: `ws://${at(10)}/trade-api/ws/v2`,
    keyId: 'sim',
    privateKeyPem: readFileSync(join(dirname(rig.dataDir), 'sim-kalshi.pem'), 'utf8'),
  }
  const addresses = { polymarket, kalshi }
  return openWatchedEngine({ dataDir: rig.dataDir, addresses, clock: systemClock }, prepare)
}
