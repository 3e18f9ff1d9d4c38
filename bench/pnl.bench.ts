// Speed of a large wallet's P&L. Cold: its ledger goes to the thread in packed blocks, and the P&L state is returned
// and decoded on the event loop. Warm: one more fill is added, and totals and a year of days are returned. The same
// through the wallets actor over the disk, and the loop delay while wallets are opened cold. Also the loop time for
// decoding, copying and encoding such a state. The naive reference implementation, with an object per position and big
// integers, processes the same events in the same run.
// Load: fills of a wallet that is in forty markets at a time and leaves each after some twenty fills, mostly by
// redemption. Finally every figure is compared with the reference.
// Excluded: venue, HTTP, disk and actors (except for the wallets actor), and the start of the thread. Its priority is
// lower, so it waits on a busy machine.

import type { Histogram } from 'hdr-histogram-js'
import { systemClock } from '../engine/clock.ts'
import { seededRandom } from '../engine/random.ts'
import { DAY_MS, timeMs } from '../engine/units.ts'
import type { WalletEvent } from '../engine/wallet.ts'
import { LEDGER_BLOCK_EVENTS_MAX, packBlock } from '../engine/wallets/ledger-block.ts'
import { PnlState } from '../engine/wallets/pnl-state.ts'
import { runWalletTask } from '../engine/wallets/wallet-task.ts'
import { openWalletThread, type WalletPort } from '../engine/wallets/wallet-thread.ts'
import { NaiveWallet } from '../test/support/reference/naive/wallet.ts'
import { accountFigures, naiveFigures } from '../test/support/reference/wallet-figures.ts'
import {
  type Bench,
  type BenchSetting,
  check,
  figureRow,
  hashOf,
  newTimes,
  type Row,
  ratioRow,
  record,
  timesRow,
} from './harness.ts'
import { fill, START_MS, type WalletLoad, walletLoad } from './pnl/load.ts'
import { timeWalletsActor } from './pnl/wallets-actor.ts'

const SEED = 9

export const bench: Bench = {
  name: 'pnl',
  question: 'How long does the PnL of a large wallet take, cold from its ledger and warm?',
  excludes: 'the venue, HTTP, the start of the thread; but for the owner the disk and actors',
  async run(setting) {
    const load = walletLoad(setting.isSmall ? 2_000 : 100_000)
    const thread = openWalletThread()
    try {
      const cold = await timeCold(thread, load, setting)
      const pnlState = PnlState.unpack(cold.packed)
      if (pnlState === null) throw new Error('the tally does not open')
      return {
        rows: [
          figureRow('the wallet', `${load.fillCount} fills, ${pnlState.positionCount} positions`),
          ...cold.rows,
          ...timeWarm(pnlState.copy(), load, setting),
          ...timeOnLoop(cold.packed, setting),
          ...(await timeWalletsActor(load, thread, setting)),
        ],
        state: endState(pnlState, load),
      }
    } finally {
      await thread.close()
    }
  },
}

async function timeCold(
  thread: WalletPort,
  load: WalletLoad,
  { isSmall, say: logLine }: BenchSetting,
) {
  const times = newTimes()
  const locationTimes = newTimes()
  const naiveTimes = newTimes()
  let packed = new Uint8Array(0)
  let ledgerBytes = 0
  for (let round = 0; round < (isSmall ? 2 : 9); round += 1) {
    logLine(`cold, round ${round}`)
    const blocks = packedBlocks(load.events)
    ledgerBytes = blocks.reduce((sum, { byteLength }) => sum + byteLength, 0)
    const startedMs = systemClock.monotonicMs()
    const result = await thread.run({ base: null, blocks, markets: load.markets })
    check(result instanceof Uint8Array && PnlState.unpack(result) !== null, 'a tally')
    const tookMs = systemClock.monotonicMs() - startedMs
    const again = packedBlocks(load.events)
    const task = { base: null, blocks: again, markets: load.markets }
    const locationMs = took(() => runWalletTask(task))
    const naiveMs = took(() => new NaiveWallet(load.events, load.find))
    // The first round starts the thread and warms both up.
    if (round === 0) continue
    record(times, tookMs)
    record(locationTimes, locationMs)
    record(naiveTimes, naiveMs)
    if (result instanceof Uint8Array) packed = result
  }
  const rows: Row[] = [
    timesRow('cold: all blocks to an opened tally, through the thread', times),
    timesRow('cold: the same in place', locationTimes),
    timesRow('cold: naive twin in place', naiveTimes),
    ratioRow('cold: naive over ours, both in place, medians', naiveTimes, locationTimes),
    figureRow('cold: fills a second, median', perSecond(load.fillCount, times)),
    figureRow('ledger', `${(ledgerBytes / load.events.length).toFixed(1)} bytes an event`),
    figureRow('tally', `${(packed.byteLength / 2 ** 20).toFixed(2)} MiB`),
  ]
  return { packed, rows }
}

