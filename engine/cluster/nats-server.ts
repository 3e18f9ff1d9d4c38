// Starts a local nats-server with JetStream on loopback, for `npm run cluster` and for tests. In a deployment the
// operator runs NATS (engine/app/OPERATING.md).

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Clock, pause } from '../clock.ts'
import { isRecord } from '../json-record.ts'

const PAYLOAD_BYTES_MAX = 8 * 1_024 * 1_024
/**
 * Maximum bytes that the streams may reserve together. The server rejects streams above its default limit, three
 * quarters of the free space.
 */
const STORE_BYTES_MAX = 64 * 1_024 ** 3
const START_MS_MAX = 60_000
const POLL_MS = 25

/**
 * Runs nats-server beside a shell that waits until this process closes its end of a pipe. The shell then stops the
 * server, so no server remains after this process ends.
 */
const WATCHED_COMMAND =
  'umask 077; exec 3<&0; (read -r _ <&3; kill $$) 2>/dev/null & exec nats-server -c "$0" 3<&- </dev/null'

export const GET_NATS =
  'nats-server is not on the PATH: `apt-get install nats-server` (Debian, Ubuntu), or https://nats.io/download/'

const USERS = readFileSync(new URL('../app/operating/nats-users.conf', import.meta.url), 'utf8')

export interface NatsSecrets {
  /** Passwords of the NATS users with these names. */
  readonly engine: string
  readonly gateway: string
  readonly clusterKey: string
}

export interface RunningNats {
  readonly secrets: NatsSecrets
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  stop(): Promise<void>
}

export function hasNats(): boolean {
  return spawnSync('nats-server', ['--version']).status === 0
}

export function natsEnv(role: 'engine' | 'gateway', { url, secrets }: RunningNats) {
  const login = { NATS_USER: role, NATS_PASSWORD: secrets[role] }
  return { ROLE: role, NATS_URL: url, ...login, CLUSTER_KEY: secrets.clusterKey }
}

/**
 * `port` 0: the system chooses a port. `folder` contains the streams, passwords and the cluster key, readable for its
 * owner only. Rejects with an Error if the server does not start.
 */
export async function startNats(folder: string, port: number, clock: Clock): Promise<RunningNats> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  chmodSync(folder, 0o700)
  const secrets = secretsIn(folder)
  const config = join(folder, 'nats.conf')
  const lines = [
    'host: 127.0.0.1',
    `port: ${port === 0 ? -1 : port}`,
    `max_payload: ${PAYLOAD_BYTES_MAX}`,
    `jetstream { store_dir: ${JSON.stringify(join(folder, 'jetstream'))}, max_file_store: ${STORE_BYTES_MAX} }`,
    `ports_file_dir: ${JSON.stringify(folder)}`,
    `ENGINE_PASSWORD: ${JSON.stringify(secrets.engine)}`,
    `GATEWAY_PASSWORD: ${JSON.stringify(secrets.gateway)}`,
    USERS,
  ]
  writePrivate(config, lines.join('\n'))
  const child = spawn('sh', ['-c', WATCHED_COMMAND, config], { stdio: ['pipe', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr?.setEncoding('utf8').on('data', (chunk: string) => {
    stderr = (stderr + chunk).slice(-4_000)
  })
  let failure: string | null = null
  const ended = new Promise<void>((resolve) => {
    child.once('error', (error) => {
      failure = error.message
      resolve()
    })
    child.once('exit', (code) => {
      child.stdin?.destroy()
      failure ??= `nats-server ended with ${code}: ${stderr}`
      resolve()
    })
  })
  const endsAtMs = clock.monotonicMs() + START_MS_MAX
  for (;;) {
    if (failure !== null) throw new Error(failure)
    const listening = portIn(join(folder, `nats-server_${child.pid}.ports`))
    if (listening !== null) {
      const stop = async () => {
        child.kill('SIGTERM')
        await ended
      }
      return { url: `nats://127.0.0.1:${listening}`, port: listening, secrets, child, stop }
    }
    if (clock.monotonicMs() > endsAtMs) {
      child.kill('SIGKILL')
      throw new Error(`nats-server did not listen within ${START_MS_MAX} ms: ${stderr}`)
    }
    await pause(clock, POLL_MS)
  }
}

function secretsIn(folder: string): NatsSecrets {
  const path = join(folder, 'secrets')
  if (existsSync(path)) {
    const stored = readSecrets(readFileSync(path, 'utf8'))
    if (stored !== null) return stored
    throw new Error(`${path} is damaged: remove it, and new passwords are made`)
  }
  const secret = () => randomBytes(32).toString('base64url')
  const made = { engine: secret(), gateway: secret(), clusterKey: secret() }
  writePrivate(path, `${JSON.stringify(made)}\n`)
  return made
}

/** Sets the mode first, because writing to an existing file does not change its mode. */
function writePrivate(path: string, text: string): void {
  if (existsSync(path)) chmodSync(path, 0o600)
  writeFileSync(path, text, { mode: 0o600 })
}

function readSecrets(text: string): NatsSecrets | null {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value)) return null
    const { engine, gateway, clusterKey } = value
    const isComplete =
      typeof engine === 'string' && typeof gateway === 'string' && typeof clusterKey === 'string'
    return isComplete ? { engine, gateway, clusterKey } : null
  } catch {
    return null
  }
}

function portIn(file: string): number | null {
  if (!existsSync(file)) return null
  try {
    const ports: unknown = JSON.parse(readFileSync(file, 'utf8'))
    const [url]: readonly unknown[] = isRecord(ports) && Array.isArray(ports.nats) ? ports.nats : []
    return typeof url === 'string' ? Number(new URL(url).port) : null
  } catch {
    return null
  }
}
