// The complete service as `npm start` runs it, for benches: the engine process, the simulated venues as its child
// process, real sockets and a temporary folder.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { systemClock } from '../engine/clock.ts'
import type { VenueKey } from '../engine/ids.ts'
import { startProcess, type TestProcess } from '../test/support/rigs/processes.ts'
import { ALLOCATOR, V8_FLAGS } from './child.ts'
import { check } from './harness.ts'

interface ServiceOptions {
  readonly dataDir: string
  readonly marketsPerVenue: number
  readonly messagesPerSecond: number
  /** The program to run. Default: the one of `npm start`. */
  readonly entry?: 'engine/app/start.mjs' | 'engine/app/main.ts'
  readonly env?: Readonly<Record<string, string>>
}

interface MarketCounts {
  readonly listed: number
  readonly open: number
}

type Levels = readonly (readonly [number, number])[]
interface TruthBook {
  readonly bids: Levels
  readonly asks: Levels
}

const START_MS_MAX = 600_000
const POLL_MS = 50
const RETRIES_MAX = 5
const RETRY_MS = 1_000
const EQUAL_WITHIN_MS = 20_000
const TICKS_PER_SECOND = 100

/** Times are epoch milliseconds of this machine. */
export class LiveService {
  readonly #process: TestProcess
  readonly #gamma: string
  readonly api: string
  readonly key: string
  readonly times: {
    readonly startedAtMs: number
    readonly venuesUpAtMs: number
    readonly servingAtMs: number
  }

  private constructor(
    process: TestProcess,
    gamma: string,
    api: string,
    key: string,
    times: LiveService['times'],
  ) {
    this.#process = process
    this.#gamma = gamma
    this.api = api
    this.key = key
    this.times = times
  }

  /** Resolves when the banner is printed. Rejects if the engine exits. */
  static async start(options: ServiceOptions): Promise<LiveService> {
    const startedAtMs = systemClock.nowMs()
    const settings = {
      ...ALLOCATOR,
      VENUES: 'sim',
      PORT: '0',
      DATA_DIR: options.dataDir,
      SIM_MARKETS: String(options.marketsPerVenue),
      SIM_RATE: String(options.messagesPerSecond),
      LOG_LEVEL: 'info',
      ...options.env,
    }
    const engine = startProcess(options.entry ?? 'engine/app/start.mjs', settings, [], V8_FLAGS)
    try {
      const [, api = ''] = await engine.line(/listens at (http:\S+)/)
      const servingAtMs = systemClock.nowMs()
      const up = /"time":"([^"]+)".*"gamma":"([^"]+)"/.exec(engine.stderr())
      check(up !== null, 'the log states the address of the simulated venues')
      const [, upTime = '', gamma = ''] = up ?? []
      const key = readFileSync(join(options.dataDir, 'local-key'), 'utf8').trim()
      const times = { startedAtMs, venuesUpAtMs: Date.parse(upTime), servingAtMs }
      return new LiveService(engine, gamma, api, key, times)
    } catch (error) {
      await engine.end('SIGKILL')
      throw error
    }
  }

  /**
   * Requests a path of the REST API. Retries five times while the service is overloaded (503). Throws if the status is
   * not 200.
   */
  async answer(path: string): Promise<{ readonly body: string; readonly headers: Headers }> {
    for (let attempt = 0; ; attempt += 1) {
      const response = await fetch(`${this.api}${path}`, { headers: { 'X-API-Key': this.key } })
      const body = await response.text()
      if (response.status === 200) return { body, headers: response.headers }
      if (response.status !== 503 || attempt === RETRIES_MAX) {
        throw new Error(`${path.slice(0, 200)} answered ${response.status}: ${body.slice(0, 200)}`)
      }
      await pause(RETRY_MS)
    }
  }

  async read<Body>(path: string): Promise<Body> {
    return JSON.parse((await this.answer(path)).body)
  }

