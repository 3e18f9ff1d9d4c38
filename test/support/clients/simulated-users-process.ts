// Process entry: runs many users of http/client/, each with a ledger. simulated-users.ts controls the process.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { connect, type StreamClient, type Subscription } from '../../../http/client/connect.ts'
import { FaultyProxy } from '../fakes/faulty-proxy.ts'
import { BookHistory, textOf } from '../reference/book-history.ts'
import { ClientLedger, type TrueTrade } from '../reference/client-ledger.ts'
import { read } from '../rigs/full-service.ts'
import type {
  SampleReport,
  SimulatedUsersOptions,
  SimulatedUsersReplies,
  SimulatedUsersReport,
  SimulatedUsersRequest,
} from './simulated-users.ts'

interface User {
  readonly client: StreamClient
  readonly ledger: ClientLedger
  /** Only the first clients have a history, because recording is slow. */
  readonly memory: BookHistory | null
  readonly marketIds: readonly string[]
  readonly isWide: boolean
  readonly subscriptions: readonly Subscription[]
}

interface RestBook {
  readonly bids: readonly Row[]
  readonly asks: readonly Row[]
  readonly seq: number
  readonly epoch: string
  readonly stale: boolean
}

interface Row {
  readonly price: number
  readonly size: number
}

const LISTED_MAX = 10
const BOOKS_AT_ONCE = 8
const REMEMBERING = 10
const SAMPLES_AT_ONCE = 8
/** Maximum time until a client reaches the seq of a REST response. */
const SAMPLE_WAIT_MS = 5_000

const options: SimulatedUsersOptions = JSON.parse(process.argv[2] ?? '{}')
const origin = `http://${options.host}:${options.port}`
const loop = monitorEventLoopDelay({ resolution: 10 })
loop.enable()
const { rough } = options
const proxy =
  rough === null
    ? null
    : await FaultyProxy.open({
        lifeMsMax: rough.lifeMsMax,
        targetPorts: rough.gateways ?? [options.port],
        onlyResets: rough.gateways !== undefined,
        seed: `${options.seed} proxy`,
      })
const users = Array.from({ length: options.clients }, (_, index) => join(index))

process.on('message', (text) => {
  const question: SimulatedUsersRequest = JSON.parse(String(text))
  answer(question).then(
    (answered) => process.send?.(JSON.stringify(answered)),
    (error: unknown) => {
      process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
      process.exit(1)
    },
  )
})
process.once('disconnect', () => process.exit(0))

function join(index: number): User {
  const random = seededRandom(options.seed, 'user', index)
  const ledger = new ClientLedger(`client ${index}`)
  const memory = index < REMEMBERING ? new BookHistory() : null
  const encoding = index % 2 === 0 ? 'json' : 'msgpack'
  const client = connect({
    url: `http://${options.host}:${proxy === null ? options.port : proxy.port}`,
    apiKey: options.apiKey,
    encoding,
    WebSocket,
    random: () => random.next(),
    onEvent: (event) => {
      ledger.take(event)
      if (memory === null || (event.type !== 'snapshot' && event.type !== 'update')) return
      const book = client.book(event.market_id)
      if (book !== null) memory.note(book, event.type === 'update')
    },
  })
  const isWide = options.wideEvery > 0 && index % options.wideEvery === 0
  const marketIds = choose(random)
  const trades = isWide ? { all: true } : { marketIds }
  const subscriptions = [
    client.subscribe({ channel: 'orderbook', marketIds }),
    client.subscribe({ channel: 'trades', ...trades }),
  ]
  return { client, ledger, memory, marketIds, isWide, subscriptions }
}

function choose(random: Random): string[] {
  const chosen = new Set<string>()
  const count = Math.min(options.marketsPerClient, options.marketIds.length)
  while (chosen.size < count) chosen.add(random.pick(options.marketIds))
  return [...chosen]
}

async function answer(
  question: SimulatedUsersRequest,
): Promise<SimulatedUsersReplies[SimulatedUsersRequest['kind']]> {
  switch (question.kind) {
    case 'ready':
      return ready()
    case 'sample':
      return sample(question.forMs)
    case 'calm':
      proxy?.calm()
      return null
    case 'check':
      return check(question.trades)
  }
}

async function ready(): Promise<SimulatedUsersReplies['ready']> {
  const answers = await Promise.all(
    users.flatMap(({ subscriptions }) => subscriptions.map((subscription) => subscription.ready)),
  )
  const rejected = answers.flatMap((answer) => answer.rejected.map((row) => JSON.stringify(row)))
  return { live: liveCount(), rejected }
}

function liveCount(): number {
  return users.filter(({ client }) => client.state === 'live').length
}

