import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { TapeRecorder } from '../../../actors/tape/tape-recorder.ts'
import { countedChannelOf, type Update } from '../../../engine/events.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { Metrics } from '../../../engine/process/metrics.ts'
import { type Random, seededRandom } from '../../../engine/random.ts'
import { type TapeDisk, tapeDisk } from '../../../engine/tape/disk.ts'
import type { TapeTask } from '../../../engine/tape/tape-task.ts'
import { TapeTaskRunner } from '../../../engine/tape/task-runner.ts'
import type { TapeSelection } from '../../../engine/tape-selection.ts'
import type { TapeItem } from '../../../storage/records/tape-items.ts'
import { Tape, type TapeRecord } from '../../../storage/tape/tape.ts'
import { FakeEngine } from '../../support/fakes/engine.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import type { FakeMarket } from '../../support/fakes/market.ts'
import { testFolder } from '../../support/rigs/data-folder.ts'
import { ask, bid, level } from '../../support/worlds/builders.ts'
import { bookText, tapeSettings } from '../../support/worlds/tape-world.ts'

const ROOT = testFolder('tape-recorder')
const ALL = { fromUs: 0, toUs: Number.MAX_SAFE_INTEGER }
/** Five minutes before an hour begins. */
const START_MS = Date.UTC(2026, 10, 20, 12, 55)

/** What a subscriber has: each update, and each book after it. */
class Subscriber {
  readonly name = 'subscriber'
  readonly updates: Update[] = []
  readonly books = new Map<string, { atMs: number; book: string }[]>()
  readonly #engine: FakeEngine

  constructor(engine: FakeEngine) {
    this.#engine = engine
  }

