/** Page names in the URL (`#/markets?q=fed`, `#/market/venue_a_0x…`). The first page is the default. */
export const PAGES = [
  'opportunities',
  'past',
  'markets',
  'market',
  'event',
  'matches',
  'sports',
  'whales',
  'wallet',
  'status',
  'account',
  'webhooks',
] as const
export type PageName = (typeof PAGES)[number]
