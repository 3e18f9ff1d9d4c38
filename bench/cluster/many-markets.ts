// Starts four gateways as in production, with an engine that has many markets. Measures the time until they are ready,
// the time until all of them refuse a revoked key, and the accuracy of a shared quota.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { natsEnv, startNats } from '../../engine/cluster/nats-server.ts'
import { startProcess, type TestProcess } from '../../test/support/rigs/processes.ts'
import { Child, V8_FLAGS } from '../child.ts'
import {
  aimedRow,
  type BenchSetting,
  check,
  figureRow,
  newTimes,
  type Row,
  record,
  timesRow,
} from '../harness.ts'
import { median } from '../latency-recorder.ts'
import { processorSecondsOf } from '../live-service.ts'
import { SECRET } from '../quiet-engine.ts'
import { fillFolder } from '../scale/fill.ts'
import type { api as engineApi } from './engine.ts'

const AIMS = { readyMs: 5_000, deadMs: 1_000, quotaShare: 0.05 }
const AFTER_REVOCATION_MS = 50
const POLL_MS = 5
/** Pause after a refused request. Gateways redistribute quota shares within a tenth of a second. */
const REFUSED_MS = 20

type Engine = Child<typeof engineApi>

interface Size {
  readonly gatewayCount: number
  readonly markets: number
  readonly revocations: number
  readonly quota: number
}

export async function compareGateways(
  folder: string,
  { gatewayCount, markets, revocations, quota }: Size,
  { logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; checked: string }> {
  const dataDir = join(folder, 'engine')
  mkdirSync(dataDir)
  logLine(`${markets} markets: filling a folder`)
  await fillFolder(dataDir, { marketCount: markets, status: 'closed' })
  const nats = await startNats(join(folder, 'nats'), 0, systemClock)
  const engine: Engine = new Child('cluster/engine.ts')
  const gateways: TestProcess[] = []
  try {
    const opened = await engine.call('open', natsEnv('engine', nats), dataDir)
    check(opened.marketCount === markets, `${opened.marketCount} of ${markets} markets`)
    const ready = newTimes()
    const processorSeconds: number[] = []
    const urls: string[] = []
    for (let index = 0; index < gatewayCount; index += 1) {
      const startedMs = systemClock.monotonicMs()
      const gateway = startProcess(
        'engine/app/start.mjs',
        { ...natsEnv('gateway', nats), PORT: '0', JWT_SECRET: SECRET, LOG_LEVEL: 'warn' },
        [],
        V8_FLAGS,
      )
      gateways.push(gateway)
      const [, url = ''] = await gateway.line(/listens at (http:\S+)/)
      record(ready, systemClock.monotonicMs() - startedMs)
      processorSeconds.push(processorSecondsOf(gateway.pid))
      urls.push(url)
    }
    const [readyMs, seconds] = [ready.getValueAtPercentile(50) / 1e6, median(processorSeconds)]
    logLine(`${markets} markets: gateways ready after ${readyMs.toFixed(0)} ms`)
    const dead = await revoke(engine, urls, revocations)
    logLine('revocations done')
    const allowed = await press(engine, urls, quota)
    const name = `${markets} markets`
    const rows = [
      timesRow(`${name}: a gateway, from its process's start to listening`, ready),
      aimedRow(`${name}: a gateway ready, median`, readyMs, { atMost: AIMS.readyMs }, 'ms'),
      figureRow(
        `${name}: processor of that start; the checkpoint`,
        `${seconds.toFixed(2)} s; ${(opened.checkpointBytes / 2 ** 20).toFixed(1)} MiB`,
      ),
      timesRow(`a key revoked → refused by ${gatewayCount} gateways`, dead),
      aimedRow(
        `a key revoked → refused by ${gatewayCount} gateways, the slowest`,
        dead.maxValue / 1e6,
        { atMost: AIMS.deadMs },
        'ms',
      ),
      aimedRow(
        `a quota of ${quota} a minute over ${gatewayCount} gateways: accepted ${allowed}, relative difference`,
        Math.abs(allowed / quota - 1),
        { atMost: AIMS.quotaShare },
      ),
    ]
    return { rows, checked: `${revocations} keys refused by every gateway` }
  } finally {
    await Promise.all(gateways.map((gateway) => gateway.end('SIGKILL')))
    await engine.end()
    await nats.stop()
  }
}

async function revoke(engine: Engine, urls: readonly string[], count: number): Promise<Histogram> {
  const dead = newTimes()
  for (let index = 0; index < count; index += 1) {
    const key = await engine.call('account', 1_000_000)
    await Promise.all(urls.map((url) => untilStatus(url, key, 404)))
    const startedMs = systemClock.monotonicMs()
    const revoked = engine.call('revoke')
    await Promise.all(urls.map((url) => untilStatus(url, key, 401)))
    record(dead, systemClock.monotonicMs() - startedMs)
    await revoked
    await pause(AFTER_REVOCATION_MS)
  }
  return dead
}

/** Requests the price of an unknown market, which each gateway looks up in its own mirror. */
async function statusOf(url: string, key: string): Promise<number> {
  const headers = { 'X-API-Key': key }
  const response = await fetch(`${url}/v1/markets/venue_a_none/price`, { headers })
  await response.arrayBuffer()
  return response.status
}

async function untilStatus(url: string, key: string, status: number): Promise<void> {
  while ((await statusOf(url, key)) !== status) await pause(POLL_MS)
}

/**
 * Number of requests that all gateways together accept within a minute, while four clients send requests to each
 * without a pause.
 */
async function press(
  engine: Engine,
  urls: readonly string[],
  requestsPerMinute: number,
): Promise<number> {
  const key = await engine.call('account', requestsPerMinute)
  await Promise.all(urls.map((url) => untilStatus(url, key, 404)))
  let allowed = urls.length
  let refused = 0
  const ask = async (url: string): Promise<void> => {
    // If no request is accepted for this many rounds, all shares of the quota are used.
    for (let withoutResult = 0; withoutResult < 30; ) {
      const status = await statusOf(url, key)
      if (status === 404) [allowed, withoutResult] = [allowed + 1, 0]
      else if (status === 429) [refused, withoutResult] = [refused + 1, withoutResult + 1]
      else throw new Error(`a gateway answered ${status}`)
      if (status === 429) await pause(REFUSED_MS)
    }
  }
  await Promise.all(urls.flatMap((url) => Array.from({ length: 4 }, () => ask(url))))
  check(refused > 0, 'a quota refuses')
  return allowed
}
