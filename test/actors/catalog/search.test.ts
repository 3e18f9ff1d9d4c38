import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MarketSearch, type MarketText } from '../../../actors/catalog/search.ts'
import { EngineError } from '../../../engine/errors.ts'
import { requestDeadlineMs } from '../../../engine/limits.ts'
import type { MarketListing } from '../../../engine/market/market.ts'
import { openPool } from '../../../engine/pool.ts'
import { silentLog } from '../../../engine/process/log.ts'
import { openSearch, openSearchThread, type SearchPort } from '../../../engine/search/search.ts'
import {
  isSearchResult,
  type SearchResult,
  type SearchTask,
} from '../../../engine/search/searcher.ts'
import { ManualClock } from '../../support/fakes/manual-clock.ts'
import { listing } from '../../support/worlds/builders.ts'

test('finds a market by the words of its latest listing, and does not find the market after its removal', async () => {
  const { search, found } = bench(openSearch(Number.POSITIVE_INFINITY))
  search.put(1, listing('x', { question: 'Will zebras vote?' }), 'Animals')
  search.put(2, listing('y', { question: 'Will zebras win?' }), null)
  assert.deepEqual(await found('zebras'), [1, 2])
  search.put(1, listing('x', { question: 'Will lions vote?' }), 'Animals')
  assert.deepEqual(await found('zebras'), [2])
  search.remove(1)
  search.remove(1)
  assert.deepEqual(await Promise.all(['lions', 'animals', 'zebras'].map(found)), [[], [], [2]])
  search.put(3, listing('z', { question: 'Will lions vote?' }), null)
  assert.deepEqual(await found('lions'), [3])
})

test('searches questions, events, outcomes, tags and categories of markets in a worker thread', async () => {
  const { search, found } = bench(openSearchThread())
  try {
    const market: MarketListing = {
      ...listing('x', {
        question: 'Who wins?',
        category: 'Sports',
        tags: ['Fußball', 'Copa América'],
      }),
    }
    const outcomes = market.outcomes.map((outcome) => ({ ...outcome, label: 'São Paulo' }))
    search.put(7, { ...market, outcomes }, 'Final of 2026')
    for (const text of ['WINS', 'fin 2026', 'sao pau', 'spor', 'america fußb', 'paulo final who']) {
      assert.deepEqual(await found(text), [7], text)
      assert.deepEqual([...(await search.find(text, false))], [7], text)
    }
    assert.deepEqual(await found('wins zebra'), [])
  } finally {
    await search.close()
  }
})

test('includes in a search every market change that was queued before the search', async () => {
  const { search, found } = bench(openSearch(Number.POSITIVE_INFINITY))
  for (let number = 1; number <= 1_000; number += 1) search.put(number, zebra, null)
  const first = found('zebra')
  search.remove(1)
  search.put(1_001, zebra, null)
  const second = found('zebra')
  assert.equal((await first).length, 1_000)
  assert.deepEqual((await second).slice(-2), [1_000, 1_001])
})

test('sends nothing to the search thread before `release` is called, and all market texts afterwards', async () => {
  const { search, found, port } = bench(openSearch(Number.POSITIVE_INFINITY))
  const all = Array.from({ length: 300 }, (_, position) => position + 1)
  search.rebuildFrom(() => all.map((number) => ({ number, summary: zebra, eventTitle: null })))
  search.hold()
  for (const number of all) search.put(number, zebra, null)
  const early = found('zebra')
  for (let tick = 0; tick < 5; tick += 1) await new Promise((resolve) => setImmediate(resolve))
  assert.equal(port.given.length, 0)
  search.release()
  search.put(301, zebra, null)
  search.remove(1)
  assert.equal((await early).length, 300, 'the search was started before the release')
  assert.equal((await found('zebra')).length, 300)
  assert.deepEqual((await found('zebra')).slice(0, 1), [2])
})

test('sends market changes to the search thread in small batches with the latest state of each market', async () => {
  const { search, found, port } = bench(openSearch(Number.POSITIVE_INFINITY))
  for (let round = 0; round < 3; round += 1) {
    for (let number = 1; number <= 1_000; number += 1) search.put(number, zebra, null)
  }
  for (let number = 1; number <= 400; number += 1) search.remove(number)
  assert.equal((await found('zebra')).length, 600)
  const sizes = port.given.flatMap((task) =>
    task.kind === 'change' ? [task.texts.numbers.length + task.removed.length] : [],
  )
  assert.ok(Math.max(...sizes) <= 256, `${sizes}`)
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    1_000,
  )
})

test('rejects a search when the search queue is full or the wait is too long', async () => {
  const port = slowPort()
  const { search, clock, found } = bench(port)
  search.put(1, zebra, null)
  const waiting = Array.from({ length: 64 }, () => search.find('zebra'))
  await assert.rejects(search.find('zebra'), isUnavailable)
  clock.advance(requestDeadlineMs)
  for (const find of waiting) await assert.rejects(find, isUnavailable)
  const late = found('zebra')
  port.answerAll()
  assert.deepEqual(await late, [1])
  assert.equal(clock.timerCount, 0)
})

test('rebuilds a lost search index from all market texts while searches wait', async () => {
  const port = losingPort()
  const texts = new Map<number, MarketText>()
  const { search, found } = bench(port, texts)
  const put = (number: number) => {
    texts.set(number, { number, summary: zebra, eventTitle: null })
    search.put(number, zebra, null)
  }
  for (let number = 1; number <= 300; number += 1) put(number)
  assert.equal((await found('zebra')).length, 300)
  port.lose()
  const waiting = found('zebra')
  put(301)
  texts.delete(1)
  search.remove(1)
  assert.ok([300, 301].includes((await waiting).length))
  assert.deepEqual((await found('zebra')).slice(0, 1), [2])
  assert.equal((await found('zebra')).length, 300)
  port.lose()
  put(302)
  assert.equal((await found('zebra')).length, 301)
})

