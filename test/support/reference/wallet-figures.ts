// All figures of a PnL state and of its reference implementation as plain objects.

import assert from 'node:assert/strict'
import { nativeMarketId } from '../../../engine/ids.ts'
import { runToEnd } from '../../../engine/time-slices.ts'
import { HOUR_MS, timeMs } from '../../../engine/units.ts'
import type { FindWalletMarket, WalletEvent } from '../../../engine/wallet.ts'
import type { PnlState } from '../../../engine/wallets/pnl-state.ts'
import { type Difference, reconcile } from '../../../engine/wallets/reconcile.ts'
import type { PnlGranularity, PnlPosition } from '../../../engine/wallets/wallet-figures.ts'
import { NaiveWallet } from './naive/wallet.ts'

const GRANULARITIES: readonly PnlGranularity[] = ['day', 'week', 'month', 'all']

/** Inclusive. */
export type Range = readonly [fromMs: number, toMs: number]

export function accountFigures(counts: PnlState, ranges: readonly Range[]) {
  return {
    positions: [...counts.positions()].sort((one, other) => (one.token < other.token ? -1 : 1)),
    totals: counts.totals(),
    open: counts.openMarkets().sort(),
    ranges: ranges.map(([from, to]) => {
      const [fromMs, toMs] = [timeMs(from), timeMs(to)]
      return {
        sums: counts.between(fromMs, toMs),
        series: GRANULARITIES.map((granularity) => counts.series({ fromMs, toMs, granularity })),
        hours: counts.hours(fromMs),
      }
    }),
  }
}

export function differencesOf(...given: Parameters<typeof reconcile>): Difference[] {
  return runToEnd(reconcile(...given))
}

/** Throws if the wallet never had the token. */
export function positionOf(counts: PnlState, token: string): PnlPosition {
  const position = [...counts.positions()].find((one) => one.token === token)
  assert.ok(position !== undefined, `no position in ${token}`)
  return position
}

export function naiveFigures(
  events: readonly WalletEvent[],
  find: FindWalletMarket,
  ranges: readonly Range[],
): ReturnType<typeof plain> {
  return plain(new NaiveWallet(events, find), find, ranges)
}

function plain(naive: NaiveWallet, find: FindWalletMarket, ranges: readonly Range[]) {
  const positions = [...naive.positions.values()].sort((a, b) => (a.token < b.token ? -1 : 1))
  const markets = [...naive.markets()]
  const closed = markets.filter(([, { isOpen }]) => !isOpen)
  const seconds = naive.seconds()
  const { trades, ...counts } = naive.counts
  return {
    positions: positions.map(({ lostAtMs, updatedAtMs, isCostKnown, ...position }) => ({
      ...position,
      ...numbers(position),
      updatedAtMs: Math.max(lostAtMs, updatedAtMs),
      isCostKnown,
    })),
    totals: {
      realized: sum(positions.map(({ realized }) => realized)),
      markets: markets.length,
      wins: closed.filter(([, { realized, fees }]) => realized > fees).length,
      losses: closed.filter(([, { realized, fees }]) => realized < fees).length,
      ...{ volume: Number(naive.volume), trades },
      ...{ fees: Number(naive.fees), income: Number(naive.income), ...counts },
      comboEvents: naive.comboEvents,
      comboRealized: [...naive.combos.values()].every((left) => left === 0n)
        ? Number(naive.comboCash)
        : null,
      ...{ firstTradeMs: naive.firstTradeMs, lastTradeMs: naive.lastTradeMs },
    },
    open: markets
      .filter(([id, { isOpen }]) => isOpen && (find(nativeMarketId(id))?.payout ?? null) === null)
      .map(([id]) => id)
      .sort(),
    ranges: ranges.map(([fromMs, toMs]) => {
      const inside = seconds.filter(({ atMs }) => atMs >= fromMs && atMs <= toMs)
      const before = sum(seconds.filter(({ atMs }) => atMs < fromMs).map((one) => one.realized))
      const hourStart = Math.floor(fromMs / HOUR_MS) * HOUR_MS
      const hours = grouped(
        seconds.filter(({ atMs }) => atMs >= hourStart),
        (atMs) => Math.floor(atMs / HOUR_MS),
      )
      return {
        sums: sums(inside),
        series: GRANULARITIES.map((granularity) => {
          let toDate = before
          const steps = grouped(
            inside.filter(({ realized }) => realized !== 0n),
            (atMs) => stepStart(granularity, atMs),
          )
          return steps.map(([startMs, rows]) => {
            const { realized } = sums(rows)
            toDate += realized
            return { timeMs: startMs, realized, toDate }
          })
        }),
        hours: hours.map(([hour, rows]) => ({ hour, ...sums(rows) })),
      }
    }),
  }
}

type Second = ReturnType<NaiveWallet['seconds']>[number]

const sum = (values: readonly bigint[]): number =>
  Number(values.reduce((all, one) => all + one, 0n))

const sums = (rows: readonly Second[]) => ({
  realized: sum(rows.map(({ realized }) => realized)),
  volume: sum(rows.map(({ volume }) => volume)),
  trades: rows.reduce((count, { trades }) => count + trades, 0),
  fees: sum(rows.map(({ fees }) => fees)),
  income: sum(rows.map(({ income }) => income)),
})

function grouped(rows: readonly Second[], keyOf: (atMs: number) => number): [number, Second[]][] {
  const groups = new Map<number, Second[]>()
  for (const row of rows) {
    const group = groups.get(keyOf(row.atMs))
    if (group === undefined) groups.set(keyOf(row.atMs), [row])
    else group.push(row)
  }
  return [...groups]
}

/** A week begins on Monday. */
function stepStart(granularity: PnlGranularity, atMs: number): number {
  if (granularity === 'all') return atMs
  const at = new Date(atMs)
  at.setUTCHours(0, 0, 0, 0)
  if (granularity === 'month') at.setUTCDate(1)
  if (granularity === 'week') at.setUTCDate(at.getUTCDate() - ((at.getUTCDay() + 6) % 7))
  return at.getTime()
}

function numbers(position: Record<string, unknown>): Record<string, number> {
  const found: Record<string, number> = {}
  for (const [name, value] of Object.entries(position)) {
    if (typeof value === 'bigint') found[name] = Number(value)
  }
  return found
}
