import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { timeMs } from '../../../../../engine/units.ts'
import type { WireTrade } from '../../../../../engine/venues/polymarket/messages.ts'
import { BackFill } from '../../../../../engine/venues/polymarket/trades/back-fill.ts'
import {
  readTrade,
  TradeLedger,
  type TradeRow,
  tradeId,
} from '../../../../../engine/venues/polymarket/trades/trade-ledger.ts'
import { ManualClock } from '../../../../support/fakes/manual-clock.ts'

const FIRST_S = 1_795_000_000
const SECONDS = 40

/** Two transactions per second, each with two equal fills. */
function rowsOf(): TradeRow[] {
  return Array.from({ length: 4 * SECONDS }, (_, index) => {
    const transaction = Math.floor(index / 2)
    const read = readTrade({
      proxyWallet: '0xaa',
      asset: '111',
      conditionId: '0xabc',
      side: 'BUY',
      size: 25,
      price: 0.42,
      timestamp: FIRST_S + Math.floor(transaction / 2),
      transactionHash: `0x${transaction}`,
    })
    assert.ok(typeof read !== 'string')
    return read
  })
}

function open() {
  const clock = new ManualClock()
  const stopping = new AbortController()
  const rows = rowsOf()
  const ids: string[] = []
  let ofTurn = 0
  const seen = { most: 0 }
  const emit = (event: { readonly kind: string; readonly nativeId?: string }): void => {
    ids.push(event.nativeId ?? '')
    ofTurn += 1
    seen.most = Math.max(seen.most, ofTurn)
    clock.advance(1)
  }
  const ledger = new TradeLedger({ emit, onSuspicion: () => assert.fail('nothing is doubtful') })
  const backFill = new BackFill({
    ...{ clock, ledger, emit, signal: stopping.signal },
    walk: {
      async read(range, onRows) {
        await onRows(rows)
        const newestMs = timeMs(FIRST_S * 1_000)
        return {
          completeFromMs: range.fromMs,
          suspectReason: null,
          newestMs,
          provenToMs: range.toMs,
        }
      },
    },
    counters: { trouble: () => assert.fail('no tail is left out') },
    onGivenUp: () => assert.fail('no read failed'),
  })
  const range = { fromMs: timeMs(FIRST_S * 1_000), toMs: timeMs((FIRST_S + SECONDS) * 1_000) }
  const sync = { isOver: false }
  const fetch = async (): Promise<void> => {
    await backFill.fetch({ market: null, source: 'backfill', ...range })
    sync.isOver = true
  }
  /** Calls `between` in each event-loop tick until the back-fill ends. */
  const read = async (between: () => void): Promise<void> => {
    const fetching = fetch()
    while (!sync.isOver) {
      await nextTurn()
      ofTurn = 0
      between()
    }
    await fetching
  }
  return { rows, ids, seen, ledger, read, stopping, clock }
}

test('emits complete transactions in each tick, and no trade that the stream emitted during the back-fill', async () => {
  const { rows, ids, seen, ledger, read, clock } = open()
  let ticks = 0
  await read(() => {
    ticks += 1
    // The stream sends one fill before the back-fill does, and repeats a fill that the back-fill emitted.
    const later = rows[2 * ticks + 20]
    if (ticks === 3 && later !== undefined) ledger.addMatched(later, clock.nowMs())
    const given = rows[0]
    if (ticks === 5 && given !== undefined) ledger.addMatched(given, clock.nowMs())
  })
  const wanted = rows.map((row, index) => tradeId({ row, n: index % 2 }))
  assert.deepEqual([...new Set(ids)].sort(), wanted.sort())
  assert.equal(ids.length, wanted.length + 1, 'the fill that the stream sent first has the same id')
  assert.ok(ticks >= 2 * SECONDS, `${ticks} ticks`)
  assert.ok(seen.most <= 3, `${seen.most} in a tick`)
})

test('emits no trade after stop', async () => {
  const { ids, read, stopping } = open()
  await read(() => {
    if (ids.length >= 10) stopping.abort()
  })
  assert.equal(ids.length, 10)
})

test('splits trade rows into the fills of their makers, or emits a row as one trade when its makers are missing', async () => {
  const clock = new ManualClock(FIRST_S * 1_000)
  const read = (more: Partial<WireTrade>) => {
    const given = readTrade({
      ...{ proxyWallet: '0xaa', asset: '111', conditionId: '0xabc', side: 'BUY' as const },
      ...{ size: 10, price: 0.507, timestamp: FIRST_S - 60, transactionHash: '0x1', ...more },
    })
    assert.ok(typeof given !== 'string')
    return given
  }
  const sold = { side: 'SELL', size: 3, price: 0.5, proxyWallet: '0xbb' } as const
  const makers = [read(sold), read({ ...sold, size: 7, price: 0.51, proxyWallet: '0xcc' })]
  const rows = [read({}), read({ transactionHash: '0x2' })]
  const requested: boolean[] = []
  const ids: string[] = []
  const emit = (event: { readonly kind: string; readonly nativeId?: string }): void =>
    void ids.push(event.nativeId ?? '')
  const ledger = new TradeLedger({ emit, onSuspicion: () => assert.fail('nothing is doubtful') })
  const backFill = new BackFill({
    ...{ clock, ledger, emit, signal: new AbortController().signal },
    walk: {
      async read({ fromMs, isTakerOnly = true }, onRows) {
        requested.push(isTakerOnly)
        await onRows(isTakerOnly ? rows : [...rows, ...makers])
        const ends = { newestMs: null, provenToMs: clock.nowMs() }
        return { completeFromMs: fromMs, suspectReason: null, ...ends }
      },
    },
    counters: { trouble: () => undefined },
    onGivenUp: () => assert.fail('the back-fill must not fail'),
  })
  const toMs = timeMs(clock.nowMs() - 30_000)
  const range = { market: null, fromMs: timeMs(0), toMs, source: 'backfill' } as const
  await backFill.fetch(range)
  const start = (hash: string) => `${hash}-111-0xaa-buy`
  const expected = [
    `${start('0x1')}-3000000-500000-0`,
    `${start('0x1')}-7000000-510000-0`,
    `${start('0x2')}-10000000-507000-0`,
  ]
  assert.deepEqual(ids, expected)
  await backFill.fetch(range)
  assert.deepEqual(ids.slice(3), expected, 'the same trades again')
  assert.deepEqual(requested, [true, false, true], 'makers are requested once')
})
