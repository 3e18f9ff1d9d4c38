import type { WireTrade } from '../../../engine/venues/polymarket/messages.ts'

export const TRADE_ROW_KEYS: readonly string[] = [
  'asset',
  'bio',
  'conditionId',
  'eventSlug',
  'icon',
  'name',
  'outcome',
  'outcomeIndex',
  'price',
  'profileImage',
  'profileImageOptimized',
  'proxyWallet',
  'pseudonym',
  'side',
  'size',
  'slug',
  'timestamp',
  'title',
  'transactionHash',
]

/** The Data API's row of a trade, made from the stream's row. */
export function dataRow(row: WireTrade): Readonly<Record<string, unknown>> {
  return {
    proxy_wallet: row.proxyWallet,
    side: row.side,
    token_id: row.asset,
    condition_id: row.conditionId,
    size: Number(row.size),
    price: Number(row.price),
    timestamp: Number(row.timestamp),
    title: 'Will it?',
    slug: 'will-it',
    icon: '',
    event_slug: '',
    outcome: 'Yes',
    outcome_index: 999,
    name: '',
    pseudonym: 'Calm-Owl',
    bio: '',
    profile_image: '',
    profile_image_optimized: '',
    transaction_hash: row.transactionHash,
  }
}