async function check(truth: readonly TrueTrade[]): Promise<SimulatedUsersReport> {
  const trades = { due: 0, handed: 0, announced: 0 }
  const [missing, extra]: [string[], string[]] = [[], []]
  const [counts, gaps, states] = [new Counts(), new Counts(), new Counts()]
  for (const { client, ledger, marketIds, isWide } of users) {
    const wanted = new Set(marketIds.map((marketId) => marketId.toLowerCase()))
    const found = ledger.compare(truth, (market) => isWide || wanted.has(market))
    trades.due += found.due
    trades.handed += found.handed
    trades.announced += found.announced
    missing.push(...found.missing)
    extra.push(...found.extra)
    counts.addAll(Object.entries(ledger.counts))
    gaps.addAll(ledger.gaps)
    states.add(client.state, 1)
  }
  const books = await compareBooks()
  const cpu = process.cpuUsage()
  return {
    clients: users.length,
    live: liveCount(),
    states: states.record(),
    counts: counts.record(),
    gaps: gaps.record(),
    proxy: proxy === null ? null : proxy.counts,
    faults: users.flatMap(({ ledger }) => ledger.faults),
    trades: { ...trades, missing, extra },
    books,
    loop: {
      p50Ms: loop.percentile(50) / 1e6,
      p99Ms: loop.percentile(99) / 1e6,
      cpuSeconds: (cpu.user + cpu.system) / 1e6,
    },
  }
}

async function sample(forMs: number): Promise<SampleReport> {
  const untilMs = performance.now() + forMs
  const found = { asked: 0, equal: 0, different: [] as string[], unknown: 0 }
  const sampleOn = async (random: Random): Promise<void> => {
    while (performance.now() < untilMs) {
      const { ledger, memory, marketIds } = random.pick(users.slice(0, REMEMBERING))
      const marketId = random.pick(marketIds)
      if (memory === null) continue
      const moment = await restBook(marketId)
      found.asked += 1
      const givenUpMs = Math.min(untilMs, performance.now() + SAMPLE_WAIT_MS)
      let result = memory.compare(marketId, moment)
      while (result === 'open' && performance.now() < givenUpMs) {
        await pause(10)
        result = memory.compare(marketId, moment)
      }
      if (result === 'equal') found.equal += 1
      else if (result === 'different') {
        found.different.push(`${ledger.name}: ${marketId} at ${moment.seq}`)
      } else found.unknown += 1
    }
  }
  const ticks = Array.from({ length: SAMPLES_AT_ONCE }, (_, index) =>
    sampleOn(seededRandom(options.seed, 'sample', index)),
  )
  await Promise.all(ticks)
  return found
}

function restBook(marketId: string): Promise<RestBook> {
  const url = `${origin}/v1/markets/${encodeURIComponent(marketId)}/orderbook`
  return read<RestBook>(url, options.apiKey)
}

async function compareBooks(): Promise<SimulatedUsersReport['books']> {
  const followers = new Map<string, StreamClient[]>()
  for (const { client, marketIds } of users) {
    for (const marketId of marketIds) {
      followers.set(marketId, [...(followers.get(marketId) ?? []), client])
    }
  }
  const wrong: string[] = []
  let compared = 0
  const waiting = [...followers]
  const compareSome = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const [marketId, clients] = next
      const truth = await restBook(marketId)
      for (const client of clients) {
        compared += 1
        const difference = differenceOf(client, marketId, truth)
        if (difference !== null) wrong.push(`${marketId}: ${difference}`)
      }
    }
  }
  await Promise.all(Array.from({ length: BOOKS_AT_ONCE }, compareSome))
  return { compared, wrong: wrong.length > LISTED_MAX ? wrong.slice(0, LISTED_MAX) : wrong }
}

function differenceOf(client: StreamClient, marketId: string, truth: RestBook): string | null {
  const book = client.book(marketId)
  if (book === null) return 'no book'
  if (!book.isInSync) return 'not in sync'
  if (book.epoch !== truth.epoch || book.seq !== truth.seq) {
    return `at ${book.epoch} ${book.seq}, REST at ${truth.epoch} ${truth.seq}`
  }
  return textOf(book) === textOf(truth) ? null : `levels differ at ${book.seq}`
}

class Counts {
  readonly #sums = new Map<string, number>()

  add(name: string, count: number): void {
    this.#sums.set(name, (this.#sums.get(name) ?? 0) + count)
  }

  addAll(entries: Iterable<readonly [string, number]>): void {
    for (const [name, count] of entries) this.add(name, count)
  }

  record(): Record<string, number> {
    return Object.fromEntries(this.#sums)
  }
}
