// A cluster of processes with simulated venues. Each process can be killed and restarted at once.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../engine/clock.ts'
import { natsEnv, type RunningNats, startNats } from '../../../engine/cluster/nats-server.ts'
import { beforeAgain, Rig, read, type ServiceLocations } from './full-service.ts'
import { freePorts, startProcess, type TestProcess } from './processes.ts'

const SECRET = 'of a cluster under test, 32 bytes or more'

interface Book {
  readonly market_id: string
  readonly stale: boolean
  readonly seq: number
}

async function receivesFromEngine(url: string): Promise<boolean> {
  const { cluster } = await read<{ cluster: { is_heard: boolean } }>(`${url}/health`)
  return cluster.is_heard
}

export class ClusterRig {
  readonly venues = new Rig()
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinbook-cluster-'))
  #nats: RunningNats | null = null
  readonly #engines: TestProcess[] = []
  readonly #gateways: TestProcess[] = []
  readonly #logLevel: string
  #ports: readonly number[] = []
  /** Comma-separated ids of open markets, chosen at the first comparison of books. */
  #someMarkets = ''
  readonly #ended: TestProcess[] = []

  private constructor(logLevel: string) {
    this.#logLevel = logLevel
  }

  /** Resolves when every gateway listens. One engine leads, and the other `engines` are standbys. */
  static async open(set: {
    readonly engines: number
    readonly gateways: number
    readonly world: Parameters<Rig['startVenues']>[0]
    /** Default: errors only. */
    readonly logLevel?: 'info'
  }): Promise<ClusterRig> {
    const rig = new ClusterRig(process.env.CLUSTER_LOG ?? set.logLevel ?? 'error')
    await rig.venues.startVenues(set.world)
    await rig.startNats()
    for (let index = 0; index < set.engines; index += 1) {
      rig.startEngine(index)
      // The first engine becomes the leader.
      if (index === 0) await rig.#engines[0]?.line(/listens at/)
    }
    const first = await freePorts(set.gateways)
    rig.#ports = Array.from({ length: set.gateways }, (_, index) => first + index)
    for (const index of rig.#ports.keys()) rig.#startGateway(index)
    await rig.listening()
    return rig
  }

  get ports(): readonly number[] {
    return this.#ports
  }

  get urls(): readonly string[] {
    return this.#ports.map((port) => `http://127.0.0.1:${port}`)
  }

  /** Address of the first gateway, with the API key of the first engine's local account. */
  get locations(): ServiceLocations {
    const key = readFileSync(join(this.venues.dataDir, 'local-key'), 'utf8').trim()
    return { gamma: this.venues.gamma, api: this.urls[0] ?? '', key }
  }

  async listening(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.line(/listens at/)
  }

  #env(role: 'engine' | 'gateway'): Record<string, string> {
    return {
      ...(this.#nats === null ? {} : natsEnv(role, this.#nats)),
      ...{ JWT_SECRET: SECRET, SECRETS_KEY: SECRET },
      ...{ TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: this.#logLevel },
      ...{ WEBHOOK_ALLOW_HTTP: 'on', WEBHOOK_ALLOW_PRIVATE: 'on' },
    }
  }

  startEngine(index: number): void {
    const folder = index === 0 ? {} : { DATA_DIR: join(this.#folder, `engine${index}`) }
    this.#engines[index] = this.venues.spawnEngine({ ...this.#env('engine'), ...folder })
  }

  #startGateway(index: number): void {
    const env = { ...this.#env('gateway'), PORT: String(this.#ports[index]) }
    this.#gateways[index] = startProcess('engine/app/start.mjs', env)
  }

  async killEngine(index: number): Promise<void> {
    await this.endEngine(index, 'SIGKILL')
    this.startEngine(index)
  }

  endEngine(index: number, signal: NodeJS.Signals): Promise<number | null> {
    return this.#end(this.#engines[index], signal)
  }

  /** Suspends the process until SIGCONT. */
  stopEngine(index: number): void {
    process.kill(this.engine(index).pid, 'SIGSTOP')
  }

  engine(index: number): TestProcess {
    const engine = this.#engines[index]
    if (engine === undefined) throw new Error(`no engine ${index}`)
    return engine
  }

  async killGateway(index: number): Promise<void> {
    await this.#end(this.#gateways[index], 'SIGKILL')
    this.#startGateway(index)
  }

  /**
   * Restarts a gateway as in an upgrade, which notifies its clients. Resolves with the exit code when the new process
   * listens.
   */
  async restartGateway(index: number): Promise<number | null> {
    const code = await this.#end(this.#gateways[index], 'SIGTERM')
    this.#startGateway(index)
    await this.#gateways[index]?.line(/listens at/)
    return code
  }

  async #end(process: TestProcess | undefined, signal: NodeJS.Signals): Promise<number | null> {
    if (process === undefined) return null
    this.#ended.push(process)
    return process.end(signal)
  }

  async killNats(): Promise<void> {
    const child = this.#nats?.child
    if (child === undefined) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Reuses port and data after a kill. */
  async startNats(): Promise<void> {
    const port = this.#nats?.port ?? 0
    this.#nats = await startNats(join(this.#folder, 'nats'), port, systemClock)
  }

  /** Call it only while nats-server is stopped. */
  loseNatsData(): void {
    rmSync(join(this.#folder, 'nats', 'jetstream'), { recursive: true, force: true })
  }

  /** The books of each gateway, or null for a gateway that does not respond. */
  async booksNow(): Promise<readonly (readonly Book[] | null)[]> {
    const { key } = this.locations
    return Promise.all(
      this.urls.map((url) =>
        read<{ orderbooks: readonly Book[] }>(this.booksUrl(url), key)
          .then(({ orderbooks }) => orderbooks)
          .catch(() => null),
      ),
    )
  }

  async waitUntilLive(): Promise<void> {
    for (;;) {
      const isReceived = await Promise.all(this.urls.map(receivesFromEngine))
      const all = isReceived.includes(false) ? [] : await this.#books()
      if (all.length > 0 && all.every((books) => books.some(({ stale }) => !stale))) return
      await beforeAgain()
    }
  }

  async #books(): Promise<readonly (readonly Book[])[]> {
    const { api, key } = this.locations
    if (this.#someMarkets === '') {
      const path = `${api}/v1/markets?status=open&limit=20`
      const { markets } = await read<{ markets: readonly { id: string }[] }>(path, key)
      this.#someMarkets = markets.map(({ id }) => id).join(',')
    }
    return Promise.all(
      this.urls.map(async (url) => {
        const answer = await read<{ orderbooks: readonly Book[] }>(this.booksUrl(url), key)
        return answer.orderbooks
      }),
    )
  }

  /** Call it only after the cluster was healthy once. */
  booksUrl(url: string): string {
    return `${url}/v1/orderbooks?market_ids=${this.#someMarkets}`
  }

  /**
   * Stops nats-server for this long, at least until every gateway has detected the loss. Calls `onPoll` repeatedly
   * meanwhile. Resolves after full recovery with a text of durations.
   */
  async withoutNats(
    seconds: number,
    onPoll: () => Promise<void> = async () => {},
  ): Promise<string> {
    await this.killNats()
    const goneMs = performance.now()
    // The gateways are polled one after the other, because each has quota for few seconds without the engine.
    for (const url of this.urls) while (await receivesFromEngine(url)) await beforeAgain()
    const staleMs = performance.now() - goneMs
    while (performance.now() - goneMs < seconds * 1_000) {
      await onPoll()
      await beforeAgain()
    }
    const awayMs = performance.now() - goneMs
    await this.startNats()
    const backMs = performance.now()
    await this.waitUntilLive()
    const [stale, away, back] = [staleMs, awayMs, performance.now() - backMs].map((ms) =>
      (ms / 1_000).toFixed(1),
    )
    return `nats-server away for ${away} s: all data was stale at every gateway after ${stale} s, and live ${back} s after its return`
  }

  /** True if no current process has ended unexpectedly. */
  get isComplete(): boolean {
    return [...this.#engines, ...this.#gateways].every(({ hasEnded }) => !hasEnded())
  }

  /** Error lines of all processes, including ended processes. */
  logged(): readonly string[] {
    return [...this.#ended, ...this.#engines, ...this.#gateways].flatMap((process) =>
      process
        .stderr()
        .split('\n')
        .filter((line) => line !== ''),
    )
  }

  async close(): Promise<void> {
    for (const process of [...this.#gateways, ...this.#engines]) await process.end('SIGKILL')
    await this.venues.close()
    await this.killNats()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
