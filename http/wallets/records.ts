// Converts profile, profits and ranks of wallets to JSON. Amounts in dollars equal their integer micro-dollars.
// Quotients are rounded to six decimals.

import { Type } from '@sinclair/typebox'
import {
  type RankedWallet,
  WALLET_WINDOWS,
  type WalletOrder,
  type WalletView,
} from '../../actors/wallets/views.ts'
import { MICROS, type TimeMs, toSeconds, type UsdMicros, usdMicros } from '../../engine/units.ts'
import {
  netRealized,
  type PnlGranularity,
  type PnlPoint,
  type RangeFigures,
  type WalletTotals,
} from '../../engine/wallets/wallet-figures.ts'
import { choice, nullable, pageFields } from '../schemas.ts'

export const PNL_POINTS_MAX = 1_000

const Count = Type.Integer({ minimum: 0 })
const Share = nullable(Type.Number({ minimum: 0, maximum: 1 }))
const Text = nullable(Type.String())
const Moment = nullable(Type.Integer())
/** Fields that accompany profits. Profits are before fees. */
const Beside = {
  fees_paid: Type.Number({
    description: 'Fees of its fills, US dollars; no part of `realized_pnl`.',
  }),
  income: Type.Number({
    description:
      'Rewards, rebates and yield that the venue paid, US dollars; no part of `realized_pnl`.',
  }),
  net_realized_pnl: Type.Number({ description: '`realized_pnl` − `fees_paid` + `income`.' }),
}
const Net = {
  ...Beside,
  net_pnl: Type.Number({
    description:
      '`realized_pnl` + `unrealized_pnl` − `fees_paid` + `income`; unrealised profit is that of now.',
  }),
}
const Combos = nullable(
  Type.Number({
    description:
      'What bets on several markets at once (combos) paid less what was paid for them, fees included, over all time; ' +
      'in no other figure. Null while one is held or its end is not known: no row says that a combo lost.',
  }),
)
const Realized = { realized_pnl: Type.Number(), volume: Type.Number(), trades: Count }
const Range = Type.Object({ ...Realized, ...Net })

export const profileSchema = Type.Object({
  address: Type.String(),
  eoa: Text,
  proxy: Type.String(),
  handle: Text,
  pseudonym: Text,
  image: Text,
  first_trade_at: Moment,
  last_trade_at: Moment,
  metrics: Type.Object({
    total_volume: Type.Number(),
    total_trades: Count,
    total_markets: Count,
    win_count: Count,
    loss_count: Count,
    win_rate: Share,
    realized_pnl: Type.Number(),
    unrealized_pnl: Type.Number(),
    total_pnl: Type.Number(),
    ...Net,
    combo_realized_pnl: Combos,
    merges: Count,
    splits: Count,
    redemptions: Count,
    conversions: Count,
  }),
  windows: Type.Object({
    one_day: Range,
    seven_day: Range,
    thirty_day: Range,
    all_time: Range,
  }),
  is_whale: Type.Boolean(),
  updated_at: Type.Integer(),
})

export const GRANULARITIES: readonly PnlGranularity[] = ['day', 'week', 'month', 'all']

export const pnlSchema = Type.Object({
  address: Type.String(),
  realized_pnl: Type.Number(),
  unrealized_pnl: Type.Number(),
  total_pnl: Type.Number(),
  ...Net,
  combo_realized_pnl: Combos,
  win_count: Count,
  loss_count: Count,
  win_rate: Share,
  total_volume: Type.Number(),
  total_trades: Count,
  granularity: choice(GRANULARITIES),
  pnl_over_time: Type.Array(
    Type.Object({
      timestamp: Type.Integer(),
      pnl_to_date: Type.Number(),
      realized_pnl: Type.Number(),
    }),
  ),
  method: Type.Literal('average_cost'),
  as_of_ms: Type.Integer(),
})

export const WALLET_ORDERS: readonly WalletOrder[] = ['realized_pnl', 'volume']

export const rankingSchema = Type.Object({
  wallets: Type.Array(
    Type.Object({
      rank: Type.Integer({ minimum: 1 }),
      address: Type.String(),
      handle: Text,
      pseudonym: Text,
      image: Text,
      ...Realized,
      ...Beside,
      win_count: Count,
      loss_count: Count,
      win_rate: Share,
      last_trade_at: Moment,
      data_complete: Type.Boolean(),
      as_of: Moment,
    }),
  ),
  total: Count,
  window: choice(WALLET_WINDOWS),
  sort_by: choice(WALLET_ORDERS),
  ...pageFields,
})

