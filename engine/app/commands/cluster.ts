// `npm run cluster` runs a trial cluster on this machine until a signal: nats-server from the PATH, an engine with
// simulated venues, and two gateways.

import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { loadSecrets } from '../../../storage/secrets.ts'
import { systemClock } from '../../clock.ts'
import {
  GET_NATS,
  hasNats,
  natsEnv,
  type RunningNats,
  startNats,
} from '../../cluster/nats-server.ts'
import { type Config, loadConfig } from '../../config.ts'
import { assert } from '../../errors.ts'
import { runCommand } from './run-command.ts'

const COMMAND = {
  name: 'npm run cluster',
  about:
    'Starts a cluster on this machine: a nats-server from the PATH, one engine and two gateways, until Ctrl-C or SIGTERM.',
  notes: [
    'Settings are the variables of npm start; the gateways listen on PORT and on the one after it, or on free ports where PORT is 0.',
    'Exit codes: 0 after a signal, 1 after a failure, 2 for a bad request or setting.',
  ],
} as const

const GATEWAYS = 2
const PARENT_POLL_MS = 1_000
const START = fileURLToPath(new URL('../start.mjs', import.meta.url))
const LISTENING_LINE = /listens at (http:\/\/\S+)/

interface Started {
  readonly child: ChildProcess
  /** Resolves to the URL of the process. Rejects with an Error if the process ends before it listens. */
  readonly url: Promise<string>
  /** Null until the process has printed the key of the local account. */
  readonly key: () => string | null
  readonly ended: Promise<void>
}

function start(name: string, env: NodeJS.ProcessEnv): Started {
  // The closed channel informs the child process that this process has ended.
  const child = spawn(process.execPath, ['--v8-pool-size=1', '--max-semi-space-size=4', START], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const { stdout } = child
  assert(stdout !== null, 'the output of the process is piped')
  let key: string | null = null
  const ended = new Promise<void>((resolveEnd) => child.once('exit', () => resolveEnd()))
  const url = new Promise<string>((found, failed) => {
    createInterface({ input: stdout }).on('line', (line) => {
      key ??= /API key {4}(pmk_\S+)/.exec(line)?.[1] ?? null
      const listeningUrl = LISTENING_LINE.exec(line)?.[1]
      if (listeningUrl !== undefined) found(listeningUrl)
      else if (line.startsWith('{')) process.stdout.write(`${name} ${line}\n`)
    })
    child.once('exit', (code) => failed(new Error(`the ${name} ended with ${code}`)))
  })
  url.catch(() => undefined)
  return { child, url, key: () => key, ended }
}

function shared(role: 'engine' | 'gateway', config: Config, nats: RunningNats): NodeJS.ProcessEnv {
  const storedSecrets = loadSecrets(config.dataDir)
  return {
    ...natsEnv(role, nats),
    ...{ NATS_CREDS: '', NATS_CA: '' },
    JWT_SECRET: config.jwtSecret ?? storedSecrets.jwtSecret,
    ...(role === 'engine' ? { SECRETS_KEY: config.secretsKey ?? storedSecrets.secretsKey } : {}),
    LOG_LEVEL: process.env.LOG_LEVEL ?? 'warn',
  }
}

/** npm sends no signal if it is killed, but the parent process id changes. */
function onNpmKilled(action: () => void): void {
  if (process.env.npm_lifecycle_event === undefined) return
  const parent = process.ppid
  systemClock.every(PARENT_POLL_MS, () => {
    if (process.ppid !== parent) action()
  })
}

async function main(): Promise<void> {
  if (!hasNats()) throw new Error(GET_NATS)
  const config = loadConfig({ ...process.env, ROLE: 'all' })
  // Only the user may read files of this process and of nats-server.
  process.umask(0o077)
  const stopping = new Promise<void>((stop) => {
    process.on('SIGINT', () => stop())
    process.on('SIGTERM', () => stop())
    onNpmKilled(stop)
  })
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  const nats = await startNats(resolve(join(config.dataDir, 'nats')), 0, systemClock)
  process.stdout.write(`\n  NATS       ${nats.url}\n`)
  const running: Started[] = []
  try {
    const engine = start('engine', { ...shared('engine', config, nats), PORT: '0' })
    running.push(engine)
    const engineUrl = await Promise.race([engine.url, stopping])
    if (engineUrl === undefined) return
    process.stdout.write(`  engine     ${engineUrl} (of this machine alone)\n`)
    for (let index = 0; index < GATEWAYS; index += 1) {
      const port = config.port === 0 ? 0 : config.port + index
      const name = `gateway ${index + 1}`
      const env = { ...shared('gateway', config, nats), PORT: String(port) }
      const gateway = start(name, env)
      running.push(gateway)
      const url = await Promise.race([gateway.url, stopping])
      if (url === undefined) return
      process.stdout.write(`  ${name}  ${url}\n`)
    }
    const key = engine.key()
    const [, first] = running
    const example = first === undefined ? '' : await first.url
    if (key !== null) {
      process.stdout.write(`\n  Try: curl -H 'X-API-Key: ${key}' '${example}/v1/markets?limit=3'\n`)
    }
    process.stdout.write('\n  Ctrl-C ends all of it.\n')
    const failed = running.map(({ ended }, index) =>
      ended.then(() => {
        throw new Error(`process ${index + 1} of the cluster ended`)
      }),
    )
    await Promise.race([stopping, ...failed])
  } finally {
    for (const { child, ended } of [...running].reverse()) {
      child.kill('SIGTERM')
      await ended
    }
    await nats.stop()
  }
}

await runCommand(COMMAND, main)
