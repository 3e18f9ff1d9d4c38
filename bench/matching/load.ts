// The matcher as in production, over listed markets and with its thread, to measure event-loop delay: during the first
// indexing and during a full match of all markets. A gate before the thread pauses that work for comparison.

import { setTimeout as pause } from 'node:timers/promises'
import { MatchOverrides } from '../../actors/matches/match-overrides.ts'
import { Matcher } from '../../actors/matches/matcher.ts'
import { Matches } from '../../actors/matches/matches.ts'
import { systemClock } from '../../engine/clock.ts'
import type { MatchTask } from '../../engine/matching/match-task.ts'
import { type MatchPort, openMatchThread } from '../../engine/matching/match-thread.ts'
import { silentLog } from '../../engine/process/log.ts'
import { NAMES } from '../../test/support/worlds/builders.ts'
import type { MatchingWorld } from '../../test/support/worlds/matching-world.ts'
import { type BenchSetting, check, figureRow, type Row, timesRow, withLmdb } from '../harness.ts'
import { LoopLoad, newDelays, timeBeside } from '../loop-delay.ts'
import { listedWorld } from './listed-world.ts'

/** Longer than indexing takes in a large world; the load lasts equally long. */
const FILING_MS_MAX = 120_000
const SAMPLE_EVERY_MS = 20

/** Rows of the event-loop delay and of the matcher's progress; checks its matches. */
export async function timeMatcher(
  world: { readonly seed: number; readonly marketsPerVenue: number },
  planted: MatchingWorld['planted'],
  setting: BenchSetting,
): Promise<Row[]> {
  return withLmdb(async (storage) => {
    const filingMsMax = setting.isSmall ? 2_000 : FILING_MS_MAX
    const load = new LoopLoad(storage, setting, filingMsMax)
    const { publisher } = load
    const { markets, eventOf } = listedWorld(world, { storage, publisher })
    await storage.committed()
    const gate = new Gate(openMatchThread())
    const matches = new Matches()
    const nowMs = () => systemClock.nowMs()
    const matcher = new Matcher({
      ...{ port: gate, clock: systemClock, log: silentLog, publisher, matches, nowMs, eventOf },
      overrides: new MatchOverrides({ table: storage.matchOverrides, find: () => null, nowMs }),
      table: storage.matches,
      market: (number) => markets.get(number) ?? null,
      markets: () => markets.values(),
      readerOf: ({ ref }) => NAMES.of(ref.venue).subjects,
    })
    try {
      setting.say(`the matcher files ${markets.size} markets`)
      const rows = await timeFiling(matcher, gate, { load, filingMsMax })
      const matching = {
        run: async (signal: AbortSignal) => {
          gate.open()
          for (; !signal.aborted; await pause(SAMPLE_EVERY_MS)) {
            if (!matcher.isBusy) matcher.rematch()
          }
          await gate.close()
        },
      }
      rows.push(...(await timeBeside('while all are matched', matching, load, setting)))
      check(load.checked() > 0, 'frames went through')
      const found = checkPairs(matches, planted)
      const requested = `${gate.foundCount} markets looked up, ${found} pairs of twins, none a trap`
      rows.push(figureRow('the matcher meanwhile', requested))
      return rows
    } finally {
      gate.open()
      await matcher.close()
    }
  })
}

/** Indexes every market; ends when the full match starts. */
async function timeFiling(
  matcher: Matcher,
  gate: Gate,
  { load, filingMsMax }: { readonly load: LoopLoad; readonly filingMsMax: number },
): Promise<Row[]> {
  const startedMs = systemClock.monotonicMs()
  const delays = newDelays()
  matcher.start()
  // On a busy machine indexing may outlast the load: then it is awaited.
  for (let loadMs = SAMPLE_EVERY_MS; gate.foundCount === 0 && matcher.isBusy; ) {
    if (loadMs > filingMsMax) await pause(SAMPLE_EVERY_MS)
    else await load.run(delays, SAMPLE_EVERY_MS)
    loadMs += SAMPLE_EVERY_MS
  }
  await gate.close()
  const tookMs = systemClock.monotonicMs() - startedMs
  return [
    timesRow('loop delay while all are filed', delays.all),
    timesRow('loop delay less waits for a processor, the same', delays.own),
    figureRow('filed in', `${(tookMs / 1_000).toFixed(1)} s`),
  ]
}

function checkPairs(matches: Matches, planted: MatchingWorld['planted']): number {
  let count = 0
  for (const { a } of matches.all()) {
    const matchedMarket = matches.matchedMarketOf(a.ref)
    if (matchedMarket === null) continue
    count += 1
    const pair = planted.get(a.ref.nativeId)
    const isTrap = pair?.other === matchedMarket.ref.nativeId && pair.kind !== 'same'
    check(!isTrap, `${a.ref.nativeId} and ${matchedMarket.ref.nativeId} are a trap`)
  }
  check(count > 0, 'pairs were found')
  return count
}

/** The thread behind a gate: while it is closed, the next task waits. */
class Gate implements MatchPort {
  readonly #port: MatchPort
  #isOpen = true
  #opened: Promise<void> = Promise.resolve()
  #open: () => void = () => undefined
  #running: Promise<unknown> = Promise.resolve()
  /** Markets whose matches were searched for. */
  foundCount = 0

  constructor(port: MatchPort) {
    this.#port = port
  }

  async run(task: MatchTask) {
    await this.#opened
    if (task.kind === 'find') this.foundCount += task.numbers.length
    const result = this.#port.run(task)
    this.#running = result.catch(() => undefined)
    return result
  }

  open(): void {
    this.#isOpen = true
    this.#open()
  }

  /** Resolves when the thread is idle. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#opened = new Promise((resolve) => {
      this.#open = resolve
    })
    await this.#running
  }
}
