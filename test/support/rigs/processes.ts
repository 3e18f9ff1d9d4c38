import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'
import { after } from 'node:test'

export interface TestProcess {
  readonly pid: number
  readonly stdout: () => string
  readonly stderr: () => string
  readonly hasEnded: () => boolean
  /**
   * Resolves with the first match in stdout. Rejects if the process ends first. Has no timeout, because the test runner
   * ends a hanging test.
   */
  line(pattern: RegExp): Promise<RegExpExecArray>
  /** Resolves with the exit code, or null after SIGKILL. */
  end(signal?: NodeJS.Signals): Promise<number | null>
}

const started = new Set<ChildProcess>()
// A process left by a failed test would keep the test process alive. Benches end their processes themselves.
if (/\.test\.m?[jt]s$/.test(process.argv[1] ?? '')) {
  after(() => {
    for (const child of started) child.kill('SIGKILL')
  })
}

/**
 * Starts `node ...flags ENTRY ...args` in the repository's root. TypeScript runs through tsx. The process is ended
 * after the tests of the file.
 */
export function startProcess(
  entry: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
  flags: readonly string[] = [],
): TestProcess {
  const language = entry.endsWith('.mjs') ? [] : ['--import', 'tsx']
  const child = spawn(process.execPath, [...flags, ...language, entry, ...args], {
    env: { PATH: process.env.PATH ?? '', NODE_OPTIONS: process.env.NODE_OPTIONS ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.add(child)
  const [stdout, stderr]: [string[], string[]] = [[], []]
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text))
  const exited = new Promise<number | null>((resolve) =>
    child.once('exit', (code) => resolve(code)),
  )
  return {
    pid: child.pid ?? 0,
    stdout: () => stdout.join(''),
    stderr: () => stderr.join(''),
    hasEnded: () => child.exitCode !== null || child.signalCode !== null,
    line: (pattern) => waitForLine(child, stdout, stderr, pattern, entry),
    async end(signal = 'SIGTERM') {
      if (child.exitCode === null && child.signalCode === null) child.kill(signal)
      return exited
    },
  }
}

function waitForLine(
  child: ChildProcess,
  stdout: readonly string[],
  stderr: readonly string[],
  pattern: RegExp,
  entry: string,
): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    const finish = (act: () => void) => {
      child.stdout?.off('data', check)
      child.off('exit', onExit)
      act()
    }
    const fail = (why: string) =>
      finish(() =>
        reject(new Error(`${entry} ${why}\n${stdout.join('')}\n${stderr.join('').slice(-2_000)}`)),
      )
    const check = () => {
      const match = pattern.exec(stdout.join(''))
      if (match !== null) finish(() => resolve(match))
    }
    const onExit = (code: number | null) => fail(`ended with ${code}`)
    child.stdout?.on('data', check)
    child.on('exit', onExit)
    check()
  })
}

const PORTS_FROM = 10_000
const PORT_BLOCKS = 500
const BLOCK_PORTS = 40

/**
 * Returns the first of `count` consecutive free ports, because the simulated venues use fixed port offsets. Concurrent
 * test processes use separate blocks of ports.
 */
export async function freePorts(count: number): Promise<number> {
  for (let tries = 0; tries < 200; tries += 1) {
    // The blocks are below the kernel's ephemeral ports. A test with thousands of connections occupies ephemeral ports
    // for a minute.
    const block = (process.pid + Math.floor(tries / 20)) % PORT_BLOCKS
    const first = PORTS_FROM + block * BLOCK_PORTS + randomInt(BLOCK_PORTS - count + 1)
    const ports = Array.from({ length: count }, (_, step) => freePort(first + step))
    const settled = await Promise.allSettled(ports)
    if (settled.every(({ status }) => status === 'fulfilled')) return first
  }
  throw new Error(`no ${count} neighbouring free ports found`)
}

function freePort(port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const taken = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(taken))
    })
  })
}