  onUpdate(update: Update): void {
    this.updates.push(update)
    if (!('market' in update) || update.market === null) return
    const { id, number } = update.market
    const book = this.#engine.catalog.byNumber(number)?.book()
    if (book === undefined) return
    const history = this.books.get(id) ?? []
    history.push({ atMs: this.#engine.clock.nowMs(), book: stateText(book) })
    this.books.set(id, history)
  }

  bookAt(id: string, atMs: number): string | null {
    return this.books.get(id)?.findLast((entry) => entry.atMs <= atMs)?.book ?? null
  }
}

/** Advances by one microsecond with each reading. */
class RunningClock extends ManualClock {
  #reads = 0

  override monotonicMs(): number {
    this.#reads += 1
    return super.monotonicMs() + this.#reads / 1_000
  }
}

const stateText = (book: Parameters<typeof bookText>[0] & { seq: number; isStale: boolean }) =>
  `${book.seq} ${book.isStale} ${bookText(book)}`

interface Rig {
  readonly folder: string
  readonly clock: ManualClock
  readonly engine: FakeEngine
  readonly subscriber: Subscriber
  readonly recorder: TapeRecorder
}

/** Rejects tasks while `isDown` is set; delays them while `hold` is a promise. */
interface Faults {
  isDown: boolean
  hold: Promise<void> | null
}

async function record(
  name: string,
  set: {
    readonly faults?: Faults
    readonly disk?: TapeDisk
    readonly selection?: TapeSelection
    readonly epoch?: string
    readonly clock?: ManualClock
  } = {},
): Promise<Rig> {
  const folder = join(ROOT, name)
  const clock = set.clock ?? new ManualClock(START_MS)
  const engine = new FakeEngine(clock)
  const subscriber = new Subscriber(engine)
  engine.publisher.watch(subscriber)
  const runner = new TapeTaskRunner(set.disk ?? tapeDisk)
  const port = {
    async run(task: TapeTask) {
      await set.faults?.hold
      if (set.faults?.isDown === true) throw new Error('the thread is down')
      return runner.run(task)
    },
    close: async () => undefined,
  }
  const recorder = new TapeRecorder({
    ...{ clock, log: silentLog, metrics: new Metrics(), port, venues: ['a', 'b'] },
    ...{ publisher: engine.publisher, catalog: engine.catalog },
    settings: tapeSettings(folder, { epoch: set.epoch ?? engine.epoch }),
    selection: set.selection ?? { kind: 'all' },
  })
  engine.publisher.watch(recorder)
  await recorder.start()
  return { folder, clock, engine, subscriber, recorder }
}

/** A random event of a market, including those that faults of a venue cause. */
function act(market: FakeMarket, random: Random): void {
  const price = (1 + random.below(49)) / 100
  const size = random.below(4) === 0 ? 0 : 1 + random.below(500)
  const kind = random.below(40)
  if (kind < 24) market.change(random.below(2) === 0 ? bid(price, size) : ask(1 - price, size))
  else if (kind < 30) market.change(bid(price, size), ask(1 - price, size + 1))
  else if (kind < 33) market.trade()
  else if (kind < 36) market.reprice(10_000 * (1 + random.below(98)))
  else if (kind === 36) market.markStale(random.below(2) === 0 ? 'silent' : 'disconnected')
  else if (kind === 37) market.confirm()
  else if (kind === 38) market.replace([level(price, size + 1)], [level(1 - price, 5)], 'venue_gap')
  else market.replace([], [level(0.9, 5)], 'delayed')
}

async function advance({ clock }: Rig, ms: number): Promise<void> {
  clock.advance(ms)
  await nextTurn()
}

/** Runs a seeded world. `onStep` injects faults. */
async function run(
  rig: Rig,
  set: { readonly seed: string; readonly steps: number; readonly stepMs: number },
  onStep: (step: number) => Promise<void> | void = () => undefined,
): Promise<void> {
  const random = seededRandom(set.seed)
  const markets = Array.from({ length: 8 }, (_, index) =>
    rig.engine.add(`market-${index}`, { venue: index % 2 === 0 ? 'a' : 'b' }),
  )
  for (let step = 0; step < set.steps; step += 1) {
    act(random.pick(markets), random)
    await onStep(step)
    await advance(rig, 1 + random.below(2 * set.stepMs))
  }
}

const updatesOf = (records: readonly TapeRecord[]) =>
  records.flatMap(({ item }) => (item.kind === 'update' ? [item.update] : []))

const lossesOf = (records: readonly { readonly item: TapeItem }[]) =>
  records.flatMap(({ item }) => (item.kind === 'lost' ? [item] : []))

/** An update by its channel and stamp. */
function stampOf(update: Update): string | null {
  const channel = countedChannelOf(update.kind)
  return channel === null || !('offset' in update) ? null : `${channel} ${update.offset}`
}

function assertBooks({ folder, subscriber, clock }: Rig, trials: number, fromMs = START_MS): void {
  const random = seededRandom('times')
  for (let trial = 0; trial < trials; trial += 1) {
    const atMs = fromMs + random.below(clock.nowMs() - fromMs)
    const fromUs = (atMs + 1) * 1_000
    const books = new Map<string, string>()
    for (const { item, markets } of new Tape(folder).read({
      ...{ fromUs, toUs: fromUs + 1, withStates: true },
    })) {
      if (item.kind !== 'state') continue
      const id = markets.get(item.state.market)?.ref.id
      if (id !== undefined) books.set(id, stateText(item.state.book))
    }
    for (const id of subscriber.books.keys()) {
      assert.equal(books.get(id) ?? null, subscriber.bookAt(id, atMs), `${id} at ${atMs}`)
    }
  }
}

test('records each update once, and the same books as a subscriber has at any time, across the end of an hour', async () => {
  const rig = await record('world')
  await run(rig, { seed: 'world', steps: 2_500, stepMs: 300 })
  await rig.recorder.stop()
  const found = updatesOf([...new Tape(rig.folder).read(ALL)])
  const byVenue = (updates: readonly Update[], venue: string) =>
    updates.filter((update) => 'market' in update && update.market?.venue === venue)
  for (const venue of ['a', 'b']) {
    assert.deepEqual(byVenue(found, venue), byVenue(rig.subscriber.updates, venue))
  }
  assert.deepEqual(found, rig.subscriber.updates)
  assert.deepEqual(
    new Tape(rig.folder).hours().map(({ manifest }) => manifest !== null),
    [...[true, true, false, false]],
  )
  assertBooks(rig, 12)
})

test('records a loss for each update that was not written because of a full disk or a failed thread', async () => {
  const faults: Faults = { isDown: false, hold: null }
  let isFull = false
  const disk: TapeDisk = {
    ...tapeDisk,
    write(file, bytes, position) {
      if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      tapeDisk.write(file, bytes, position)
    },
  }
  const rig = await record('faults', { faults, disk })
  await run(rig, { seed: 'faults', steps: 3_000, stepMs: 200 }, (step) => {
    isFull = step % 700 > 660
    faults.isDown = step % 1_100 > 1_090
  })
  isFull = false
  faults.isDown = false
  await advance(rig, 6_000)
  await advance(rig, 6_000)
  await rig.recorder.stop()
  const records = [...new Tape(rig.folder).read(ALL)]
  const written = updatesOf(records)
  const stamps = written.map(stampOf).filter((stamp) => stamp !== null)
  assert.equal(new Set(stamps).size, stamps.length)
  const losses = lossesOf(records)
  assert.ok(losses.some(({ cause }) => cause === 'disk_full'))
  const found = new Set<string | null>(stamps)
  let lost = 0
  for (const update of rig.subscriber.updates) {
    const channel = countedChannelOf(update.kind)
    if (channel === null || !('offset' in update) || found.has(stampOf(update))) continue
    lost += 1
    const atUs = update.receivedAtMs * 1_000
    const isStated = losses.some(
      ({ offsets, fromUs, toUs }) =>
        offsets.some(
          (range) =>
            range.channel === channel &&
            range.first <= update.offset &&
            update.offset <= range.last,
        ) ||
        (atUs >= fromUs - 1_000 && atUs <= toUs),
    )
    assert.ok(isStated, `${stampOf(update)} at ${atUs}`)
  }
  assert.ok(lost > 50 && lost < 600, `${lost} lost`)
})

test('records complete books after a loss of updates', async () => {
  let isFull = false
  const disk: TapeDisk = {
    ...tapeDisk,
    write(file, bytes, position) {
      if (isFull) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      tapeDisk.write(file, bytes, position)
    },
  }
  const rig = await record('after-loss', { disk })
  await run(rig, { seed: 'after-loss', steps: 900, stepMs: 100 }, (step) => {
    isFull = step > 300 && step < 360
  })
  await rig.recorder.stop()
  const loss = lossesOf([...new Tape(rig.folder).read(ALL)]).at(-1)
  assertBooks(rig, 15, Math.ceil((loss?.toUs ?? 0) / 1_000) + 2_000)
})

test('drops batches of records while the disk is slow, and queues a limited number of bytes', async () => {
  let release: () => void = () => undefined
  const faults: Faults = { isDown: false, hold: null }
  const rig = await record('slow', { faults })
  const markets = Array.from({ length: 8 }, (_, index) => rig.engine.add(`market-${index}`))
  const random = seededRandom('slow')
  const step = async () => {
    act(random.pick(markets), random)
    await advance(rig, 51)
  }
  await step()
  faults.hold = new Promise((resolve) => {
    release = resolve
  })
  for (let count = 0; count < 600; count += 1) await step()
  assert.equal(rig.recorder.status().state, 'slow_disk')
  faults.hold = null
  release()
  for (let count = 0; count < 50; count += 1) await step()
  await rig.recorder.stop()
  const records = [...new Tape(rig.folder).read(ALL)]
  const [loss, ...more] = lossesOf(records)
  assert.deepEqual(more, [])
  assert.equal(loss?.cause, 'slow_disk')
  assert.equal(updatesOf(records).length + (loss?.rows ?? 0) >= rig.subscriber.updates.length, true)
  assert.ok((loss?.rows ?? 0) > 200)
})

test('lists a market before its first update of an hour when the hour begins while the update is recorded', async () => {
  for (const readsBefore of [0, 1, 2, 3]) {
    const clock = new RunningClock(Date.UTC(2026, 10, 20, 12, 59, 59, 999))
    const rig = await record(`hour-${readsBefore}`, { clock })
    const market = rig.engine.add('one')
    for (let read = 0; read < readsBefore; read += 1) clock.monotonicMs()
    for (let count = 0; count < 1_000; count += 1) market.change(bid(0.4, 1 + count))
    await rig.recorder.stop()
    const tape = new Tape(rig.folder)
    const records = [...tape.read(ALL)]
    assert.equal(tape.hours().length, 2)
    assert.deepEqual(lossesOf(records), [])
    assert.deepEqual(updatesOf(records), rig.subscriber.updates)
  }
})

test('records the updates of selected markets and of no other market', async () => {
  const ids = new Set(['venue_a_market-2', 'venue_b_market-5'])
  const rig = await record('selected', { selection: { kind: 'markets', ids } })
  await run(rig, { seed: 'selected', steps: 300, stepMs: 20 })
  await rig.recorder.stop()
  const found = updatesOf([...new Tape(rig.folder).read(ALL)])
  const expected = rig.subscriber.updates.filter(
    (update) => 'market' in update && update.market !== null && ids.has(update.market.id),
  )
  assert.ok(expected.length > 20)
  assert.deepEqual(found, expected)
})

test('continues a recording after the process was killed and after the wall clock was set back', async () => {
  const clock = new ManualClock(START_MS)
  const first = await record('restart', { clock, epoch: 'run1' })
  await run(first, { seed: 'restart', steps: 400, stepMs: 10 })
  await advance(first, 60)
  clock.jumpCalendar(-3_000)
  const second = await record('restart', { clock, epoch: 'run2' })
  await run(second, { seed: 'again', steps: 400, stepMs: 10 })
  await second.recorder.stop()
  const records = [...new Tape(first.folder).read(ALL)]
  assert.deepEqual(
    updatesOf(records.filter(({ epoch }) => epoch === 'run1')),
    first.subscriber.updates,
  )
  assert.deepEqual(
    updatesOf(records.filter(({ epoch }) => epoch === 'run2')),
    second.subscriber.updates,
  )
  const times = records.map(({ us }) => us)
  assert.deepEqual(
    times,
    [...times].sort((one, other) => one - other),
  )
  assert.deepEqual([...new Set(lossesOf(records).map(({ cause }) => cause))], ['killed'])
})

test('records the listing of the matched market on the other venue when an update refers to that market', async () => {
  const rig = await record('foreign')
  const [one, other] = [rig.engine.add('one'), rig.engine.add('other', { venue: 'b' })]
  other.change(bid(0.4, 3))
  const { status, question, slug, eventSlug, outcomes, closeAtMs, settlementPrice, fees } =
    one.summary
  const named = { status, question, slug, eventSlug, outcomes, closeAtMs, settlementPrice, fees }
  const nowMs = rig.clock.nowMs()
  rig.engine.publisher.publish({
    ...{ kind: 'lifecycle', market: one.ref, venueTimeMs: nowMs, receivedAtMs: nowMs },
    ...{ event: 'matched', matchedMarket: other.ref, offset: 1, seq: 1 },
    facts: { ...named, resolutionStatus: 'none' },
  })
  await rig.recorder.stop()
  const records = [...new Tape(rig.folder).read(ALL)]
  assert.deepEqual(lossesOf(records), [])
  assert.deepEqual(
    updatesOf(records).map(({ kind }) => kind),
    ['book', 'lifecycle'],
  )
})
