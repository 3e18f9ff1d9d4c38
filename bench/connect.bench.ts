// Clients connect, lose their connections and resume a second later, while the engine publishes at a steady rate. The
// received messages are compared with the published ones. Then the server is killed and restarted while new clients
// retry. The clients do not wait for a random time before they reconnect, which is the worst case. On two cores the
// wall times include the clients' work. Processor time is that of the server alone.

import { setTimeout as pause } from 'node:timers/promises'
import { decodeFromCompressedBase64 } from 'hdr-histogram-js'
import { systemClock } from '../engine/clock.ts'
import { descriptorsMax } from '../engine/process/runtime.ts'
import { Child } from './child.ts'
import type { api as loadApi } from './connect/load.ts'
import type { api as serverApi } from './connect/server.ts'
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
import { sum } from './latency-recorder.ts'

const CLIENTS = 10_000
const LOADS = 2
const FILES_BESIDE = 200
const AWAY_MS = 1_000
/** Target: maximum processor time until all clients have their books and the messages that they missed. */
const RESUME_SECONDS_MAX = 2

interface Size {
  readonly clientCount: number
  readonly loadCount: number
  readonly marketCount: number
  readonly perSecond: number
  readonly awayMs: number
}

type Server = Child<typeof serverApi>
type Load = Child<typeof loadApi>

export const bench: Bench = {
  name: 'connect',
  question:
    'How long until 10,000 clients connect, subscribe and have their books, and until all have resumed after a disconnect?',
  excludes: 'networks beyond loopback, the clients’ own work',
  async run(setting) {
    const size = sizeOf(setting)
    const server: Server = new Child('connect/server.ts')
    const next: Server = new Child('connect/server.ts')
    const loads = Array.from({ length: size.loadCount }, (): Load => new Child('connect/load.ts'))
    const children = [server, next, ...loads]
    try {
      const { rows, messageCount } = await inFolder((dataDir) =>
        compete({ server, next, loads }, dataDir, size, setting).finally(() =>
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

function sizeOf({ isSmall, logLine }: BenchSetting): Size {
  if (isSmall) {
    return { clientCount: 40, loadCount: 1, marketCount: 10, perSecond: 200, awayMs: 50 }
  }
  const files = descriptorsMax()
  const clientCount = Math.max(1, Math.min(CLIENTS, files - FILES_BESIDE))
  if (clientCount < CLIENTS) logLine(shortage(files, clientCount))
  return { clientCount, loadCount: LOADS, marketCount: 100, perSecond: 25, awayMs: AWAY_MS }
}

const shortage = (files: number, clientCount: number): string =>
  `\`ulimit -n\` allows ${files} open files a process: ${clientCount} clients instead of ${CLIENTS}; raise it to ${CLIENTS + FILES_BESIDE} for all`

/** `next` starts on the folder and port of the killed `server`. */
async function compete(
  { server, next, loads }: { server: Server; next: Server; loads: readonly Load[] },
  dataDir: string,
  { clientCount, marketCount, perSecond, awayMs }: Size,
  { logLine }: BenchSetting,
): Promise<{ rows: readonly Row[]; messageCount: number }> {
  const location = await server.call('open', dataDir, marketCount, null)
  await server.call('publish', perSecond)
  const all = <Answer>(ask: (load: Load, index: number) => Promise<Answer>) =>
    Promise.all(loads.map(ask))
  const edges = [...loads, null].map((_, index) => Math.floor((index * clientCount) / loads.length))
  const connect = () =>
    all((load, index) => {
      const [firstClient = 0, end = 0] = edges.slice(index)
      return load.call('connect', location, end - firstClient, firstClient)
    })
  const phase = async (of: Server, what: string, work: () => Promise<readonly Opened[]>) => {
    const done = await timed(of, work)
    logLine(`${clientCount} clients ${what} after ${done.seconds.toFixed(1)} s`)
    check(done.streamCount === clientCount, `${done.streamCount} streams are open`)
    await pause(awayMs)
    return done
  }
  const compare = async (of: Server): Promise<number> => {
    const published = await of.call('stop')
    return sum(await all((load) => load.call('compare', published)))
  }
  const cut = async () => {
    await all((load) => load.call('cut'))
    await pause(awayMs)
  }
  const came = await phase(server, 'connected', connect)
  await cut()
  const back = await phase(server, 'resumed', () => all((load) => load.call('resume')))
  const messageCount = await compare(server)
  await cut()
  await server.end()
  const waiting = connect()
  await pause(awayMs)
  await next.call('open', dataDir, marketCount, location)
  await next.call('publish', perSecond)
  const started = await phase(next, 'that had waited were served', () => waiting)
  const snapshots = sum(came.answers.map(({ messageCount }) => messageCount))
  const replayed = sum(back.answers.map(({ messageCount }) => messageCount))
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
    rows.push(figureRow('open files', shortage(descriptorsMax(), clientCount)))
  }
  return { rows, messageCount: messageCount + (await compare(next)) }
}

type Opened = Awaited<ReturnType<(typeof loadApi)['resume']>>

type Phase = Awaited<ReturnType<typeof timed>>

async function timed(server: Server, work: () => Promise<readonly Opened[]>) {
  const before = await server.call('look')
  const startedMs = systemClock.monotonicMs()
  const answers = await work()
  const seconds = (systemClock.monotonicMs() - startedMs) / 1_000
  const { processorMicros, ...after } = await server.call('look')
  const processorSeconds = (processorMicros - before.processorMicros) / 1e6
  return { answers, seconds, processorSeconds, ...after }
}

function phaseText({ seconds, processorSeconds }: Phase, clientCount: number): string {
  const each = Math.round((1e6 * processorSeconds) / clientCount)
  return `${seconds.toFixed(1)} s; ${each} µs of server processor a client, the publishing meanwhile in it`
}

function together(answers: readonly { readonly times: string }[]) {
  const times = newTimes()
  for (const answer of answers) times.add(decodeFromCompressedBase64(answer.times))
  return times
}
