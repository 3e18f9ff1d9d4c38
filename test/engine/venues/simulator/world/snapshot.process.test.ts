import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../../../engine/process/log.ts'
import { seededRandom } from '../../../../../engine/random.ts'
import { runToEnd } from '../../../../../engine/time-slices.ts'
import { PRICE_HALF, PRICE_ONE, priceMicros, timeMs } from '../../../../../engine/units.ts'
import { Calendar, type PlannedEvent } from '../../../../../engine/venues/simulator/calendar.ts'
import { Faults } from '../../../../../engine/venues/simulator/faults.ts'
import { type Simulator, startSimulator } from '../../../../../engine/venues/simulator/simulator.ts'
import {
  readSnapshot,
  restoreSnapshot,
  writeSnapshot,
} from '../../../../../engine/venues/simulator/world/snapshot.ts'
import { WalletLedgers } from '../../../../../engine/venues/simulator/world/wallet-ledgers.ts'
import { type Plan, SimulatedWorld } from '../../../../../engine/venues/simulator/world/world.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'
import { publicKeyPem } from '../../../../support/fakes/rsa-pair.ts'
import { NOON, planEvent, planMarket } from '../../../../support/worlds/sim-plan.ts'

const SECOND_MS = 1_000
const isLong = process.env.TEST_LONG === '1'
const RATE = isLong ? 400 : 200
const ROUNDS = isLong ? 5 : 3

/** An event with five markets that ends after 40 s, a void market, and an endless market at each venue. */
function plan(): Plan {
  const endMs = timeMs(NOON + 40 * SECOND_MS)
  const ends = { closeMs: endMs, determineMs: endMs, resolveMs: timeMs(endMs + 10 * SECOND_MS) }
  const group = [0, 2, 4, 6, 8].map((index) => {
    const payout = index === 4 ? PRICE_ONE : priceMicros(0)
    return planMarket(index, { prior: 0.2, listing: { ...ends, payout, activity: 3 } })
  })
  const alone = [
    planMarket(10, { prior: 0.5, listing: { ...ends, payout: PRICE_HALF } }),
    planMarket(12, { listing: { activity: 0.5 } }),
    planMarket(13),
  ].map(planEvent)
  const [first] = group
  assert.ok(first !== undefined)
  const exclusive: PlannedEvent = {
    event: { ...planEvent(first).event, isMutuallyExclusive: true },
    markets: group,
  }
  const events = [exclusive, ...alone]
  const find: Plan['eventNumbered'] = (venue, number) =>
    events.find(({ event }) => event.venue === venue && event.number === number) ?? null
  return { eventsAt: () => events, createdBetween: () => [], eventNumbered: find, teams: () => [] }
}

function tempFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'twinbook-world-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

async function start(clock: ManualClock, worldFolder: string | null): Promise<Simulator> {
  return await startSimulator({
    ...{ seed: 5, marketsPerVenue: 20, messagesPerSecond: RATE, faults: [], clock },
    ...{ plan: plan(), log: silentLog, basePort: 0, kalshiPublicKeyPem: publicKeyPem, worldFolder },
  })
}

function run(clock: ManualClock, seconds: number, stepMs = 20): void {
  for (let elapsed = 0; elapsed < seconds * SECOND_MS; elapsed += stepMs) clock.advance(stepMs)
}

function ledgersOf(wallets: Simulator['wallets']): unknown {
  return wallets.all().map((ledger) => ({
    who: [ledger.wallet.address, ledger.wallet.name, ledger.wallet.pseudonym, ledger.eoa],
    sums: [ledger.firstMs, ledger.cash, ledger.fees, ledger.income, ledger.droppedEventCount],
    events: ledger.events.map((event) => [
      ...[event.kind, event.atMs, event.txHash, event.market?.listing.nativeId ?? null],
      ...[event.size, event.usd, event.fee, event.fill?.participant ?? null],
    ]),
    holdings: [...ledger.holdings.values()].map(({ market, positions }) => [
      market.listing.nativeId,
      ...positions.map(({ amount, bought, averagePrice, realized, fees, lastMs }) => [
        ...[amount, bought, averagePrice, realized, fees, lastMs],
      ]),
    ]),
  }))
}

