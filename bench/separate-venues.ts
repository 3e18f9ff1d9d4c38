// The simulated venues in a separate process, which keeps running when a service that uses them restarts.

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemClock } from '../engine/clock.ts'
import type { Simulator } from '../engine/venues/simulator/simulator.ts'
import { spawnSimulator } from '../engine/venues/simulator/spawn.ts'
import { venueSettings } from '../test/support/rigs/full-service.ts'
import { openDelayProxy } from './freshness/delay-proxy.ts'

export type SeparateVenues = Awaited<ReturnType<typeof startVenues>>

/** Starts both venues without faults. All their addresses have a network delay of `delayMs` in each direction. */
export async function startVenues(options: {
  readonly folder: string
  readonly marketsPerVenue: number
  /** Sum of both venues. */
  readonly messagesPerSecond: number
  readonly delayMs: number
}) {
  const { folder, delayMs, ...size } = options
  const simulator = await spawnSimulator({
    ...size,
    ...{ seed: 1, v2Share: 0.5, gapsPerMinute: 0, faults: [], activityEndsS: null },
    ...{ host: '127.0.0.1', logLevel: 'silent', worldFolder: null, clock: systemClock },
  })
  const keyFile = join(folder, 'kalshi.pem')
  writeFileSync(keyFile, simulator.kalshiPrivateKeyPem)
  const { urls, stops } = await delayed(simulator.urls, delayMs)
  return {
    urls,
    keyId: simulator.kalshiKeyId,
    privateKeyPem: simulator.kalshiPrivateKeyPem,
    env: {
      VENUES: 'live',
      ...venueSettings(urls),
      KALSHI_KEY_ID: simulator.kalshiKeyId,
      KALSHI_PRIVATE_KEY_FILE: keyFile,
    },
    async stop(): Promise<void> {
      for (const stop of stops) stop()
      await simulator.stop()
    },
  }
}

type Urls = Simulator['urls']
const NAMES = ['gamma', 'clob', 'data', 'marketWs', 'rtdsWs', 'kalshiRest', 'kalshiWs'] as const

async function delayed(
  urls: Urls,
  delayMs: number,
): Promise<{ urls: Urls; stops: (() => void)[] }> {
  const ports = new Map<string, number>()
  const stops: (() => void)[] = []
  if (delayMs === 0) return { urls, stops }
  const moved = { ...urls }
  for (const name of NAMES) {
    const { port } = new URL(urls[name])
    if (!ports.has(port)) {
      const proxy = await openDelayProxy(Number(port), delayMs)
      ports.set(port, proxy.port)
      stops.push(() => proxy.stop())
    }
    moved[name] = urls[name].replace(`:${port}`, `:${ports.get(port)}`)
  }
  return { urls: moved, stops }
}
