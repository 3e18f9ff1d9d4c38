// Kills or stops the leader and prints when clients of two gateways receive messages of the standby. Skipped without a
// nats-server on the PATH.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { WebSocket } from 'ws'
import { GET_NATS, hasNats } from '../../engine/cluster/nats-server.ts'
import { connect, type StreamClient } from '../../http/client/connect.ts'
import { ClusterRig } from '../support/rigs/cluster.ts'
import { beforeAgain } from '../support/rigs/full-service.ts'

const isLong = process.env.TEST_LONG === '1'
const FAILOVERS = Number(process.env.FAILOVERS ?? (isLong ? 12 : 2))
const CLIENTS = 6
const WORLD = { messagesPerSecond: 200, marketsPerVenue: 40, faults: 'off' }
const skip = hasNats() ? false : GET_NATS

/** Records when the client first received a message of each engine run. */
class FailoverClient {
  readonly #client: StreamClient
  readonly firstMs = new Map<string, number>()

  constructor(url: string, apiKey: string) {
    this.#client = connect({
      ...{ url, apiKey, WebSocket },
      onEvent: (event) => {
        const isData = event.type === 'trade' || event.type === 'price' || event.type === 'update'
        if (!isData && (event.type !== 'snapshot' || event.stale)) return
        if (!this.firstMs.has(event.epoch)) this.firstMs.set(event.epoch, performance.now())
      },
    })
    for (const channel of ['trades', 'prices', 'orderbook'] as const) {
      this.#client.subscribe({ channel, all: true })
    }
  }

  close(): void {
    this.#client.close()
  }
}

/** Time of a log line in `performance.now()` milliseconds; null if the process did not log the line. */
function loggedMs(stderr: string, text: string): number | null {
  const line = stderr.split('\n').find((one) => one.includes(text))
  const time = line === undefined ? null : /"time":"([^"]+)"/.exec(line)?.[1]
  return time == null ? null : Date.parse(time) - performance.timeOrigin
}

const seconds = (ms: number | null): string => (ms === null ? '?' : (ms / 1_000).toFixed(1))

test('moves the clients of every gateway to the next leader after the leader is killed or stopped', {
  skip,
}, async (t) => {
  const rig = await ClusterRig.open({ engines: 2, gateways: 2, world: WORLD, logLevel: 'info' })
  const clients: FailoverClient[] = []
  try {
    const { key } = rig.locations
    for (let left = CLIENTS; left > 0; left -= 1) {
      for (const url of rig.urls) clients.push(new FailoverClient(url, key))
    }
    const received = async (runs: number) => {
      while (clients.some(({ firstMs }) => firstMs.size < runs)) await beforeAgain()
    }
    await received(1)
    const times: number[] = []
    let leads = 0
    for (let round = 0; round < FAILOVERS; round += 1) {
      const next = 1 - leads
      while (!rig.engine(next).stderr().includes('this engine follows')) await beforeAgain()
      const isKilled = round % 2 === 0
      const sinceMs = performance.now()
      if (isKilled) await rig.endEngine(leads, 'SIGKILL')
      else rig.stopEngine(leads)
      await received(round + 2)
      const stderr = rig.engine(next).stderr()
      const after = (text: string) => {
        const ms = loggedMs(stderr, text)
        return seconds(ms === null ? null : ms - sinceMs)
      }
      const firsts = clients.map(({ firstMs }) => Math.max(...firstMs.values()) - sinceMs)
      times.push(...firsts)
      t.diagnostic(
        `${isKilled ? 'kill -9' : 'SIGSTOP'}: lease ${after('this engine leads')} s, gateways answered ${after('the leader answers gateways')} s, new messages at clients ${seconds(Math.min(...firsts))} to ${seconds(Math.max(...firsts))} s`,
      )
      if (!isKilled) assert.equal(await rig.endEngine(leads, 'SIGCONT'), 1, 'it was deposed')
      rig.startEngine(leads)
      leads = next
    }
    times.sort((one, other) => one - other)
    const [median, worst] = [times[Math.floor(times.length / 2)] ?? 0, times.at(-1) ?? 0]
    t.diagnostic(
      `${FAILOVERS} failovers, ${clients.length} clients: first new message after ${seconds(median)} s in the median, ${seconds(worst)} s at most`,
    )
  } finally {
    for (const client of clients) client.close()
    await rig.close()
  }
})
