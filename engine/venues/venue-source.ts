// Where the venues are, by the configuration: the real hosts, or the simulator brought up for it,
// each address replaced where the environment names another. Used by the process and by the recorder.

import { readFileSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { type Config, LIVE_URLS } from '../config.ts'
import { spawnSimulator } from './simulator/spawn.ts'
import type { VenueAddresses } from './venues.ts'

/** The venues' addresses, and how to end what stands behind them. */
interface VenueSource {
  readonly addresses: VenueAddresses
  readonly stop: () => Promise<void>
}

/**
 * Brings up the simulator when the configuration says so; `onLost` is called when it ends unasked.
 * Rejects when it does not come up. Replays have no addresses: the caller handles them before.
 */
export async function openSource(
  config: Config,
  parts: {
    clock: Clock
    onLost: (reason: string) => void
    /** Where the simulator keeps its world; null: nowhere. */
    worldFolder: string | null
  },
): Promise<VenueSource> {
  if (config.venues.kind === 'live') {
    const kalshi = { ...LIVE_URLS.kalshi, keyId: null, privateKeyPem: null }
    const addresses = override(config, { polymarket: LIVE_URLS.polymarket, kalshi })
    return { addresses, stop: async () => undefined }
  }
  const { sim, logLevel } = config
  const simulator = await spawnSimulator({
    seed: sim.seed,
    marketsPerVenue: sim.marketsPerVenue,
    v2Share: sim.v2Share,
    messagesPerSecond: sim.messagesPerSecond,
    gapsPerMinute: sim.gapsPerMinute,
    faults: sim.faults,
    activityEndsS: sim.activityEndsS,
    logLevel,
    ...parts,
  })
  const { urls } = simulator
  const kalshi = {
    restUrl: urls.kalshiRest,
    wsUrl: urls.kalshiWs,
    keyId: simulator.kalshiKeyId,
    privateKeyPem: simulator.kalshiPrivateKeyPem,
  }
  const addresses = override(config, { polymarket: urls, kalshi })
  return { addresses, stop: () => simulator.stop() }
}

function override(config: Config, defaults: VenueAddresses): VenueAddresses {
  const { polymarket, kalshi } = config
  return {
    polymarket: {
      gamma: polymarket.gamma ?? defaults.polymarket.gamma,
      clob: polymarket.clob ?? defaults.polymarket.clob,
      data: polymarket.data ?? defaults.polymarket.data,
      marketWs: polymarket.marketWs ?? defaults.polymarket.marketWs,
      rtdsWs: polymarket.rtdsWs ?? defaults.polymarket.rtdsWs,
    },
    kalshi: {
      restUrl: kalshi.restUrl ?? defaults.kalshi.restUrl,
      wsUrl: kalshi.wsUrl ?? defaults.kalshi.wsUrl,
      keyId: kalshi.keyId ?? defaults.kalshi.keyId,
      privateKeyPem:
        kalshi.privateKeyFile === null
          ? defaults.kalshi.privateKeyPem
          : readFileSync(kalshi.privateKeyFile, 'utf8'),
    },
  }
}
