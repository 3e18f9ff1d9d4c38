// The whole disk layout on one screen: environment → table → key → record. Two LMDB environments:
// `accounts` holds what is on the platter before its caller is answered, `market` what the venues could send again.
// Numbers in keys are big-endian: market, run and webhook u32, times, days and hours u64 (see keys.ts), so that
// LMDB's byte order is the order of the numbers; venues and kinds are one byte, addresses 20. Changing anything here needs a step in migrate.ts.

/** The version of this layout; the sentinel of each environment carries it. */
export const FORMAT_VERSION = 8

export type EnvironmentName = 'accounts' | 'market'
export const ENVIRONMENT_NAMES: readonly EnvironmentName[] = ['accounts', 'market']

/** One named LMDB database. */
export interface TableLayout {
  readonly name: string
  readonly environment: EnvironmentName
  /** Leading key bytes that every range stays within; pending rows are sorted per such group. */
  readonly groupBytes: number
  /** LZ4 by lmdb-js for values above 1,000 bytes; part of the fingerprint, can never be changed. */
  readonly isCompressed: boolean
  /** Whether records carry a CRC-32 over key and body. */
  readonly isChecked: boolean
}

function table(
  environment: EnvironmentName,
  name: string,
  options: Partial<Omit<TableLayout, 'name' | 'environment'>> = {},
): TableLayout {
  return {
    name,
    environment,
    groupBytes: options.groupBytes ?? 0,
    isCompressed: options.isCompressed ?? false,
    isChecked: options.isChecked ?? false,
  }
}

