// Process entry for both ends of planned-run.ts: the API server over a fake engine that publishes planned book updates,
// or normal readers that record each delay. The size of an update's first level is its planned time. Controlled over
// the process's channel.

import { WebSocket } from 'ws'
import { type Clock, systemClock } from '../../../engine/clock.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import { createServer } from '../../../http/server.ts'
import { FakeEngine } from '../fakes/engine.ts'
import { MARKETS, type Plan, type PlannedQuestion, sharedMs } from './planned-run.ts'

const LEVELS = 40
const clock: Clock = systemClock
let ask: (question: PlannedQuestion) => Promise<unknown> = openServer
const lateMs: number[] = []
let startMs = 0

process.on('message', (text) => {
  const question: PlannedQuestion = JSON.parse(String(text))
  if (question.kind === 'read') ask = openReaders
  ask(question).then(
    (answer) => process.send?.(JSON.stringify(answer ?? null)),
    (error: unknown) => {
      process.stderr.write(`${String(error)}\n`)
      process.exit(1)
    },
  )
})
process.once('disconnect', () => process.exit(0))

async function openServer(): Promise<unknown> {
  const engine = new FakeEngine(clock)
  const { publisher, metrics } = engine
  engine.accounts.make('ann', { requestsPerMinute: 1e9, socketsMax: 1e5 })
  const markets = Array.from({ length: MARKETS }, (_, index) =>
    engine.add(`m${index}`, { venue: index % 2 === 0 ? 'a' : 'b' }),
  )
  const webhookPolicy = { allowsHttp: false, allowsPrivate: false }
  const listening = {
    host: '127.0.0.1',
    port: 0,
    corsOrigins: [],
    trustedProxies: [],
    isMetricsPublic: false,
  }
  const server = await createServer({
    ...{ engine, publisher, clock, log: silentLog, metrics },
    ...{ ...listening, webhookPolicy },
  })
  engine.register(server)
  const random = seededRandom('planned')
  const publish = (plannedMs: number): void => {
    const market = random.pick(markets)
    const changes = Array.from({ length: LEVELS }, (_, index) => ({
      side: 'bid' as const,
      price: priceMicros((index + 1) * 10_000),
      size: sizeMicros(Math.round(plannedMs * 1_000)),
    }))
    market.change(...changes)
  }
  ask = async (question) => {
    if (question.kind === 'publish') await run(question.plan, publish)
    const counts = metrics.counts('stream_lags_total')
    return { lags: [...counts.values()][0]?.value ?? 0, sessions: server.hub.sessions.size }
  }
  return { port: server.port, marketIds: markets.map(({ ref }) => ref.id) }
}

/** Publishes due updates in each event-loop tick, with their planned times. */
function run(plan: Plan, publish: (plannedMs: number) => void): Promise<void> {
  const everyMs = 1_000 / plan.perSecond
  const count = plan.perSecond * plan.seconds
  return new Promise((resolve) => {
    let done = 0
    const stop = clock.every(2, () => {
      const nowMs = sharedMs()
      for (; done < count && plan.startMs + done * everyMs <= nowMs; done += 1) {
        publish(done * everyMs)
      }
      if (done < count) return
      stop()
      resolve()
    })
  })
}

async function openReaders(question: PlannedQuestion): Promise<unknown> {
  if (question.kind === 'late') {
    startMs = question.startMs
    const sorted = lateMs.splice(0).sort((one, other) => one - other)
    const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))] ?? 0
    return { count: sorted.length, p50Ms: at(0.5), p99Ms: at(0.99), p999Ms: at(0.999) }
  }
  if (question.kind !== 'read') return null
  const { port, readers, marketIds } = question
  const opened = Array.from({ length: readers }, (_, index) => {
    const random = seededRandom('reader', index)
    const market_ids = Array.from({ length: 20 }, () => random.pick(marketIds))
    return openReader(port, { action: 'subscribe', id: 1, channel: 'orderbook', market_ids })
  })
  await Promise.all(opened)
  return null
}

function openReader(port: number, command: unknown): Promise<void> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/ws?api_key=ann-key`)
  return new Promise((resolve) => {
    socket.on('open', () => socket.send(JSON.stringify(command)))
    socket.on('message', (bytes) => {
      const text = String(bytes)
      if (text.startsWith('{"type":"update"')) {
        const planned = /"size":([\d.]+)/.exec(text)?.[1]
        lateMs.push(sharedMs() - startMs - Number(planned) * 1_000)
      } else if (text.startsWith('{"type":"synced"')) resolve()
    })
  })
}