/** Answers of both venues about past data, by path. */
async function answersOf({
  urls,
  wallets,
  world,
}: Simulator): Promise<ReadonlyMap<string, unknown>> {
  const paths: string[] = []
  const nowS = Math.floor(world.nowMs() / SECOND_MS)
  const users = wallets.all().slice(0, 5)
  for (const { wallet } of users) {
    for (const path of ['activity', 'value', 'user-stats']) {
      paths.push(`${urls.data}/v2/${path}?user=${wallet.address}&limit=500`)
    }
    for (const status of ['OPEN', 'CLOSED']) {
      const query = `user=${wallet.address}&status=${status}&sort_by=TIMESTAMP`
      paths.push(`${urls.data}/v2/positions?${query}`)
    }
    paths.push(`${urls.data}/v2/trades?user=${wallet.address}&taker_only=false&limit=1000`)
  }
  paths.push(`${urls.data}/v2/trades?limit=1000&taker_only=false`)
  for (const { listing } of world.markets('a')) {
    paths.push(`${urls.data}/v2/holders?condition=${listing.nativeId}`)
    paths.push(`${urls.clob}/prices-history?market=${listing.tokens[0]}&interval=1h`)
  }
  const range = `start_ts=${nowS - 7_200}&end_ts=${nowS - 60}`
  for (const { listing } of world.markets('b')) {
    const market = `${urls.kalshiRest}/markets/${listing.nativeId}`
    paths.push(`${urls.kalshiRest}/markets/trades?ticker=${listing.nativeId}&limit=1000`)
    paths.push(
      `${market.replace('/markets', '/series/TEST/markets')}/candlesticks?${range}&period_interval=1`,
    )
  }
  for (const status of ['settled', 'open']) {
    paths.push(`${urls.kalshiRest}/markets?status=${status}`)
  }
  const answers = new Map<string, unknown>()
  for (const path of paths) {
    const response = await fetch(path)
    assert.equal(response.status, 200, path)
    // The port number differs between runs.
    answers.set(path.replace(/^http:\/\/[^/]+/, ''), pastOf(await response.json()))
  }
  return answers
}

/** Removes fields that depend on the current book, because books are not persisted. */
function pastOf(answer: unknown): unknown {
  const present =
    /^(yes|no)_(bid|ask)|^updated_time$|^current_(price|value)|^(unrealized|total)_pnl|^percent|^value$/
  const text = JSON.stringify(answer, (key, value) => (present.test(key) ? undefined : value))
  return JSON.parse(text)
}

test('serves the same history after the simulator was stopped, and the last saved history after it was killed', async (t) => {
  const folder = tempFolder(t)
  const clock = new ManualClock(NOON)
  let simulator = await start(clock, folder)
  t.after(() => simulator.stop())
  run(clock, 46)
  const txHashes = new Set<string>()
  for (const isKilled of isLong ? [true, false, true] : [true, false]) {
    run(clock, 6)
    run(clock, 240, 20 * SECOND_MS)
    await fetch(`${simulator.urls.gamma}/sim/state?action=pause`)
    // The simulator saves the world once a minute.
    clock.advance(60 * SECOND_MS)
    const before = { ledgers: ledgersOf(simulator.wallets), answers: await answersOf(simulator) }
    const trades = simulator.world.trades('a').map(({ id }) => id)
    assert.equal(new Set(trades).size, trades.length, 'no id comes twice')
    // A killed process does not write the file when it ends.
    const saved = readdirSync(folder).map((name) => join(folder, name))
    const texts = saved.map((path) => readFileSync(path))
    await simulator.stop()
    if (isKilled) {
      for (const [index, path] of saved.entries()) writeFileSync(path, texts[index] ?? '')
    }
    simulator = await start(clock, folder)
    assert.deepEqual(ledgersOf(simulator.wallets), before.ledgers)
    const answers = await answersOf(simulator)
    for (const [path, answer] of before.answers) assert.deepEqual(answers.get(path), answer, path)
  }
  const kinds = new Set<string>()
  for (const { events } of simulator.wallets.all()) {
    for (const { kind, txHash, fill } of events) {
      kinds.add(kind)
      if (fill === null) txHashes.add(txHash)
    }
  }
  for (const kind of ['TRADE', 'SPLIT', 'MERGE', 'REDEEM', 'CONVERSION', 'MAKER_REBATE']) {
    assert.ok(kinds.has(kind), `there is a ${kind}`)
  }
})

