// Time until 10,000 clients are connected, subscribed and have their books; until all have resumed after a disconnect
// without loss; and until they connect to a server that is still starting. The server is the whole engine over LMDB in
// its own process and publishes at a steady rate. Clients are bare sockets in two more processes. Each follows the
// books and trades of four of a hundred markets, is disconnected without a close frame, and resumes a second later.
// Finally each client's messages are compared with those published since it connected. Then the server is killed and
// restarted on the same folder and port while new clients retry; that time starts when it listens.
// Clients do not wait a random time before reconnecting, as real ones should: this measures the worst case.
// Excluded: networks beyond loopback, the client library. Each client needs one open file in the server and one in a
// load process. If `ulimit -n` is too low, fewer clients run and the report states it.
// Precision: on two cores the seconds include the clients' own reading; processor time is the server's alone.

import { readFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { systemClock } from '../engine/clock.ts'
import { Child } from './child.ts'
import type { LoadCommand, LoadReport, ServerCommand, ServerReport } from './connect/messages.ts'
import {
  aimedRow,
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  inFolder,
  newTimes,
  type Row,
  timesRow,
} from './harness.ts'

const CLIENTS = 10_000
const LOADS = 2
/** Open files that a process needs besides its clients'. */
const FILES_BESIDE = 200
const AWAY_MS = 1_000
/** Limit of processor time until all clients have their books and missed messages. */
const RESUME_SECONDS_MAX = 2

interface Size {
  readonly clientCount: number
  readonly loadCount: number
  readonly marketCount: number
  readonly perSecond: number
  readonly awayMs: number
}

type Server = Child<ServerCommand, ServerReport>
type Load = Child<LoadCommand, LoadReport>

export const bench: Bench = {
  name: 'connect',
  question:
    'How long until 10,000 clients connect, subscribe and have their books, and until all have resumed after a cut?',
  excludes: 'networks beyond loopback, the clients’ own work',
  async run(setting) {
    const size = sizeOf(setting)
    const server: Server = new Child('connect/server.ts')
    const next: Server = new Child('connect/server.ts')
    const loads = Array.from({ length: size.loadCount }, (): Load => new Child('connect/load.ts'))
    const children = [server, next, ...loads]
    try {
      const { rows, messageCount } = await inFolder((dataDir) =>
        compete({ server, next, loads, dataDir }, size, setting).finally(() =>
          Promise.all(children.map((child) => child.end())),
        ),
      )
      const checked = `${size.clientCount} clients resumed, as many had waited for a start, and each had every one of the ${messageCount} messages due to them, in order`
      const hash = hashOf([`${size.clientCount} clients, nothing lost`])
      return { rows, state: { hash, checked, isRepeatable: false } }
    } finally {
      await Promise.all(children.map((child) => child.end()))
    }
  },
}

function sizeOf({ isSmall, say: logLine }: BenchSetting): Size {
  if (isSmall) {
    return { clientCount: 40, loadCount: 1, marketCount: 10, perSecond: 200, awayMs: 50 }
  }
  const files = openFilesMax()
  const clientCount = Math.max(1, Math.min(CLIENTS, files - FILES_BESIDE))
  if (clientCount < CLIENTS) logLine(shortage(files, clientCount))
  return { clientCount, loadCount: LOADS, marketCount: 100, perSecond: 25, awayMs: AWAY_MS }
}

const shortage = (files: number, clientCount: number): string =>
  `\`ulimit -n\` allows ${files} open files a process: ${clientCount} clients instead of ${CLIENTS}; raise it to ${CLIENTS + FILES_BESIDE} for all`

/**
 * The limit of open files. Node raises it to the hard limit; where the system does not show it, no limit is assumed.
 */
function openFilesMax(): number {
  if (process.platform !== 'linux') return Number.MAX_SAFE_INTEGER
  const limits = readFileSync('/proc/self/limits', 'latin1')
  const hard = /^Max open files\s+\S+\s+(\S+)/m.exec(limits)?.[1]
  return hard === undefined || hard === 'unlimited' ? Number.MAX_SAFE_INTEGER : Number(hard)
}

interface Field {
  readonly server: Server
  /** A server on the same folder and port, after the first has ended. */
  readonly next: Server
  readonly loads: readonly Load[]
  readonly dataDir: string
}

async function compete(
  { server, next, loads, dataDir }: Field,
  { clientCount, marketCount, perSecond, awayMs }: Size,
  { say: logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; messageCount: number }> {
  const opening = { kind: 'open', dataDir, marketCount } as const
  const { kind: _, ...location } = await server.ask({ ...opening, existing: null }, 'listening')
  await server.ask({ kind: 'publish', perSecond }, 'publishing')
  const all = <Answer>(ask: (load: Load, index: number) => Promise<Answer>) =>
    Promise.all(loads.map(ask))
  const edges = [...loads, null].map((_, index) => Math.floor((index * clientCount) / loads.length))
  const connect = () =>
    all((load, index) => {
      const [firstClient = 0, end = 0] = edges.slice(index)
      const who = { clientCount: end - firstClient, firstClient }
      return load.ask({ kind: 'connect', ...location, ...who }, 'connected')
    })
  const phase = async <Answer>(
    of: Server,
    what: string,
    work: () => Promise<readonly Answer[]>,
  ) => {
    const done = await timed(of, work)
    logLine(`${clientCount} clients ${what} after ${done.seconds.toFixed(1)} s`)
    check(done.streamCount === clientCount, `${done.streamCount} streams are open`)
    await pause(awayMs)
    return done
  }
  const compare = async (of: Server): Promise<number> => {
    const { published } = await of.ask({ kind: 'stop' }, 'stopped')
    const compared = await all((load) => load.ask({ kind: 'compare', published }, 'compared'))
    return sum(compared.map((one) => one.messageCount))
  }
  const cut = async () => {
    await all((load) => load.ask({ kind: 'cut' }, 'cut'))
    await pause(awayMs)
  }
  const came = await phase(server, 'connected', connect)
  await cut()
  const back = await phase(server, 'resumed', () =>
    all((load) => load.ask({ kind: 'resume' }, 'resumed')),
  )
  const messageCount = await compare(server)
  await cut()
  await server.end()
  const waiting = connect()
  await pause(awayMs)
  await next.ask({ ...opening, existing: location }, 'listening')
  await next.ask({ kind: 'publish', perSecond }, 'publishing')
  const started = await phase(next, 'that had waited were served', () => waiting)
  const snapshots = sum(came.answers.map(({ snapshotCount }) => snapshotCount))
  const replayed = sum(back.answers.map(({ replayedCount }) => replayedCount))
  const rows: Row[] = [
    timesRow('a client: first byte → both channels synced', together(came.answers)),
    timesRow('a client: first byte → both channels resumed', together(back.answers)),
    figureRow(
      `${clientCount} clients connected, subscribed, with ${snapshots} snapshots`,
      phaseText(came, clientCount),
    ),
    aimedRow(
      `${clientCount} clients resumed, with ${replayed} missed messages: processor of the server`,
      back.processorSeconds,
      { atMost: RESUME_SECONDS_MAX },
      's',
    ),
    figureRow(`${clientCount} clients resumed`, phaseText(back, clientCount)),
    figureRow(
      `${clientCount} clients that waited for the start, from its listening on`,
      phaseText(started, clientCount),
    ),
    figureRow(
      'server memory with all of them',
      `${Math.round(back.residentBytes / 2 ** 20)} MiB resident`,
    ),
  ]
  if (clientCount < CLIENTS && loads.length === LOADS) {
    rows.push(figureRow('open files', shortage(openFilesMax(), clientCount)))
  }
  return { rows, messageCount: messageCount + (await compare(next)) }
}

interface Phase<Answer> {
  readonly answers: readonly Answer[]
  readonly seconds: number
  readonly processorSeconds: number
  readonly streamCount: number
  readonly residentBytes: number
}

/** Duration, server cost, and the server's state afterwards. */
async function timed<Answer>(
  server: Server,
  work: () => Promise<readonly Answer[]>,
): Promise<Phase<Answer>> {
  const before = await server.ask({ kind: 'look' }, 'looked')
  const startedMs = systemClock.monotonicMs()
  const answers = await work()
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000
  const { processorMicros, streamCount, residentBytes } = await server.ask(
    { kind: 'look' },
    'looked',
  )
  const processorSeconds = (processorMicros - before.processorMicros) / 1e6
  return { answers, seconds, processorSeconds, streamCount, residentBytes }
}

function phaseText({ seconds, processorSeconds }: Phase<unknown>, clientCount: number): string {
  const each = Math.round((1e6 * processorSeconds) / clientCount)
  return `${seconds.toFixed(1)} s; ${each} µs of server processor a client, the publishing meanwhile in it`
}

function together(answers: readonly { readonly times: string }[]) {
  const times = newTimes()
  for (const answer of answers) times.add(decodeFromCompressedBase64(answer.times))
  return times
}

const sum = (figures: readonly number[]): number => figures.reduce((total, one) => total + one, 0)
