// A market page whose book changes many times a second. Takes a few seconds, or an hour with TEST_LONG=1.

import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { seededRandom } from '../../../engine/random.ts'
import { priceMicros, sizeMicros } from '../../../engine/units.ts'
import { after, before, test } from '../../support/browser/browser-test.ts'
import { type FakeDashboard, openFakeDashboard } from '../../support/browser/dashboard.ts'
import { memoryOf, TaskTrace } from '../../support/browser/tab-measures.ts'
import type { FakeMarket } from '../../support/fakes/engine.ts'
import { ask, bid, level } from '../../support/worlds/builders.ts'

const isLong = process.env.TEST_LONG === '1'
const CHANGES_A_SECOND = 60
const MANY_A_SECOND = isLong ? 500 : CHANGES_A_SECOND
const LEVELS = 40
const TASK_MS_MAX = 50
const GROWTH_BYTES_MAX = 5_000_000
const GROWTH_NODES_MAX = 500
const watchSeconds = isLong ? 60 : 5
/** Seconds until the first and the last memory measurement, and the number of measurements. */
const [warmSeconds, endSeconds, checks] = isLong ? [120, 3_720, 7] : [6, 18, 3]

const random = seededRandom('busy')
let dashboard: FakeDashboard
let market: FakeMarket
before(async () => {
  dashboard = await openFakeDashboard()
  market = dashboard.server.engine.add('busy')
  const levels = Array.from({ length: LEVELS }, (_, step) => step + 1)
  market.replace(
    levels.map((step) => level((50 - step) / 100, 100 + step)),
    levels.map((step) => level((50 + step) / 100, 100 + step)),
  )
})
after(() => dashboard.close())

/** Changes one level of the book. Each tenth call also adds a trade, and each twentieth a new price. */
function change(count: number): void {
  const step = 1 + random.below(LEVELS)
  const size = 1 + random.below(500)
  market.change(random.below(2) === 0 ? bid((50 - step) / 100, size) : ask((50 + step) / 100, size))
  if (count % 10 === 0) {
    const price = priceMicros((45 + random.below(10)) * 10_000)
    market.trade({ price, size: sizeMicros(size * 1_000_000) })
  }
  if (count % 20 === 0) market.reprice((45 + random.below(10)) * 10_000)
}

/** `aSecond` is the rate. A late timer makes up for missed changes. */
function startChanges(aSecond: number): { readonly count: () => number; stop(): void } {
  const sinceMs = performance.now()
  let count = 0
  const timer = setInterval(() => {
    const due = ((performance.now() - sinceMs) / 1_000) * aSecond
    while (count < due) change(++count)
  }, 1_000 / CHANGES_A_SECOND)
  return { count: () => count, stop: () => clearInterval(timer) }
}

async function openMarket() {
  const page = await dashboard.open(`#/market/${encodeURIComponent(market.ref.id)}`)
  await page.locator('[data-seq]').first().waitFor()
  return page
}

test('runs no main-thread task longer than 50 ms while a market page receives sixty book updates a second', async (t) => {
  const page = await openMarket()
  const seqOf = async () =>
    Number(await page.locator('[data-seq]').first().getAttribute('data-seq'))
  // Excludes the tasks of opening the page.
  await pause(1_500)
  const seqBefore = await seqOf()
  const trace = await TaskTrace.start(await page.context().newCDPSession(page))
  const changes = startChanges(CHANGES_A_SECOND)
  await pause(watchSeconds * 1_000)
  changes.stop()
  const tasks = await trace.end()
  const shown = (await seqOf()) - seqBefore
  const [longest] = tasks.toSorted((one, other) => other.threadMs - one.threadMs)
  const longestWallMs = Math.max(...tasks.map(({ wallMs }) => wallMs))
  const busyMs = tasks.reduce((sum, { threadMs }) => sum + threadMs, 0)
  t.diagnostic(
    `${changes.count()} changes, ${shown} shown; ${tasks.length} tasks, ${(busyMs / watchSeconds / 10).toFixed(0)} % of a core, the longest ${longest?.threadMs.toFixed(1)} ms (${longestWallMs.toFixed(1)} ms by the clock)`,
  )
  assert.ok(shown > 0 && tasks.length > 0)
  // A short run does not check times, because other tests use the machine.
  if (isLong) {
    assert.ok(changes.count() >= watchSeconds * CHANGES_A_SECOND * 0.9)
    assert.ok(shown >= changes.count() * 0.8, `${shown} of ${changes.count()} are on the page`)
    assert.ok(tasks.length > changes.count(), `${tasks.length} tasks were seen`)
    assert.deepEqual(
      tasks.filter(({ threadMs }) => threadMs > TASK_MS_MAX),
      [],
    )
  }
})

test('grows by less than 5 MB and 500 DOM nodes while a market page receives hundreds of updates a second', async (t) => {
  const page = await openMarket()
  const protocol = await page.context().newCDPSession(page)
  const changes = startChanges(MANY_A_SECOND)
  const sinceMs = performance.now()
  const measured: Awaited<ReturnType<typeof memoryOf>>[] = []
  try {
    for (let check = 0; check < checks; check += 1) {
      const atSeconds = warmSeconds + ((endSeconds - warmSeconds) * check) / (checks - 1)
      await pause(Math.max(0, atSeconds * 1_000 - (performance.now() - sinceMs)))
      const memory = await memoryOf(protocol)
      measured.push(memory)
      t.diagnostic(
        `after ${atSeconds} s and ${changes.count()} changes: ${(memory.heapBytes / 1e6).toFixed(2)} MB, ${memory.nodes} nodes, ${memory.listeners} listeners`,
      )
    }
  } finally {
    changes.stop()
  }
  const [first, last] = [measured[0], measured.at(-1)]
  assert.ok(first !== undefined && last !== undefined)
  const bytes = last.heapBytes - first.heapBytes
  assert.ok(bytes < GROWTH_BYTES_MAX, `${bytes} bytes more`)
  const nodes = last.nodes - first.nodes
  assert.ok(nodes < GROWTH_NODES_MAX, `${nodes} nodes more`)
})