/** `address` is the text of the request. */
export function profileRecord(address: string, view: WalletView) {
  const { profile, totals, unrealized } = view
  return {
    address,
    eoa: profile.eoa,
    proxy: profile.proxy,
    handle: profile.handle,
    pseudonym: profile.pseudonym,
    image: profile.image,
    first_trade_at: secondsOf(totals.firstTradeMs),
    last_trade_at: secondsOf(totals.lastTradeMs),
    metrics: {
      total_volume: totals.volume / MICROS,
      total_trades: totals.trades,
      total_markets: totals.markets,
      ...resultRecord(totals),
      realized_pnl: totals.realized / MICROS,
      unrealized_pnl: unrealized / MICROS,
      total_pnl: (totals.realized + unrealized) / MICROS,
      ...netRecord(totals, unrealized),
      combo_realized_pnl: dollarsOf(totals.comboRealized),
      merges: totals.merges,
      splits: totals.splits,
      redemptions: totals.redemptions,
      conversions: totals.conversions,
    },
    windows: Object.fromEntries(
      WALLET_WINDOWS.map((name) => {
        const figures = view.window(name)
        return [name, { ...rangeRecord(figures), ...netRecord(figures, unrealized) }] as const
      }),
    ),
    is_whale: view.isWhale,
    updated_at: toSeconds(view.asOfMs),
  }
}

interface PnlFigures {
  readonly figures: RangeFigures
  readonly series: readonly PnlPoint[]
  readonly unrealized: UsdMicros
  readonly totals: Pick<WalletTotals, 'wins' | 'losses' | 'comboRealized'>
  readonly asOfMs: TimeMs
}

/** Realized figures and the series cover the requested range. Unrealized figures, wins and losses are current. */
export function pnlRecord(
  address: string,
  granularity: PnlGranularity,
  { figures, series, unrealized, totals, asOfMs }: PnlFigures,
) {
  return {
    address,
    realized_pnl: figures.realized / MICROS,
    unrealized_pnl: unrealized / MICROS,
    total_pnl: (figures.realized + unrealized) / MICROS,
    ...netRecord(figures, unrealized),
    combo_realized_pnl: dollarsOf(totals.comboRealized),
    ...resultRecord(totals),
    total_volume: figures.volume / MICROS,
    total_trades: figures.trades,
    granularity,
    pnl_over_time: (granularity === 'all' ? thinned(series) : series).map((point) => ({
      timestamp: toSeconds(point.timeMs),
      pnl_to_date: point.toDate / MICROS,
      realized_pnl: point.realized / MICROS,
    })),
    method: 'average_cost',
    as_of_ms: asOfMs,
  }
}

/**
 * Selects at most PNL_POINTS_MAX evenly spaced points, including the last. Each selected point includes the amounts of
 * the omitted points before it.
 */
function thinned(series: readonly PnlPoint[]): readonly PnlPoint[] {
  const count = Math.min(series.length, PNL_POINTS_MAX)
  const points: PnlPoint[] = []
  let shown = 0
  for (let index = 1; index <= count; index += 1) {
    const end = Math.floor((index * series.length) / count)
    const last = series[end - 1]
    if (last === undefined) break
    let realized = 0
    for (; shown < end; shown += 1) realized += series[shown]?.realized ?? 0
    points.push({ ...last, realized: usdMicros(realized) })
  }
  return points
}

/**
 * A row of the wallet ranking as of the wallet's last sync. Wins and losses are of all time. The remaining figures are
 * of the window.
 */
export function rankedRecord(row: RankedWallet) {
  const { rank, profile, figures, totals, isComplete, asOfMs } = row
  return {
    rank,
    address: profile.proxy,
    handle: profile.handle,
    pseudonym: profile.pseudonym,
    image: profile.image,
    ...rangeRecord(figures),
    ...besideRecord(figures),
    ...resultRecord(totals),
    last_trade_at: secondsOf(totals.lastTradeMs),
    data_complete: isComplete,
    as_of: secondsOf(asOfMs),
  }
}

function rangeRecord({ realized, volume, trades }: RangeFigures) {
  return { realized_pnl: realized / MICROS, volume: volume / MICROS, trades }
}

function besideRecord(figures: RangeFigures) {
  return {
    fees_paid: figures.fees / MICROS,
    income: figures.income / MICROS,
    net_realized_pnl: netRealized(figures) / MICROS,
  }
}

function netRecord(figures: RangeFigures, unrealized: UsdMicros) {
  return { ...besideRecord(figures), net_pnl: (netRealized(figures) + unrealized) / MICROS }
}

const dollarsOf = (usd: UsdMicros | null): number | null => (usd === null ? null : usd / MICROS)

function resultRecord({ wins, losses }: Pick<WalletTotals, 'wins' | 'losses'>) {
  return { win_count: wins, loss_count: losses, win_rate: ratio(wins, wins + losses) }
}

function secondsOf(time: TimeMs | null): number | null {
  return time === null ? null : toSeconds(time)
}

/** Exact quotient of two integers, rounded half up to six decimals; null if the divisor is 0 or less. */
export function ratio(dividend: number, divisor: number, factor = 1): number | null {
  if (divisor <= 0) return null
  const twice = 2n * BigInt(divisor)
  const scaled = 2n * BigInt(MICROS) * BigInt(factor) * BigInt(dividend) + BigInt(divisor)
  const rest = scaled % twice
  // BigInt division rounds towards 0, so a negative quotient is corrected to the floor.
  const quotient = scaled / twice - (rest < 0n ? 1n : 0n)
  return Number(quotient) / MICROS
}
