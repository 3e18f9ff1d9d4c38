// A cluster as processes beside simulated venues: a nats-server of the path, engines with folders of their own, gateways with
// ports of their own. Each can be killed, and is started again at once, as an operator's supervisor does.
// Not for: what is killed when (test/simulation/cluster-kill.long.test.ts).

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../engine/clock.ts'
import { type RunningNats, startNats } from '../../../engine/cluster/nats-server.ts'
import { freePorts, startProcess, type TestProcess } from './processes.ts'
import { type Places, Rig } from './whole-service.ts'

const SECRET = 'of a cluster under test, 32 bytes or more'

export class ClusterRig {
  readonly venues = new Rig()
  readonly #folder = mkdtempSync(join(tmpdir(), 'twinbook-cluster-'))
  #nats: RunningNats | null = null
  readonly #engines: TestProcess[] = []
  readonly #gateways: TestProcess[] = []
  #ports: readonly number[] = []
  readonly #ended: TestProcess[] = []

  /** Resolves once every gateway listens; `engines`: one leads, the others stand by. */
  static async open(set: {
    readonly engines: number
    readonly gateways: number
    readonly world: Parameters<Rig['startVenues']>[0]
  }): Promise<ClusterRig> {
    const rig = new ClusterRig()
    await rig.venues.startVenues(set.world)
    await rig.startNats()
    for (let index = 0; index < set.engines; index += 1) {
      rig.#startEngine(index)
      // The first one leads.
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

  /** Where the first gateway is, with the key of the first engine's local account. */
  get places(): Places {
    const key = readFileSync(join(this.venues.dataDir, 'local-key'), 'utf8').trim()
    return { gamma: this.venues.gamma, api: this.urls[0] ?? '', key }
  }

  /** Resolves once every gateway that was started last listens. */
  async listening(): Promise<void> {
    for (const gateway of this.#gateways) await gateway.line(/listens at/)
  }

  #env(role: string): Record<string, string> {
    return {
      ...{ ROLE: role, NATS_URL: this.#nats?.url ?? '', JWT_SECRET: SECRET, SECRETS_KEY: SECRET },
      ...{ TRUSTED_PROXIES: '127.0.0.1', LOG_LEVEL: process.env.CLUSTER_LOG ?? 'error' },
      ...{ WEBHOOK_ALLOW_HTTP: 'on', WEBHOOK_ALLOW_PRIVATE: 'on' },
    }
  }

  #startEngine(index: number): void {
    const folder = index === 0 ? {} : { DATA_DIR: join(this.#folder, `engine${index}`) }
    this.#engines[index] = this.venues.spawnEngine({ ...this.#env('engine'), ...folder })
  }

  #startGateway(index: number): void {
    const env = { ...this.#env('gateway'), PORT: String(this.#ports[index]) }
    this.#gateways[index] = startProcess('engine/start.mjs', env)
  }

  async killEngine(index: number): Promise<void> {
    await this.#end(this.#engines[index], 'SIGKILL')
    this.#startEngine(index)
  }

  async killGateway(index: number): Promise<void> {
    await this.#end(this.#gateways[index], 'SIGKILL')
    this.#startGateway(index)
  }

  /** As in an upgrade: clients are told, and the next one begins when it serves. */
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

  /** kill -9. */
  async killNats(): Promise<void> {
    const child = this.#nats?.child
    if (child === undefined) return
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGKILL')
    await ended
  }

  /** Where it was, over what it had stored. */
  async startNats(): Promise<void> {
    const port = this.#nats?.port ?? 0
    this.#nats = await startNats(join(this.#folder, 'nats'), port, systemClock)
  }

  /** Lines that processes logged as errors, and those of them that ended by themselves. */
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
