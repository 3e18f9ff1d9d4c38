// The fields of a row of Polymarket's Data API, sorted, as its recorded answers have them: both `/trades` and
// `/activity` begin with these. Not for: what is in them (test/contract/).

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
