// Real processes as `npm start` runs them; the receivers are in this process, each with its own origin. A whale closes
// 150 ms after its first fill arrived: the start is the stream's `received_ms` of that fill plus 150 ms, on the same
// machine's clock. If the fill that makes it a whale arrives more than a second later, the start is the stream's
// message, and the case is counted. A delivery's cost is the engine's processor time beyond that of the same load
// without webhooks. A webhook has at most four concurrent attempts. If events come faster, they wait in the outbox and
// the rate is the maximum of four attempts on this machine.
// Precision: timestamps are whole milliseconds; receivers and venues share the two cores.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
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

const SETTLED_MS_MAX = 20_000
/** Identical fills of one transaction are distinguished only by a page of trades, seconds after the first was known. */
const LATE_MS = 1_000
const POLL_MS = 100
/** Initial time that is not measured: compilation and new subscriptions. */
const WARM_UP_MS = 2_000

export const bench: Bench = {
  name: 'webhooks',
  question:
    'How long from a whale’s close to the first byte of its POST, and what does a delivery cost?',
  excludes: 'networks beyond loopback, TLS, the receivers’ own work',
  run: (setting) => inFolder((folder) => measure(folder, setting)),
}

async function measure(dataDir: string, setting: BenchSetting) {
  const { isSmall, say: logLine } = setting
  const messagesPerSecond = isSmall ? 200 : 5_000
  const service = await LiveService.start({
    ...{ dataDir, messagesPerSecond, marketsPerVenue: isSmall ? 20 : 200 },
    env: { WEBHOOK_ALLOW_HTTP: 'on', WEBHOOK_ALLOW_PRIVATE: 'on' },
  })
  const load = new WebhookLoad(service, isSmall ? 500 : 7_000)
  try {
    await service.ready()
    if (!isSmall) await pause(WARM_UP_MS)
    const bareShare = await load.processorShare()
    const rows: Row[] = [...(await load.whales(`${messagesPerSecond} venue messages/s`))]
    for (const hookCount of isSmall ? [2] : [1, 5]) {
      const { text, row } = await load.deliveries(hookCount, bareShare)
      logLine(text)
      rows.push(row)
    }
    await service.pauseWorld()
    const lines = await load.settled()
    await service.stop()
    const checked = `what ${lines.length} receivers accepted is what the service says it delivered, and its counts add up`
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

/** Webhooks of a running service and their receivers. */
class WebhookLoad {
  readonly #service: LiveService
  readonly #measureMs: number
  readonly #receivers = new Map<string, Receiver>()

  constructor(service: LiveService, measureMs: number) {
    this.#service = service
    this.#measureMs = measureMs
  }

  /** The engine's processor time per second during a measurement. */
  async processorShare(): Promise<number> {
    const fromSeconds = this.#service.processorSeconds()
    const startedMs = systemClock.monotonicMs()
    await pause(this.#measureMs)
    const elapsedSeconds = (systemClock.monotonicMs() - startedMs) / 1_000
    return (this.#service.processorSeconds() - fromSeconds) / elapsedSeconds
  }

  /** One webhook for whales from 5,000 dollars, like the stream's. */
  async whales(load: string): Promise<readonly Row[]> {
    const existing = await this.#followWhales()
    const receiver = await this.#hook({ event_types: ['whale.alert'] })
    await pause(2 * this.#measureMs)
    await this.#change(receiver, { active: false })
    const times = newTimes()
    let lateCount = 0
    for (const { atMs, body } of receiver.posts) {
      const { data }: { data: WhaleData } = JSON.parse(body)
      const whale = existing.get(`${data.market_id} ${data.native_trade_id}`)
      if (whale === undefined) continue
      const isLate = whale.toldMs - whale.firstFillMs > LATE_MS
      if (isLate) lateCount += 1
      record(times, atMs - (isLate ? whale.toldMs : whale.firstFillMs + whaleCloseMs))
    }
    if (times.totalCount === 0) return [figureRow('whales', 'none in so short a time')]
    return [
      timesRow(`${load}: whale closed → first byte of its POST`, times),
      figureRow(
        `${load}: whales with a fill that came more than ${LATE_MS} ms after the first`,
        `${lateCount} of ${times.totalCount}; timed from when the stream tells them`,
      ),
    ]
  }

  /** This many webhooks, each for every trade. */
  async deliveries(hookCount: number, bareShare: number): Promise<{ text: string; row: Row }> {
    const hooks: Receiver[] = []
    for (let count = 0; count < hookCount; count += 1) {
      hooks.push(await this.#hook({ event_types: ['trade.created'] }))
    }
    const sum = () => hooks.reduce((total, { posts }) => total + posts.length, 0)
    const fromSeconds = this.#service.processorSeconds()
    const fromCount = sum()
    const startedMs = systemClock.monotonicMs()
    await pause(this.#measureMs)
    const elapsedSeconds = (systemClock.monotonicMs() - startedMs) / 1_000
    const busySeconds = this.#service.processorSeconds() - fromSeconds
    const count = sum() - fromCount
    for (const hook of hooks) await this.#change(hook, { active: false })
    const rate = Math.round(count / elapsedSeconds)
    const micros = Math.round(
      (1e6 * (busySeconds - bareShare * elapsedSeconds)) / Math.max(count, 1),
    )
    const text = `${rate} deliveries/s, ${micros} µs of the engine's processor each, engine ${Math.round((100 * busySeconds) / elapsedSeconds)} % of a core (${Math.round(100 * bareShare)} % without)`
    return {
      text: `${hookCount} webhooks: ${text}`,
      row: figureRow(`${hookCount} webhooks on every trade`, text),
    }
  }

  /**
   * A line for each receiver, once the service reports its accepted events as delivered. Pending deliveries of a
   * disabled webhook are counted as such.
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
    this.#receivers.set(id, receiver)
    return receiver
  }

  async #change(receiver: Receiver, change: { readonly active: boolean }): Promise<void> {
    const [id] = [...this.#receivers].find(([, one]) => one === receiver) ?? ['']
    await this.#send('PATCH', `/${id}`, change)
  }

  async #send(method: string, path: string, body: unknown): Promise<HookRecord> {
    const { api, key } = this.#service
    const headers = { 'x-api-key': key }
    const init = { method, headers, body: JSON.stringify(body) }
    const response = await fetch(`${api}/v1/webhooks${path}`, init)
    check(response.ok, `${method} a webhook: ${response.status}`)
    return JSON.parse(await response.text())
  }

  /** Each whale by market and trade, as the stream sends it. */
  async #followWhales(): Promise<ReadonlyMap<string, ListedWhale>> {
    const { api, key } = this.#service
    const existing = new Map<string, ListedWhale>()
    const socket = new WebSocket(`${api.replace('http', 'ws')}/v1/ws?api_key=${key}`)
    await once(socket, 'open')
    socket.on('error', () => undefined)
    socket.send(
      JSON.stringify({ action: 'subscribe', id: 1, channel: 'whales', market_ids: ['*'] }),
    )
    await new Promise<void>((resolve) => {
      socket.on('message', (bytes) => {
        const message: WhaleMessage = JSON.parse(String(bytes))
        if (message.type === 'synced') resolve()
        if (message.type !== 'whale' || message.data === undefined) return
        const { market_id: market, native_trade_id: trade } = message.data
        const times = { firstFillMs: message.received_ms ?? 0, toldMs: systemClock.nowMs() }
        existing.set(`${market} ${trade}`, times)
      })
    })
    return existing
  }
}

interface ListedWhale {
  /** When its first fill was received. */
  readonly firstFillMs: number
  /** When the stream's message arrived here. */
  readonly toldMs: number
}

interface WhaleData {
  readonly market_id: string
  readonly native_trade_id: string
}
interface WhaleMessage {
  readonly type: string
  readonly received_ms?: number
  readonly data?: WhaleData
}

interface Post {
  readonly id: string
  readonly body: string
  /** When its headers had arrived. */
  readonly atMs: number
}

/** A receiver: records when each POST began, stores it, responds with 204. */
class Receiver {
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

  /** Resolves with its URL. */
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
