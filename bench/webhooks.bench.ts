// Real processes as `npm start` runs them. The receivers are in this process, each with its own origin. A whale closes
// 150 ms after its first fill arrived, so a delivery's time starts 150 ms after `received_ms` of that fill. If the fill
// that completes the whale arrives more than a second later, the time starts with the stream's message. The cost of a
// delivery is the engine's additional processor time over the same load without webhooks. A webhook has at most four
// concurrent attempts. Timestamps are whole milliseconds. Receivers and venues share the two cores.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../engine/clock.ts'
import { whaleCloseMs } from '../engine/limits.ts'
import {
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  inFolder,
  newTimes,
  type Row,
  record,
  timesRow,
} from './harness.ts'
import { LiveService } from './live-service.ts'
import type { StreamMessage } from './received.ts'
import { TargetStream } from './target/stream.ts'

const SETTLED_MS_MAX = 20_000
/**
 * A page of trades is needed to distinguish identical fills of one transaction. It arrives seconds after the first
 * fill.
 */
const LATE_MS = 1_000
const POLL_MS = 100
/** Time at the start that is not measured, for compilation and new subscriptions. */
const WARM_UP_MS = 2_000

export const bench: Bench = {
  name: 'webhooks',
  question:
    'How long does it take from a whale’s close to the first byte of its POST, and what does a delivery cost?',
  excludes: 'networks beyond loopback, TLS, the receivers’ own work',
  run: (setting) => inFolder((folder) => measure(folder, setting)),
}

async function measure(dataDir: string, { isSmall }: BenchSetting) {
  const messagesPerSecond = isSmall ? 200 : 5_000
  const service = await LiveService.start({
    ...{ dataDir, messagesPerSecond, marketsPerVenue: isSmall ? 20 : 200 },
    env: { WEBHOOK_ALLOW_HTTP: 'on', WEBHOOK_ALLOW_PRIVATE: 'on' },
  })
  const load = new WebhookLoad(service, isSmall ? 500 : 7_000)
  try {
    await service.ready()
    if (!isSmall) await pause(WARM_UP_MS)
    const { share: bareShare } = await load.used()
    const rows: Row[] = [...(await load.whales(`${messagesPerSecond} venue messages/s`))]
    for (const hookCount of isSmall ? [2] : [1, 5]) {
      rows.push(await load.deliveries(hookCount, bareShare))
    }
    await service.pauseWorld()
    const lines = await load.settled()
    await service.stop()
    const checked = `deliveries accepted by ${lines.length} receivers equal those that the service reports, and its counts add up`
    return { rows, state: { hash: hashOf(lines), checked, isRepeatable: false } }
  } finally {
    load.close()
    await service.kill()
  }
}

interface HookRecord {
  readonly id: string
  readonly counts: {
    readonly created: number
    readonly delivered: number
    readonly pending: number
    readonly exhausted: number
    readonly dropped: number
  }
}

class WebhookLoad {
  readonly #service: LiveService
  readonly #measureMs: number
  readonly #receivers = new Map<string, Receiver>()

  constructor(service: LiveService, measureMs: number) {
    this.#service = service
    this.#measureMs = measureMs
  }

