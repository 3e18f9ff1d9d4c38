// The complete disk layout: environments, their tables, and the keys and records of each table. A write to `accounts`
// is durable before the caller receives its result. `market` holds data that the venues can send again. In keys,
// markets, runs and webhooks are u32, and times, days and hours u64, all big-endian. Venues and kinds have one byte,
// addresses 20.

/** The version of this layout. The sentinel of each environment contains it. */
export const FORMAT_VERSION = 8

export type EnvironmentName = 'accounts' | 'market'
export const ENVIRONMENT_NAMES: readonly EnvironmentName[] = ['accounts', 'market']

export interface TableLayout {
  readonly name: string
  readonly environment: EnvironmentName
  /** Number of leading key bytes that are equal within a range. Uncommitted rows are sorted per group of equal bytes. */
  readonly groupBytes: number
  /**
   * Whether lmdb-js compresses values above 1,000 bytes with LZ4. Never change: the fingerprint of the files contains
   * it.
   */
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
  /** id of a revoked login token → EndedToken */
  endedTokens: table('accounts', 'endedTokens', { isChecked: true }),
  /** webhook number → Webhook */
  webhooks: table('accounts', 'webhooks', { isChecked: true }),
  /** name → number; the webhook table uses `last_webhook_number` */
  accountMarks: table('accounts', 'accountMarks', { isChecked: true }),

  /** either venue and both native market ids, or `family` and two patterns → an operator's override */
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
  /** market → the venue's token of each outcome */
  tradeTokens: table('market', 'tradeTokens', { isChecked: true }),
  /** market, hash of native trade id → (timeMs, ordinal) of every trade with that hash */
  tradeIds: table('market', 'tradeIds', { groupBytes: 4 }),
  /** run, offset → key in `trades`; packed */
  tradeOffsets: table('market', 'tradeOffsets', { groupBytes: 4 }),
  /** venue, timeMs, ordinal among the venue's trades → market and ordinal of the trade (8 bytes); packed */
  venueTrades: table('market', 'venueTrades', { groupBytes: 1 }),
  /** market, size, startMs → Bar */
  bars: table('market', 'bars', { groupBytes: 4, isChecked: true }),
  /** market, timeMs → BookSnapshot */
  snapshots: table('market', 'snapshots', { groupBytes: 4 }),
  /** market, hour → HourTicks */
  ticks: table('market', 'ticks', { groupBytes: 4 }),
  /** market, day → PastDay; deleted only with the market or under size pressure */
  pastPrices: table('market', 'pastPrices', { groupBytes: 4 }),
  /** hour in which a day was read, market, day → nothing; gives the order of deletion above the size limit */
  pastPriceReads: table('market', 'pastPriceReads'),
  /** venue, fromMs → toMs */
  coverage: table('market', 'coverage', { groupBytes: 1 }),
  /** hour, kind, market → nothing; lets retention find the markets with rows of a kind in an hour */
  hours: table('market', 'hours'),
  /** hour, kind, market → nothing; for snapshots, which have their own age limit */
  snapshotHours: table('market', 'snapshotHours'),
  /** market → Checkpoint */
  checkpoints: table('market', 'checkpoints'),
  /** run → epoch and start */
  runs: table('market', 'runs'),
  /** run, trade offset when the gap was sent, ordinal → TradeLoss */
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
  /** webhook, attempt kind, due time, number → nothing; only pending deliveries */
  dueDeliveries: table('market', 'dueDeliveries', { groupBytes: 5 }),
  /** webhook, number → status and creation time (9 bytes): deliveries that are not pending */
  finishedDeliveries: table('market', 'finishedDeliveries', { groupBytes: 4 }),
  /** webhook, event id → number of its delivery */
  deliveryEvents: table('market', 'deliveryEvents', { groupBytes: 4 }),
  /** webhook → counts, last number, time since which all attempts have failed */
  outboxTotals: table('market', 'outboxTotals', { isChecked: true }),
  /** webhook, market → the price last sent */
  lastPrices: table('market', 'lastPrices', { groupBytes: 4, isChecked: true }),
  /** address of a wallet → StoredWallet */
  wallets: table('market', 'wallets', { isChecked: true }),
  /** address of an owner → address of the wallet (20 bytes) */
  walletOwners: table('market', 'walletOwners'),
  /** address of a wallet, block → packed events of its ledger (engine/wallets/ledger-block.ts) */
  walletBlocks: table('market', 'walletBlocks', { groupBytes: 20, isChecked: true }),
  /** address of a wallet → its packed P&L state (engine/wallets/pnl-state.ts) */
  walletAccounts: table('market', 'walletAccounts', { isChecked: true }),
  /** native market id → WalletMarket */
  walletMarkets: table('market', 'walletMarkets'),
  /** name → number; the market table uses `last_market_number` */
  marks: table('market', 'marks'),
} as const satisfies Record<string, TableLayout>

export const TABLE_LAYOUTS: readonly TableLayout[] = Object.values(TABLES)

/** Not in TABLES, because it describes the environment itself. */
export const SENTINEL_TABLE = 'sentinel'

/** Permanent options of an environment's files. An environment with a different fingerprint is not opened. */
export function fingerprint(environment: EnvironmentName): string {
  const compressed = TABLE_LAYOUTS.filter((one) => one.environment === environment)
    .filter((one) => one.isCompressed)
    .map((one) => one.name)
  return `lmdb keys=binary values=binary sync=commit lz4=${compressed.join('+') || 'none'}`
}
