// Venue a's `/v2/leaderboard` (engine/venues/polymarket/README.md, Data API v2). Ranks wallets by profit or by volume
// in shares, over all markets or one category, or returns both ranks of one wallet. Profit of a period is the current
// value of its fills: splits, merges, conversions and redemptions exchange equal values. Each list is ranked at most
// every ten seconds.

import { complement, DAY_MS, MICROS, type TimeMs } from '../../../units.ts'
import type { SimTopic, SimWalletLedger, SimWallets, World } from '../model.ts'
import { participation } from '../world/fill-money.ts'
import { enumParam } from './data-query.ts'
import { type DataV2, type Page, type PageQuery, pinnedParam } from './envelope.ts'
import { outcomePrices } from './market-facts.ts'
import { requestedWallet } from './wallet-routes.ts'

const CATEGORIES = [
  'OVERALL',
  'POLITICS',
  'SPORTS',
  'CRYPTO',
  'CULTURE',
  'MENTIONS',
  'WEATHER',
  'ECONOMICS',
  'TECH',
  'FINANCE',
  'COMBOS',
  'ESPORTS',
] as const
const PERIOD_DAYS = { DAY: 1, WEEK: 7, MONTH: 30, ALL: null } as const
const PERIODS = ['DAY', 'WEEK', 'MONTH', 'ALL'] as const
/** Lifetime of a ranking. At most one is cached for each category, period and order. */
const RANKED_MS = 10_000

interface Totals {
  readonly ledger: SimWalletLedger
  /** In shares. */
  readonly volume: number
  readonly pnl: number
}

/** Equal totals share a rank, and the next rank is skipped. */
type Ranked = Totals & { readonly rank: number }

interface Board {
  readonly category: (typeof CATEGORIES)[number]
  readonly period: (typeof PERIODS)[number]
  readonly sortBy: 'PNL' | 'VOLUME'
}

export function addLeaderboard(
  data: DataV2,
  { world, wallets }: { readonly world: World; readonly wallets: SimWallets },
): void {
  const rankings = new Map<string, { readonly atMs: TimeMs; readonly rows: readonly Ranked[] }>()
  const ranking = (board: Board): readonly Ranked[] => {
    const nowMs = world.nowMs()
    const key = `${board.category} ${board.period} ${board.sortBy}`
    const cached = rankings.get(key)
    if (cached !== undefined && nowMs - cached.atMs < RANKED_MS) return cached.rows
    const rows = rank(wallets, board, nowMs)
    rankings.set(key, { atMs: nowMs, rows })
    return rows
  }
  data.pages('leaderboard', '/v2/leaderboard', (pageQuery) => page(ranking, pageQuery), {
    maxAgeS: null,
    single: (query) => (query.has('user') ? ranksOfWallet(ranking, query) : undefined),
  })
}

function page(ranking: (board: Board) => readonly Ranked[], pageQuery: PageQuery): Page {
  const category = pinnedParam(pageQuery, 'category', CATEGORIES, 'OVERALL')
  const period = pinnedParam(pageQuery, 'time_period', PERIODS, 'DAY')
  const sortBy = pinnedParam(pageQuery, 'sort_by', ['PNL', 'VOLUME'], 'PNL')
  const from = Number(pageQuery.at?.o ?? 0)
  const to = from + pageQuery.limit
  const rows = ranking({ category, period, sortBy })
  return {
    rows: rows
      .slice(from, to)
      .map((row) => ({ rank: row.rank, ...figures(row), ...profile(row.ledger) })),
    next: to < rows.length ? { o: to, category, time_period: period, sort_by: sortBy } : null,
  }
}

/** Ranks of one wallet in both orders. Rank 0: not on that board. */
function ranksOfWallet(
  ranking: (board: Board) => readonly Ranked[],
  query: URLSearchParams,
): unknown {
  const address = requestedWallet(query)
  const category = enumParam(query, 'category', CATEGORIES, 'OVERALL')
  const period = enumParam(query, 'time_period', PERIODS, 'DAY')
  const [byProfit, byVolume] = (['PNL', 'VOLUME'] as const).map((sortBy) =>
    ranking({ category, period, sortBy }).find(
      ({ ledger }) => ledger.wallet.address.toLowerCase() === address,
    ),
  )
  if (byProfit === undefined) return null
  return {
    ...figures(byProfit),
    rank_pnl: byProfit.rank,
    rank_volume: byVolume?.rank ?? 0,
    ...profile(byProfit.ledger),
  }
}

function figures({ ledger, pnl, volume }: Totals) {
  return { user_id: ledger.wallet.address, pnl, volume }
}

function profile({ wallet }: SimWalletLedger) {
  return { user_name: wallet.name, profile_image: '', x_username: '', verified: false }
}

function rank(wallets: SimWallets, board: Board, nowMs: TimeMs): readonly Ranked[] {
  const days = PERIOD_DAYS[board.period]
  const fromMs = days === null ? 0 : nowMs - days * DAY_MS
  const topic = topicOf(board.category)
  if (topic === undefined) return []
  const key = board.sortBy === 'PNL' ? 'pnl' : 'volume'
  const rows = wallets
    .all()
    .map((ledger) => sumUp(ledger, fromMs, topic))
    .filter(({ volume }) => volume > 0)
    .sort((one, other) => other[key] - one[key])
  let shared = 0
  return rows.map((row, index) => {
    if (row[key] !== rows[index - 1]?.[key]) shared = index + 1
    return { ...row, rank: shared }
  })
}

/** Null: every topic. Undefined: the world has no such topic. */
function topicOf(category: Board['category']): SimTopic | null | undefined {
  if (category === 'OVERALL') return null
  const topics = ['politics', 'economics', 'crypto', 'weather', 'culture', 'sports'] as const
  return topics.find((topic) => topic.toUpperCase() === category)
}

function sumUp(ledger: SimWalletLedger, fromMs: number, topic: SimTopic | null): Totals {
  let volume = 0
  let pnl = 0
  for (const { fill, atMs, size, usd, fee, market } of ledger.events) {
    if (fill === null || market === null || atMs < fromMs) continue
    if (topic !== null && market.event.topic !== topic) continue
    const [first] = outcomePrices(market)
    const price = fill.trade.outcomeIndex === 0 ? first : complement(first)
    const worth = (size / MICROS) * price
    const { isBuy } = participation(fill.trade, fill.participant)
    volume += size
    pnl += isBuy ? worth - usd - fee : usd - fee - worth
  }
  return { ledger, volume: volume / MICROS, pnl: pnl / MICROS }
}