  /** Duration of a measurement, and the engine's processor time per second during it. */
  async used(): Promise<{ readonly seconds: number; readonly share: number }> {
    const fromSeconds = this.#service.processorSeconds()
    const startedMs = systemClock.monotonicMs()
    await pause(this.#measureMs)
    const seconds = (systemClock.monotonicMs() - startedMs) / 1_000
    return { seconds, share: (this.#service.processorSeconds() - fromSeconds) / seconds }
  }

  /** Creates one webhook for whales from 5,000 dollars, the limit that the stream also has. */
  async whales(load: string): Promise<readonly Row[]> {
    const listed = await this.#followWhales()
    const receiver = await this.#hook({ event_types: ['whale.alert'] })
    await pause(2 * this.#measureMs)
    await this.#disable(receiver)
    const times = newTimes()
    let lateCount = 0
    for (const { atMs, body } of receiver.posts) {
      const { data }: StreamMessage = JSON.parse(body)
      const whale = listed.get(`${data?.market_id} ${data?.native_trade_id}`)
      if (whale === undefined) continue
      const isLate = whale.reportedMs - whale.firstFillMs > LATE_MS
      if (isLate) lateCount += 1
      record(times, atMs - (isLate ? whale.reportedMs : whale.firstFillMs + whaleCloseMs))
    }
    if (times.totalCount === 0) return [figureRow('whales', 'none in so short a time')]
    return [
      timesRow(`${load}: whale closed → first byte of its POST`, times),
      figureRow(
        `${load}: whales with a fill received more than ${LATE_MS} ms after the first`,
        `${lateCount} of ${times.totalCount}; timed from the stream’s message`,
      ),
    ]
  }

  async deliveries(hookCount: number, bareShare: number): Promise<Row> {
    const hooks: Receiver[] = []
    for (let count = 0; count < hookCount; count += 1) {
      hooks.push(await this.#hook({ event_types: ['trade.created'] }))
    }
    const sum = () => hooks.reduce((total, { posts }) => total + posts.length, 0)
    const fromCount = sum()
    const { seconds, share } = await this.used()
    const count = sum() - fromCount
    for (const hook of hooks) await this.#disable(hook)
    const micros = Math.round((1e6 * (share - bareShare) * seconds) / Math.max(count, 1))
    return figureRow(
      `${hookCount} webhooks on every trade`,
      `${Math.round(count / seconds)} deliveries/s, ${micros} µs of the engine's processor each, engine ${Math.round(100 * share)} % of a core (${Math.round(100 * bareShare)} % without)`,
    )
  }

  /**
   * A line for each receiver. Waits until the service reports all accepted events as delivered. Events of a disabled
   * webhook may stay pending.
   */
  async settled(): Promise<readonly string[]> {
    const endsAtMs = systemClock.monotonicMs() + SETTLED_MS_MAX
    for (;;) {
      const { webhooks } = await this.#service.read<{ webhooks: HookRecord[] }>('/v1/webhooks')
      const lines = webhooks.map(({ id, counts }) => {
        const { created, delivered, pending, exhausted, dropped } = counts
        const accepted = new Set(this.#receivers.get(id)?.posts.map((post) => post.id)).size
        const isComplete = created === delivered + pending + exhausted + dropped
        const line = `${id} ${JSON.stringify(counts)} and accepted ${accepted}`
        return { isRight: isComplete && delivered === accepted, line }
      })
      const wrong = lines.find(({ isRight }) => !isRight)
      if (wrong === undefined) return lines.map(({ line }) => line)
      check(systemClock.monotonicMs() < endsAtMs, wrong.line)
      await pause(POLL_MS)
    }
  }

  close(): void {
    for (const receiver of this.#receivers.values()) receiver.close()
  }

  async #hook(body: Readonly<Record<string, unknown>>): Promise<Receiver> {
    const receiver = new Receiver()
    const { id } = await this.#send('POST', '', { ...body, url: await receiver.open() })
    receiver.webhookId = id
    this.#receivers.set(id, receiver)
    return receiver
  }

  async #disable({ webhookId }: Receiver): Promise<void> {
    await this.#send('PATCH', `/${webhookId}`, { active: false })
  }

  async #send(method: string, path: string, body: unknown): Promise<HookRecord> {
    const { api, key } = this.#service
    const headers = { 'x-api-key': key }
    const init = { method, headers, body: JSON.stringify(body) }
    const response = await fetch(`${api}/v1/webhooks${path}`, init)
    check(response.ok, `${method} a webhook: ${response.status}`)
    return JSON.parse(await response.text())
  }

  async #followWhales(): Promise<ReadonlyMap<string, ListedWhale>> {
    const { api: origin, key: apiKey } = this.#service
    const listed = new Map<string, ListedWhale>()
    const stream = await TargetStream.open({ origin, apiKey }, (message, reportedMs) => {
      const { type, data, received_ms: firstFillMs = 0 } = message
      if (type !== 'whale' || data === undefined) return
      listed.set(`${data.market_id} ${data.native_trade_id}`, { firstFillMs, reportedMs })
    })
    await stream.subscribe({ channel: 'whales', market_ids: ['*'] })
    return listed
  }
}

interface ListedWhale {
  /** Time at which the service received the whale's first fill. */
  readonly firstFillMs: number
  /** Time at which the stream's message arrived in this process. */
  readonly reportedMs: number
}

interface Post {
  readonly id: string
  readonly body: string
  /** Time at which the headers of the request had arrived. */
  readonly atMs: number
}

class Receiver {
  webhookId = ''
  readonly posts: Post[] = []
  readonly #server = createServer((request, response) => {
    const atMs = systemClock.nowMs()
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const id = String(request.headers['webhook-id'])
      this.posts.push({ id, body: Buffer.concat(chunks).toString(), atMs })
      response.writeHead(204).end()
    })
  })

  async open(): Promise<string> {
    this.#server.listen(0, '127.0.0.1')
    await once(this.#server, 'listening')
    const address = this.#server.address()
    return `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}/`
  }

  close(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }
}
