import { complement, toNumber, toSeconds } from '../../../units.ts'
import type { SimMarket, World } from '../model.ts'
import type { WalletLedgers } from '../world/wallet-ledgers.ts'
import { csv, type DataV2, type Page, type PageQuery, QueryError } from './envelope.ts'
import { FIXED_FIELDS } from './fixed-fields.ts'
import { requestedMarkets, TRADES_AGE_S } from './trade-routes.ts'
import { holderRow } from './wallet-rows.ts'

interface Parts {
  readonly world: World
  readonly wallets: WalletLedgers
}

/** An arbitrary Polygon block number. Two seconds later the number is one higher. */
const BLOCK_FIRST = 90_000_000
const LAG_S = 4

export function addMarketFigures(data: DataV2, parts: Parts): void {
  const { world } = parts
  const ofInterest = (query: URLSearchParams) => openInterest(world, query)
  data.value('/v2/oi', ofInterest, { maxAgeS: TRADES_AGE_S })
  data.value('/v2/live-volume', (query) => liveVolume(world, query), { maxAgeS: null })
  data.value('/v2/status', () => status(world), { maxAgeS: null })
  data.value('/v2/resolutions', (query) => resolutions(world, query), { maxAgeS: null })
  data.pages('holders', '/v2/holders', (pageQuery) => holders(parts, pageQuery), { maxAgeS: null })
}

function openInterest(world: World, query: URLSearchParams): unknown {
  const markets = requestedMarkets(world, query)
  if (markets !== null) {
    return markets.map((market) => ({
      condition_id: idOf(market),
      value: pricedInterest(market),
    }))
  }
  const all = world.markets('a')
  return [
    { condition_id: 'GLOBAL', value: all.reduce((sum, each) => sum + pricedInterest(each), 0) },
  ]
}

/** Value of the open shares of both outcomes. One share of each outcome together is worth one dollar. */
function pricedInterest(market: SimMarket): number {
  return toNumber(market.openInterest)
}

function liveVolume(world: World, query: URLSearchParams): unknown {
  if (query.get('event_id') === null)
    throw new QueryError("required query param 'event_id' not provided")
  const conditions = (requestedMarkets(world, query) ?? []).map((market) => ({
    condition_id: idOf(market),
    taker_volume: toNumber(market.volumeTotal),
  }))
  const total = conditions.reduce((sum, row) => sum + row.taker_volume, 0)
  return { taker_volume_total: total, conditions }
}

function status(world: World): unknown {
  const block = BLOCK_FIRST + Math.floor(toSeconds(world.nowMs()) / 2)
  const lag = { source: 'ctf_exchange_order_filled', block: block - 1, behind_max: 1 }
  return {
    computed_at: secondsText(world.nowMs()),
    age_seconds: LAG_S,
    serving: {
      lag_seconds: LAG_S,
      worst: 'activity_feed',
      mechanisms: [{ name: 'activity_feed', age_seconds: LAG_S }],
    },
    ingestion: {
      cursors: 1,
      network: 'polygon',
      chain_id: 137,
      max_synced_block: block,
      min_synced_block: block - 1,
      most_lagged: lag,
      lagging: [lag],
    },
  }
}

function resolutions(world: World, query: URLSearchParams): unknown {
  const selectors = ['question_id', 'condition', 'event_id'].filter((key) => query.has(key))
  if (selectors.length !== 1)
    throw new QueryError('invalid selector: one of question_id, condition, event_id')
  for (const id of csv(query, 'condition')) {
    if (!/^0x[0-9a-f]{64}$/i.test(id)) throw new QueryError(`invalid condition id: ${id}`)
  }
  return (requestedMarkets(world, query) ?? []).map(resolution)
}

function resolution(market: SimMarket): unknown {
  const { listing } = market
  const isFinal = market.status === 'resolved'
  const at = secondsText(isFinal ? listing.resolveMs : listing.createdMs)
  const open = {
    condition_id: idOf(market),
    status: isFinal ? 'resolved' : 'active',
    ...FIXED_FIELDS.resolution,
    last_update_timestamp: at,
  }
  if (!isFinal) return open
  return {
    ...open,
    payouts: [listing.payout, complement(listing.payout)],
    resolution_source: 'reported',
    reporter: 'UMA_OO',
    resolved_block: BLOCK_FIRST + Math.floor(toSeconds(listing.resolveMs) / 2),
    resolved_at: at,
  }
}

function holders({ world, wallets }: Parts, { query, limit, at }: PageQuery): Page {
  if (csv(query, 'condition').length === 0) {
    throw new QueryError("required query param 'condition' not provided")
  }
  const from = Number(at?.o ?? 0)
  let hasMore = false
  const groups = (requestedMarkets(world, query) ?? []).flatMap((market) =>
    ([0, 1] as const).map((outcomeIndex) => {
      const rows = wallets
        .holders(market)
        .map((holding) => holderRow({ holding, outcomeIndex }))
        .filter((row) => row.amount > 0)
        .sort(
          (one, other) =>
            other.amount - one.amount || (one.proxy_wallet < other.proxy_wallet ? -1 : 1),
        )
      if (rows.length > from + limit) hasMore = true
      const token = market.listing.tokens[outcomeIndex]
      return { token_id: token, holders: rows.slice(from, from + limit) }
    }),
  )
  const rows = groups.filter((group) => group.holders.length > 0)
  return { rows, next: hasMore ? { o: from + limit } : null }
}

function idOf(market: SimMarket): string {
  return market.listing.nativeId
}

function secondsText(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`
}