test('rejects the running search when the search thread exits, then starts a new thread and rebuilds the index', async () => {
  const thread = openPool<SearchTask, SearchResult>({
    worker: new URL('../../support/worlds/ending-search.ts', import.meta.url),
    threads: 1,
    isPersistent: true,
    queueMax: 2,
    timeoutMs: 600_000,
    isResult: isSearchResult,
  })
  const texts = new Map([[3, { number: 3, summary: zebra, eventTitle: null }]])
  const { search, found } = bench(thread, texts)
  try {
    search.put(3, zebra, null)
    assert.deepEqual(await found('zebra'), [3])
    const [ending, waiting] = [search.find('end this thread'), found('zebra')]
    await assert.rejects(ending, isUnavailable)
    assert.deepEqual(await waiting, [3])
  } finally {
    await search.close()
  }
})

test('reads all market texts for the search index in small time slices', async () => {
  const port = losingPort()
  let walkedCount = 0
  const walk = function* () {
    for (let number = 1; number <= 1_000; number += 1) {
      walkedCount += 1
      yield { number, summary: zebra, eventTitle: null }
    }
  }
  const { search, found } = bench(port, { values: walk })
  search.put(1, zebra, null)
  await found('zebra')
  port.lose()
  const walkedBefore: number[] = []
  port.onTask = () => walkedBefore.push(walkedCount)
  assert.equal((await found('zebra')).length, 1_000)
  const steps = walkedBefore.map((count, index) => count - (walkedBefore[index - 1] ?? 0))
  assert.ok(steps.length >= 4 && Math.max(...steps) <= 257, `${steps}`)
})

test('rejects searches at once while the search thread is down, and starts a new thread after a second', async () => {
  const port = losingPort()
  const texts = new Map([[1, { number: 1, summary: zebra, eventTitle: null }]])
  const { search, clock, found } = bench(port, texts)
  port.isBroken = true
  search.put(1, zebra, null)
  await assert.rejects(search.find('zebra'), isUnavailable)
  await assert.rejects(search.find('zebra'), isUnavailable)
  clock.advance(1_000)
  await assert.rejects(search.find('zebra'), isUnavailable)
  port.isBroken = false
  assert.equal(clock.timerCount, 1)
  clock.advance(1_000)
  assert.deepEqual(await found('zebra'), [1])
  port.isBroken = true
  await assert.rejects(search.find('zebra'), isUnavailable)
  port.isBroken = false
  assert.deepEqual(await found('zebra'), [1])
})

test('rejects queued and new searches after close, and leaves no running timer', async () => {
  const port = slowPort()
  const { search, clock } = bench(port)
  search.put(1, zebra, null)
  const waiting = search.find('zebra')
  await Promise.all([assert.rejects(waiting, isUnavailable), search.close()])
  await assert.rejects(search.find('zebra'), isUnavailable)
  search.put(2, zebra, null)
  search.remove(1)
  assert.equal(clock.timerCount, 0)
})

const zebra = listing('zebra', { question: 'Will a zebra win?' })
const ascending = (one: number, other: number) => one - other
const isUnavailable = (error: unknown) =>
  error instanceof EngineError && error.code === 'UNAVAILABLE'

function bench<Port extends SearchPort>(
  inner: Port,
  texts: { values(): Iterable<MarketText> } = new Map<number, MarketText>(),
) {
  const given: SearchTask[] = []
  const port = {
    given,
    run: (task: SearchTask) => {
      given.push(task)
      return inner.run(task)
    },
    close: () => inner.close(),
  }
  const clock = new ManualClock()
  const search = new MarketSearch({ port, clock, log: silentLog })
  search.rebuildFrom(() => texts.values())
  const found = async (text: string) => [...(await search.find(text))].sort(ascending)
  return { search, clock, found, port }
}

function slowPort(): SearchPort & { answerAll(): void } {
  const inner = openSearch(Number.POSITIVE_INFINITY)
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return {
    run: (task) => opened.then(() => inner.run(task)),
    close: () => inner.close(),
    answerAll: () => open(),
  }
}

function losingPort() {
  let inner = openSearch(Number.POSITIVE_INFINITY)
  const port = {
    isBroken: false,
    onTask: (): void => undefined,
    lose: () => {
      inner = openSearch(Number.POSITIVE_INFINITY)
    },
    async run(task: SearchTask): Promise<SearchResult> {
      port.onTask()
      if (port.isBroken) throw new EngineError('INTERNAL', 'the work failed')
      return inner.run(task)
    },
    close: () => inner.close(),
  }
  return port
}

test('alternates between the searches of two clients, and rejects searches of the client that sends too many', async () => {
  const slow = slowPort()
  const { search, port } = bench(slow)
  const flood = Array.from({ length: 100 }, (_, index) =>
    search.find(`flood${index}`, true, ['flood', '10.0.0.1']).catch((error: unknown) => error),
  )
  const other = search.find('bystander', true, ['other', '10.0.0.2'])
  slow.answerAll()
  assert.equal((await other).length, 0)
  const texts = port.given.flatMap((task) => (task.kind === 'find' ? [task.text] : []))
  assert.equal(texts[1], 'bystander')
  const refused = (await Promise.all(flood)).filter((answer) => answer instanceof EngineError)
  assert.equal(refused.length, 100 - 64 + 1)
  assert.ok(refused.every((error) => error instanceof EngineError && error.retryAfterSeconds === 1))
  await search.close()
})