function timeWarm(pnlState: PnlState, load: WalletLoad, { isSmall }: BenchSetting): Row[] {
  const random = seededRandom(SEED, 'warm')
  const applies = newTimes()
  const answers = newTimes()
  const steps = newTimes()
  const last = load.events.at(-1)?.timeMs ?? START_MS
  const open = load.markets.filter(({ payout }) => payout === null)
  for (let round = 0; round < (isSmall ? 20 : 2_000); round += 1) {
    const atMs = last + round * 1_000
    const event = fill(random, { market: random.pick(open), atMs, isBuy: true })
    const applyMs = took(() => pnlState.apply(event, load.find))
    const range = { fromMs: timeMs(atMs - 365 * DAY_MS), toMs: timeMs(atMs) }
    const answerMs = took(() => {
      pnlState.totals()
      pnlState.between(timeMs(atMs - 30 * DAY_MS), range.toMs)
      pnlState.series({ ...range, granularity: 'day' })
    })
    record(applies, applyMs)
    record(answers, applyMs + answerMs)
    if (round % 20 === 0)
      record(
        steps,
        took(() => pnlState.series({ ...range, granularity: 'all' })),
      )
  }
  return [
    timesRow('warm: one fill taken in', applies),
    timesRow('warm: one fill, totals, thirty days and a year of days', answers),
    timesRow('warm: every moment of a year as a point', steps),
  ]
}

/** Event-loop time of decoding, copying and encoding. */
function timeOnLoop(packed: Uint8Array<ArrayBuffer>, { isSmall }: BenchSetting): Row[] {
  const opens = newTimes()
  const copies = newTimes()
  const packs = newTimes()
  for (let round = 0; round < (isSmall ? 5 : 100); round += 1) {
    const bytes = packed.slice()
    let pnlState: PnlState | null = null
    record(
      opens,
      took(() => (pnlState = PnlState.unpack(bytes))),
    )
    if (pnlState === null) continue
    const opened: PnlState = pnlState
    record(
      copies,
      took(() => opened.copy()),
    )
    record(
      packs,
      took(() => opened.pack()),
    )
  }
  return [
    timesRow('on the loop: opened from bytes', opens),
    timesRow('on the loop: copied', copies),
    timesRow('on the loop: packed', packs),
  ]
}

function endState(pnlState: PnlState, { events, find }: WalletLoad) {
  const ranges = [[START_MS, START_MS + 90 * DAY_MS]] as const
  const figures = accountFigures(pnlState, ranges)
  const ours = JSON.stringify(sorted(figures))
  check(ours === JSON.stringify(sorted(naiveFigures(events, find, ranges))), 'the twin’s figures')
  return {
    hash: hashOf([ours]),
    checked: `${figures.positions.length} positions, totals and series are the naive twin’s`,
    isRepeatable: true,
  }
}

/** Sorts the fields of every object. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const fields = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return Object.fromEntries(fields.map(([name, field]) => [name, sorted(field)]))
}

function took(work: () => unknown): number {
  const startedMs = systemClock.monotonicMs()
  work()
  return systemClock.monotonicMs() - startedMs
}

function perSecond(count: number, times: Histogram): string {
  const seconds = times.getValueAtPercentile(50) / 1e9
  return `${Math.round(count / Math.max(seconds, 1e-9)).toLocaleString('en')}`
}

function packedBlocks(events: readonly WalletEvent[]): Uint8Array[] {
  const blocks: Uint8Array[] = []
  for (let start = 0; start < events.length; start += LEDGER_BLOCK_EVENTS_MAX) {
    blocks.push(packBlock(events.slice(start, start + LEDGER_BLOCK_EVENTS_MAX)))
  }
  return blocks
}
