// Sends open-loop requests over keep-alive connections. Request n is due n / rate after the start and uses the next
// free connection. Its time ends with the last byte of the response, so the time includes delays of a stalled server
// and of this process.

import { connect, type Socket } from 'node:net'
import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../../engine/clock.ts'
import { newTimes, record } from '../latency-recorder.ts'

const ANSWER_MS_MAX = 10_000
const HEAD_END = Buffer.from('\r\n\r\n')

/** A request, and a text that its response must contain. */
export interface RequestedPath {
  readonly path: string
  readonly says: string
}

export interface Plan {
  readonly origin: string
  readonly apiKey: string
  readonly connections: number
  readonly perSecond: number
  readonly seconds: number
  readonly requests: readonly RequestedPath[]
}

/**
 * The time of every response in milliseconds, from the planned time of its request. Rejects unless each has status 200
 * and arrives within ten seconds.
 */
export async function timesOfPlan(plan: Plan): Promise<Histogram> {
  const { hostname, port } = new URL(plan.origin)
  const requested = plan.requests.map(({ path }) =>
    Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${plan.apiKey}\r\n\r\n`),
  )
  const times = newTimes()
  const count = Math.max(Math.round(plan.perSecond * plan.seconds), 1)
  let fault: Error | null = null
  const fail = (why: string) => {
    fault ??= new Error(why)
  }
  const free: Connection[] = []
  const opened = Array.from({ length: plan.connections }, () => {
    return new Connection(hostname, Number(port), {
      onAnswer: (connection, plannedMs) => {
        record(times, systemClock.monotonicMs() - plannedMs)
        free.push(connection)
      },
      onFault: fail,
    })
  })
  try {
    await Promise.all(opened.map((connection) => connection.opened))
    free.push(...opened)
    const startMs = systemClock.monotonicMs()
    const plannedMs = (request: number): number => startMs + (1_000 * request) / plan.perSecond
    const endMs = plannedMs(count) + ANSWER_MS_MAX
    // Waits one event-loop tick at a time, because a timer of 1 ms would take longer than a response.
    for (let sent = 0; times.totalCount < count; ) {
      if (fault !== null) throw fault
      const nowMs = systemClock.monotonicMs()
      if (nowMs > endMs) throw new Error(`${count - times.totalCount} responses did not arrive`)
      while (sent < count && plannedMs(sent) <= nowMs) {
        const connection = free.shift()
        if (connection === undefined) break
        connection.ask(requested[sent % requested.length] ?? HEAD_END, plannedMs(sent))
        sent += 1
      }
      await new Promise(setImmediate)
    }
    return times
  } finally {
    for (const connection of opened) connection.close()
  }
}

interface Listener {
  onAnswer(connection: Connection, plannedMs: number): void
  onFault(why: string): void
}

class Connection {
  readonly opened: Promise<void>
  readonly #socket: Socket
  readonly #listener: Listener
  #plannedMs = 0
  #rest = Buffer.alloc(0)
  #isClosed = false

  constructor(host: string, port: number, listener: Listener) {
    this.#listener = listener
    this.#socket = connect({ host, port, noDelay: true })
    this.opened = new Promise((resolve, reject) => {
      this.#socket.once('connect', resolve)
      this.#socket.once('error', reject)
    })
    this.#socket.on('error', (error) => listener.onFault(String(error)))
    this.#socket.on('close', () => this.#isClosed || listener.onFault('a connection was closed'))
    this.#socket.on('data', (bytes) => this.#take(bytes))
  }

  ask(request: Buffer, plannedMs: number): void {
    this.#plannedMs = plannedMs
    this.#socket.write(request)
  }

  #take(fresh: Buffer): void {
    const bytes = this.#rest.length === 0 ? fresh : Buffer.concat([this.#rest, fresh])
    const headEnd = bytes.indexOf(HEAD_END)
    const head = headEnd < 0 ? '' : bytes.toString('latin1', 0, headEnd)
    const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN)
    if (headEnd < 0 || bytes.length < headEnd + HEAD_END.length + length) {
      this.#rest = Buffer.from(bytes)
      return
    }
    this.#rest = Buffer.alloc(0)
    if (!head.startsWith('HTTP/1.1 200 ')) this.#listener.onFault(head.slice(0, 200))
    else if (Number.isNaN(length)) this.#listener.onFault('an answer without a length')
    else this.#listener.onAnswer(this, this.#plannedMs)
  }

  close(): void {
    this.#isClosed = true
    this.#socket.destroy()
  }
}
