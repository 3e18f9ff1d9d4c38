import { readFileSync } from 'node:fs'
import type { Clock } from '../clock.ts'
import { type Config, LIVE_URLS } from '../config.ts'
import { spawnSimulator } from './simulator/spawn.ts'
import type { VenueAddresses } from './venues.ts'

interface VenueSource {
  readonly addresses: VenueAddresses
  readonly stop: () => Promise<void>
}

/**
 * Starts the simulator if it is configured. Rejects if it does not start. `onLost` is called if the simulator ends by
 * itself.
 */
export async function openSource(
  config: Config,
  parts: {
    clock: Clock
    onLost: (reason: string) => void
    /** Folder for the simulator's state. Null: the state is not stored. */
    worldFolder: string | null
  },
): Promise<VenueSource> {
  if (config.venues.kind === 'live') {
    const kalshi = { ...LIVE_URLS.kalshi, keyId: null, privateKeyPem: null }
    const addresses = override(config, { polymarket: LIVE_URLS.polymarket, kalshi })
    return { addresses, stop: async () => undefined }
  }
  const { sim, logLevel } = config
  const { port: _port, ...world } = sim
  const simulator = await spawnSimulator({ ...world, host: '127.0.0.1', logLevel, ...parts })
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