  async #world<Body>(query: string): Promise<Body> {
    const response = await fetch(`${this.#gamma}/sim/state${query}`)
    if (!response.ok) throw new Error(`the simulator answered ${query} with ${response.status}`)
    return JSON.parse(await response.text())
  }

  async metrics(): Promise<string> {
    return (await fetch(`${this.api}/metrics`)).text()
  }

  async marketCounts(): Promise<MarketCounts> {
    interface Venue {
      readonly markets: number
      readonly statuses: { readonly open?: number }
    }
    const { venues } = await this.#world<{ venues: Record<VenueKey, Venue> }>('')
    const open = (venues.a.statuses.open ?? 0) + (venues.b.statuses.open ?? 0)
    return { listed: venues.a.markets + venues.b.markets, open }
  }

  /** Resolves when both catalogues are complete and every open book is live. */
  async ready(): Promise<void> {
    await this.catalogsLoaded()
    await this.booksLive(0)
  }

  /** Time at which both catalogues were complete, at the earliest the first poll. */
  async catalogsLoaded(): Promise<number> {
    return this.until('both catalogues', async () => {
      const { cache } = await this.read<{ cache: boolean }>('/health')
      return cache
    })
  }

  /** Time at which at most this many books were stale. */
  async booksLive(staleMax: number): Promise<number> {
    return this.until('live books', async () => {
      const stale = [...(await this.metrics()).matchAll(/^books_stale_[ab] (\d+)$/gm)]
      check(stale.length === 2, '/metrics shows the stale books of both venues')
      return stale.reduce((sum, [, count]) => sum + Number(count), 0) <= staleMax
    })
  }

  async loopDelayText(): Promise<string> {
    const text = await this.metrics()
    const of = (name: string) =>
      Number(new RegExp(`^loop_late_${name}_ms (\\S+)$`, 'm').exec(text)?.[1]).toFixed(1)
    return `late by ${of('p50')} ms (p50), ${of('p99')} ms (p99), ${of('max')} ms at most`
  }

  /** Polls until a condition holds. Returns that time. Rejects after ten minutes. */
  async until(what: string, isSo: () => Promise<boolean>): Promise<number> {
    const endsAtMs = systemClock.monotonicMs() + START_MS_MAX
    while (!(await isSo())) {
      if (systemClock.monotonicMs() > endsAtMs)
        throw new Error(`no ${what} after ${START_MS_MAX} ms`)
      await pause(POLL_MS)
    }
    return systemClock.nowMs()
  }

  /**
   * Resident memory of the engine, its peak, and the part in file pages: programs and the mapped database, which the
   * system can reclaim. Excludes the simulator.
   */
  memoryBytes(): { readonly resident: number; readonly files: number; readonly peak: number } {
    const bytes = (name: string) => bytesOf(this.#process.pid, name)
    return { resident: bytes('VmRSS'), files: bytes('RssFile'), peak: bytes('VmHWM') }
  }

  processorSeconds(): number {
    return processorSecondsOf(this.#process.pid)
  }

  /** The engine with its child processes: their number, resident memory and processor time. */
  whole(): { readonly processes: number; readonly resident: number; readonly seconds: number } {
    const pids = [this.#process.pid, ...childrenOf(this.#process.pid)]
    const resident = pids.reduce((sum, pid) => sum + bytesOf(pid, 'VmRSS'), 0)
    const seconds = pids.reduce((sum, pid) => sum + processorSecondsOf(pid), 0)
    return { processes: pids.length, resident, seconds }
  }

  /** Time at which an open market on the first page had a price, at the earliest the first poll. */
  async firstPrice(): Promise<number> {
    return this.until('a price', async () => {
      const { markets } = await this.read<{ markets: readonly { id: string }[] }>(
        '/v1/markets?status=open&limit=10',
      )
      for (const { id } of markets) {
        const { price } = await this.read<{ price: number | null }>(
          `/v1/markets/${encodeURIComponent(id)}/price`,
        )
        if (price !== null) return true
      }
      return false
    })
  }

  async pauseWorld(): Promise<void> {
    await this.#world('?action=pause')
  }

  /** Every book that the simulated world has created, by unified id. */
  async truthBooks(): Promise<Map<string, TruthBook>> {
    const truth = new Map<string, TruthBook>()
    for (const venue of ['a', 'b']) {
      const query = `?view=books&venue=${venue}`
      const { books } = await this.#world<{ books: Record<string, TruthBook> }>(query)
      for (const [nativeId, book] of Object.entries(books)) {
        truth.set(`venue_${venue}_${nativeId}`, book)
      }
    }
    return truth
  }

  /** Pauses the world and selects about this many books. Returns their lines when the books over REST are equal. */
  async sampledBooks(count: number): Promise<readonly string[]> {
    await this.pauseWorld()
    const truth = [...(await this.truthBooks())]
    const step = Math.max(1, Math.floor(truth.length / count))
    return this.equalLines(new Map(truth.filter((_, index) => index % step === 0)))
  }

  /**
   * Returns the lines of the simulator's books when the books over REST are equal. Polls for 20 s, because messages may
   * still be in transit. Then throws with the first difference.
   */
  async equalLines(truth: ReadonlyMap<string, TruthBook>): Promise<readonly string[]> {
    const endsAtMs = systemClock.monotonicMs() + EQUAL_WITHIN_MS
    const lines: string[] = []
    for (const [id, book] of truth) {
      const line = truthLine(id, book)
      for (;;) {
        const found = await this.#book(id)
        if (found !== null && truthLine(id, found) === line) break
        const reported = found === null ? 'stale' : truthLine(id, found)
        check(systemClock.monotonicMs() < endsAtMs, `${reported}\nand truly\n${line}`)
        await pause(POLL_MS)
      }
      lines.push(line)
    }
    return lines
  }

  /** A market's book over REST, in micros. Null while the book is stale. */
  async #book(id: string): Promise<TruthBook | null> {
    interface Row {
      readonly price: number
      readonly size: number
    }
    const { bids, asks, stale } = await this.read<{
      bids: readonly Row[]
      asks: readonly Row[]
      stale: boolean
    }>(`/v1/markets/${encodeURIComponent(id)}/orderbook`)
    const micros = (rows: readonly Row[]): Levels =>
      rows.map(({ price, size }) => [Math.round(price * 1e6), Math.round(size * 1e6)])
    return stale ? null : { bids: micros(bids), asks: micros(asks) }
  }

  /** Sends SIGTERM and waits. Throws unless the engine exits with code 0. */
  async stop(): Promise<void> {
    const exitCode = await this.#process.end('SIGTERM')
    check(
      exitCode === 0,
      `the engine ended with ${exitCode}: ${this.#process.stderr().slice(-500)}`,
    )
  }

  async kill(): Promise<void> {
    await this.#process.end('SIGKILL')
  }
}

/** Processor time of all threads of a process, in seconds. */
export function processorSecondsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const [userTicks, systemTicks] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13)
  return (Number(userTicks) + Number(systemTicks)) / TICKS_PER_SECOND
}

function bytesOf(pid: number, name: string): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1] ?? Number.NaN) * 1_024
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync(`/proc/${pid}/task`).flatMap((thread) =>
    readFileSync(`/proc/${pid}/task/${thread}/children`, 'utf8')
      .split(' ')
      .filter((text) => text !== '')
      .map(Number),
  )
}

function truthLine(id: string, { bids, asks }: TruthBook): string {
  const side = (levels: Levels) => levels.map(([price, size]) => `${price}:${size}`).join(',')
  return `${id} ${side(bids)} | ${side(asks)}`
}
