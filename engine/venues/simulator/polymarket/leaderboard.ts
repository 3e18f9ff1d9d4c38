// Venue a's `/v1/leaderboard` (engine/venues/polymarket/README.md, Data API): wallets ranked by profit or by
// volume, over all markets or one category. Profit of a period is what its fills are worth by now: splits,
// merges, conversions and redemptions swap things of equal worth. Ranked at most every ten seconds a list.
// Upholds SIMWALLET12.

import { complement, DAY_MS, MICROS, type TimeMs } from '../../../units.ts'
import type { SimTopic, SimWalletLedger, SimWallets, World } from '../model.ts'
import { json, type RestAnswer, type RestServer } from '../rest.ts'
import { participation } from '../world/fill-money.ts'
import { answering, bounded, word } from './data-query.ts'
import { outcomePrices } from './facts.ts'

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
] as const
const PERIOD_DAYS = { DAY: 1, WEEK: 7, MONTH: 30, ALL: null } as const
const PERIODS = ['DAY', 'WEEK', 'MONTH', 'ALL'] as const
const LIMIT = { fallback: 25, max: 50 }
const OFFSET = { fallback: 0, max: 1_000 }
/** How long a ranking is shown; at most one for each category, period and order is kept. */
const RANKED_MS = 10_000

interface Ranked {
  readonly ledger: SimWalletLedger
  readonly vol: number
  readonly pnl: number
}

interface Asked {
  readonly category: (typeof CATEGORIES)[number]
  readonly period: (typeof PERIODS)[number]
  readonly orderBy: 'PNL' | 'VOL'
}

/** Adds the route to a listener. */
export function addLeaderboard(
  server: RestServer,
  parts: { readonly world: World; readonly wallets: SimWallets },
): void {
  const kept = new Map<string, { readonly atMs: TimeMs; readonly rows: readonly Ranked[] }>()
  const ranking = (asked: Asked): readonly Ranked[] => {
    const nowMs = parts.world.nowMs()
    const key = `${asked.category} ${asked.period} ${asked.orderBy}`
    const known = kept.get(key)
    if (known !== undefined && nowMs - known.atMs < RANKED_MS) return known.rows
    const rows = rank(parts.wallets, asked, nowMs)
    kept.set(key, { atMs: nowMs, rows })
    return rows
  }
  server.get('/v1/leaderboard', ({ query }) => answering(() => leaderboard(ranking, query)))
}

function leaderboard(
  ranking: (asked: Asked) => readonly Ranked[],
  query: URLSearchParams,
): RestAnswer {
  const category = word(query, 'category', CATEGORIES, 'OVERALL')
  const period = word(query, 'timePeriod', PERIODS, 'DAY')
  const orderBy = word(query, 'orderBy', ['PNL', 'VOL'], 'PNL')
  const limit = bounded(query, 'limit', LIMIT)
  const offset = bounded(query, 'offset', OFFSET)
  const user = query.get('user')?.toLowerCase() ?? null
  const userName = query.get('userName')
  const rows = ranking({ category, period, orderBy })
    .map(({ ledger, vol, pnl }, index) => ({
      rank: String(index + 1),
      proxyWallet: ledger.wallet.address,
      userName: ledger.wallet.name,
      xUsername: '',
      verifiedBadge: false,
      vol,
      pnl,
      profileImage: '',
    }))
    .filter((row) => user === null || row.proxyWallet.toLowerCase() === user)
    .filter((row) => userName === null || row.userName === userName)
  return json(rows.slice(offset, offset + limit))
}

function rank(wallets: SimWallets, asked: Asked, nowMs: TimeMs): readonly Ranked[] {
  const days = PERIOD_DAYS[asked.period]
  const fromMs = days === null ? 0 : nowMs - days * DAY_MS
  const topic = topicOf(asked.category)
  if (topic === undefined) return []
  const rows: Ranked[] = []
  for (const ledger of wallets.all()) {
    const row = sumUp(ledger, fromMs, topic)
    if (row.vol > 0) rows.push(row)
  }
  const key = asked.orderBy === 'PNL' ? 'pnl' : 'vol'
  return rows.sort((one, other) => other[key] - one[key])
}

/** Null: every topic; undefined: the world has none such. */
function topicOf(category: Asked['category']): SimTopic | null | undefined {
  if (category === 'OVERALL') return null
  const topics = ['politics', 'economics', 'crypto', 'weather', 'culture', 'sports'] as const
  return topics.find((topic) => topic.toUpperCase() === category)
}

function sumUp(ledger: SimWalletLedger, fromMs: number, topic: SimTopic | null): Ranked {
  let vol = 0
  let pnl = 0
  for (const { fill, atMs, size, usd, fee, market } of ledger.events) {
    if (fill === null || market === null || atMs < fromMs) continue
    if (topic !== null && market.event.topic !== topic) continue
    const [first] = outcomePrices(market)
    const price = fill.trade.outcomeIndex === 0 ? first : complement(first)
    const worth = (size / MICROS) * price
    const { isBuy } = participation(fill.trade, fill.participant)
    vol += usd
    pnl += isBuy ? worth - usd - fee : usd - fee - worth
  }
  return { ledger, vol: vol / MICROS, pnl: pnl / MICROS }
}