export const TABLES = {
  /** account id → AccountRecord */
  accounts: table('accounts', 'accounts', { isChecked: true }),
  /** key id → KeyRecord */
  keys: table('accounts', 'keys', { isChecked: true }),
  /** id of a login token → EndedToken */
  endedTokens: table('accounts', 'endedTokens', { isChecked: true }),
  /** webhook number → Webhook */
  webhooks: table('accounts', 'webhooks', { isChecked: true }),
  /** name → number; `last_webhook_number` is the webhook table's own */
  accountMarks: table('accounts', 'accountMarks', { isChecked: true }),

  /** venue, both native market ids, or `family` and two patterns → an operator's verdict */
  matchOverrides: table('accounts', 'matchVerdicts', { isChecked: true }),

  /** market of venue a → StoredMatch */
  matches: table('market', 'matches'),
  /** venue, native market id → market number */
  marketNumbers: table('market', 'marketNumbers'),
  /** market → MarketSummary */
  markets: table('market', 'markets'),
  /** market → ListingDetails */
  marketDetails: table('market', 'marketDetails', { isCompressed: true }),
  /** venue, native event id → EventSummary */
  events: table('market', 'events'),
  /** venue, native event id → ListingDetails */
  eventDetails: table('market', 'eventDetails', { isCompressed: true }),
  /** market, timeMs, ordinal → StoredTrade; packed (lmdb/packed-table.ts) */
  trades: table('market', 'trades', { groupBytes: 4, isChecked: true }),
  /** market → the venue's token of each outcome, as ids of trades repeat it */
  tradeTokens: table('market', 'tradeTokens', { isChecked: true }),
  /** market, hash of native trade id → (timeMs, ordinal) of every trade with that hash */
  tradeIds: table('market', 'tradeIds', { groupBytes: 4 }),
  /** run, offset → key in `trades`; packed */
  tradeOffsets: table('market', 'tradeOffsets', { groupBytes: 4 }),
  /** venue, timeMs, ordinal among the venue's → market and ordinal of the trade (8 bytes); packed */
  venueTrades: table('market', 'venueTrades', { groupBytes: 1 }),
  /** market, size, startMs → Bar */
  bars: table('market', 'bars', { groupBytes: 4, isChecked: true }),
  /** market, timeMs → BookSnapshot */
  snapshots: table('market', 'snapshots', { groupBytes: 4 }),
  /** market, hour → HourTicks */
  ticks: table('market', 'ticks', { groupBytes: 4 }),
  /** market, day → PastDay; of no age, so gone with the market or under size pressure alone */
  pastPrices: table('market', 'pastPrices', { groupBytes: 4 }),
  /** hour of reading, market, day → nothing: which days were read first, for size pressure */
  pastPriceReads: table('market', 'pastPriceReads'),
  /** venue, fromMs → toMs */
  coverage: table('market', 'coverage', { groupBytes: 1 }),
  /** hour, kind, market → nothing: which markets have rows of a kind in an hour, for retention */
  hours: table('market', 'hours'),
  /** The same for snapshots alone, which go at an age of their own. */
  snapshotHours: table('market', 'snapshotHours'),
  /** market → Checkpoint */
  checkpoints: table('market', 'checkpoints'),
  /** run → epoch and start */
  runs: table('market', 'runs'),
  /** run, offset of the trades then, ordinal → TradeLoss */
  losses: table('market', 'losses'),
  /** timeMs, ordinal → StoredWhale */
  whales: table('market', 'whales', { isChecked: true }),
  /** market, hash of a whale's id → key in `whales` of every whale with that hash */
  whaleIds: table('market', 'whaleIds', { groupBytes: 4 }),
  /** run, offset → key in `whales` */
  whaleOffsets: table('market', 'whaleOffsets', { groupBytes: 4 }),
  /** market, timeMs, ordinal → nothing */
  whaleMarkets: table('market', 'whaleMarkets', { groupBytes: 4 }),
  /** closedAtMs, ordinal → PastOpportunity */
  opportunities: table('market', 'opportunities', { isChecked: true }),
  /** id → OpenOpportunity */
  openOpportunities: table('market', 'openOpportunities', { isChecked: true }),
  /** webhook, number of the delivery → StoredDelivery with its body */
  deliveries: table('market', 'deliveries', { groupBytes: 4, isChecked: true }),
  /** webhook, lane, due time, number → nothing: the pending deliveries that have a due time */
  dueDeliveries: table('market', 'dueDeliveries', { groupBytes: 5 }),
  /** webhook, number → status and time of making (9 bytes): those that are not pending */
  finishedDeliveries: table('market', 'finishedDeliveries', { groupBytes: 4 }),
  /** webhook, event id → number of its delivery */
  deliveryEvents: table('market', 'deliveryEvents', { groupBytes: 4 }),
  /** webhook → counts, last number, since when it fails */
  outboxTotals: table('market', 'outboxTotals', { isChecked: true }),
  /** webhook, market → the price last sent */
  lastPrices: table('market', 'lastPrices', { groupBytes: 4, isChecked: true }),
  /** address of a wallet → StoredWallet */
  wallets: table('market', 'wallets', { isChecked: true }),
  /** address of an owner → address of the wallet (20 bytes) */
  walletOwners: table('market', 'walletOwners'),
  /** address of a wallet, block → packed events of its ledger (engine/wallets/ledger-block.ts) */
  walletBlocks: table('market', 'walletBlocks', { groupBytes: 20, isChecked: true }),
  /** address of a wallet → its packed running account (engine/wallets/pnl-state.ts) */
  walletAccounts: table('market', 'walletAccounts', { isChecked: true }),
  /** native market id → WalletMarket */
  walletMarkets: table('market', 'walletMarkets'),
  /** name → number; `last_market_number` is the market table's own */
  marks: table('market', 'marks'),
} as const satisfies Record<string, TableLayout>

export const TABLE_LAYOUTS: readonly TableLayout[] = Object.values(TABLES)

/** Each environment's own facts under the key `sentinel`; outside TABLES, as it guards them. */
export const SENTINEL_TABLE = 'sentinel'

/** What was decided once about an environment's files; a different text refuses to open them. */
export function fingerprint(environment: EnvironmentName): string {
  const compressed = TABLE_LAYOUTS.filter((one) => one.environment === environment)
    .filter((one) => one.isCompressed)
    .map((one) => one.name)
  return `lmdb keys=binary values=binary sync=commit lz4=${compressed.join('+') || 'none'}`
}