test('retains simulated wallets across runs and never repeats ids, even when the clock is set back', async (t) => {
  const folder = tempFolder(t)
  const ids = new Set<string>()
  let count = 0
  let owners: readonly string[] = []
  for (let round = 0; round < 3; round += 1) {
    const clock = new ManualClock(NOON)
    const simulator = await start(clock, folder)
    run(clock, 3)
    const { world, wallets } = simulator
    const trades = [...world.trades('a'), ...world.trades('b')].filter(({ id }) => !ids.has(id))
    for (const { id } of trades) ids.add(id)
    count = world.trades('a').length + world.trades('b').length
    assert.ok(trades.length > 20)
    const now = wallets.all().map(({ wallet, eoa }) => `${wallet.address} ${wallet.name} ${eoa}`)
    assert.deepEqual(now.slice(0, owners.length), owners)
    owners = now
    await simulator.stop()
  }
  assert.equal(ids.size, count)
})

test('creates a new simulated world when the snapshot file is invalid', async (t) => {
  const folder = tempFolder(t)
  const clock = new ManualClock(NOON)
  const first = await start(clock, folder)
  run(clock, 3)
  await first.stop()
  const [file] = readdirSync(folder)
  assert.ok(file !== undefined)
  const path = join(folder, file)
  const text = readFileSync(path, 'utf8')
  for (const damaged of [text.slice(0, -9), text.replace('"format":2', '"format":1'), '{}']) {
    writeFileSync(path, damaged)
    const second = await start(clock, folder)
    assert.deepEqual(second.world.trades('a'), [])
    run(clock, 3)
    assert.ok(second.world.trades('a').length > 0)
    await second.stop()
  }
})

test('restores the saved state of a simulated world, except the oldest trades and events', (t) => {
  const file = join(tempFolder(t), 'world.json')
  let clock = new ManualClock(NOON)
  const open = () => opened(clock, file, { plan: plan(), messagesPerSecond: 1_500, countMax: 400 })
  const facts = ({ world, wallets }: ReturnType<typeof open>) => ({
    ledgers: ledgersOf(wallets),
    trades: { a: world.trades('a').map(({ id }) => id), b: world.trades('b').map(({ id }) => id) },
    counts: [world.droppedTradeCount('a'), world.droppedTradeCount('b')],
    markets: world
      .markets('a')
      .map((market) => [market.volumeTotal, market.volume24h, market.lastTrade?.id]),
  })
  let current = open()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (let elapsed = 0; elapsed < 6 * SECOND_MS; elapsed += 20) {
      clock.advance(20)
      current.world.step()
    }
    const before = facts(current)
    const savedMs = clock.nowMs()
    save(clock, file, current)
    clock = new ManualClock(savedMs)
    current = open()
    assert.deepEqual(facts(current), before)
  }
  assert.ok(current.world.droppedTradeCount('a') > 300)
  assert.ok(current.wallets.all().some(({ droppedEventCount }) => droppedEventCount > 0))
})

test('restores activity in markets that no request listed between two runs', (t) => {
  const folder = tempFolder(t)
  const clock = new ManualClock(NOON)
  const calendar = new Calendar({ seed: 3, marketsPerVenue: 60 })
  const file = join(folder, 'world.json')
  const open = () => opened(clock, file, { plan: calendar, messagesPerSecond: 600 })
  const first = open()
  for (let elapsed = 0; elapsed < 5 * SECOND_MS; elapsed += 20) {
    clock.advance(20)
    first.world.step()
  }
  const before = ledgersOf(first.wallets)
  save(clock, file, first)
  clock.advance(3 * 86_400_000)
  const second = open()
  assert.deepEqual(ledgersOf(second.wallets), before)
  const traded = new Set(second.world.trades('a').map(({ market }) => market))
  const removed = [...traded].filter(
    ({ listing }) => second.world.market('a', listing.nativeId) === null,
  )
  assert.ok(removed.length > 0, 'some of the markets are listed no more')
  for (const market of removed) {
    const planned = calendar.eventNumbered('a', market.event.number)
    assert.deepEqual(
      planned?.markets.map(({ listing }) => listing),
      market.event.markets.map(({ listing }) => listing),
    )
    assert.equal(market.status, 'resolved')
  }
  const existing = new Map(calendar.eventsAt(NOON).map((each) => [each.event.nativeId, each]))
  for (const { event } of removed) {
    assert.deepEqual(calendar.eventNumbered('a', event.number), existing.get(event.nativeId))
  }
})

test('omits the volume of a market whose first trade occurs while the snapshot file is written', (t) => {
  const file = join(tempFolder(t), 'world.json')
  const clock = new ManualClock(NOON)
  const open = () => opened(clock, file, { plan: plan(), messagesPerSecond: 600, hasPast: false })
  const { world, wallets: ledgers } = open()
  const [market] = world.markets('a')
  const [wallet] = world.wallets
  assert.ok(market !== undefined && wallet !== undefined)
  // A conversion adds a holding in a market without trades.
  ledgers.holding(ledgers.account(wallet, NOON), market)
  const { volumeTotal } = market
  const trade = () => {
    for (let steps = 0; market.lastTrade === null && steps < 2_000; steps += 1) {
      clock.advance(20)
      world.step()
    }
  }
  runToEnd(writeSnapshot(file, { world, ledgers }, trade))
  assert.notEqual(market.lastTrade, null)
  const restored = open().world.market('a', market.listing.nativeId)
  assert.equal(restored?.lastTrade, null)
  assert.equal(restored.volumeTotal, volumeTotal)
})

/** Saves the current state while the world continues to step. */
function save(
  clock: ManualClock,
  file: string,
  { world, wallets: ledgers }: ReturnType<typeof opened>,
): void {
  let isCaptured = false
  const work = writeSnapshot(file, { world, ledgers }, () => {
    isCaptured = true
  })
  for (let slices = 0; work.next().done !== true; slices += 1) {
    if (!isCaptured || slices % 100 !== 0) continue
    clock.advance(20)
    world.step()
  }
}

/** Restores a world and its wallets from the file, or creates a new world if the file does not exist. */
function opened(
  clock: ManualClock,
  file: string,
  options: { plan: Plan; messagesPerSecond: number; countMax?: number; hasPast?: boolean },
) {
  const { plan, messagesPerSecond, countMax = 100_000, hasPast = true } = options
  const earlier = readSnapshot(file)
  const world = new SimulatedWorld({
    ...{ seed: 3, messagesPerSecond, plan, clock, earlier, tradeCountMax: countMax },
    ...{ faults: new Faults([], seededRandom(1)), random: seededRandom('world', clock.nowMs()) },
  })
  const wallets = new WalletLedgers({ world, bornMs: world.bornMs, countMax })
  if (earlier !== null) restoreSnapshot(earlier, world, wallets)
  else if (hasPast) world.emitPast()
  return { world, wallets }
}
