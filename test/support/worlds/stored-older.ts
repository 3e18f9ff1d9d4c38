// Records of older schemas (test/fixtures/golden/older-rows.json): those of stored-everything.ts without fields that
// were added later.

import { KEY_SCOPES } from '../../../engine/accounts/account.ts'
import { FEES_UNKNOWN } from '../../../engine/market/fees.ts'
import { webhookNumber } from '../../../engine/webhooks/webhook.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { marketSummary } from './stored.ts'
import { STORED } from './stored-everything.ts'

interface OlderKind {
  readonly name: string
  /** Name of the row in older-rows.json. */
  readonly rows: string
  readonly get: (storage: Storage) => unknown
  readonly wanted: unknown
}

const kind = (name: string, rows: string, get: OlderKind['get'], wanted: unknown): OlderKind => ({
  name,
  rows,
  get,
  wanted,
})

const { watchlist: _list, ...UNWATCHED } = STORED.account
const { deliveriesPerSecond: _, ...LIMITED } = UNWATCHED
const accounts = ({ accounts: table }: Storage) => [...table.accounts()]
const webhooks = ({ webhooks: table }: Storage) => [...table.all()]
const markets = ({ markets: table }: Storage) => [...table.all()].map(({ summary }) => summary)
const wallets = ({ wallets: table }: Storage) => [...table.all()]

const WEBHOOK = { ...STORED.webhook, number: 1, isVerified: true }
const NO_SIDE = { ...WEBHOOK.filters, takerSide: null }
const NO_TAKERS = { ...NO_SIDE, takerWallets: null }
const NO_REACH = { ...NO_TAKERS, minProfit: null, minEdge: null, minAgeMs: null }

const MARKET_4 = {
  ...marketSummary(STORED.market),
  ...{ previousPrice: null, figuresAtMs: null, dayFiguresAtMs: null },
}
const MARKET_3 = { ...MARKET_4, resolutionStatus: null, settledAtMs: null }
const MARKET_2 = { ...MARKET_3, orderSizeMin: null, otherPayout: null }

const WALLET_2 = {
  ...{ ...STORED.wallet, rules: 0, hours: [] },
  totals: { ...STORED.wallet.totals, comboEvents: 0, comboRealized: null },
}

export const OLDER_KINDS: readonly OlderKind[] = [
  kind('an account of schema 1', 'accounts 1', accounts, [
    { ...LIMITED, isDisabled: false, tokenGeneration: 0 },
  ]),
  kind('an account of schema 2', 'accounts 2', accounts, [{ ...LIMITED, tokenGeneration: 0 }]),
  kind('an account of schema 3', 'accounts 3', accounts, [LIMITED]),
  kind('an account of schema 4', 'accounts 4', accounts, [UNWATCHED]),
  kind('a key of schema 1', 'keys 1', (storage) => [...storage.accounts.keys()], [
    { ...STORED.key, scopes: KEY_SCOPES },
  ]),
  kind('a webhook of schema 1', 'webhooks 1', webhooks, [{ ...WEBHOOK, filters: NO_REACH }]),
  kind('a webhook of schema 2', 'webhooks 2', webhooks, [{ ...WEBHOOK, filters: NO_TAKERS }]),
  kind('a webhook of schema 3', 'webhooks 3', webhooks, [{ ...WEBHOOK, filters: NO_SIDE }]),
  kind('a webhook of schema 4', 'webhooks 4', webhooks, [WEBHOOK]),
  kind('a market of schema 1', 'markets 1', markets, [{ ...MARKET_2, fees: FEES_UNKNOWN }]),
  kind('a market of schema 2', 'markets 2', markets, [MARKET_2]),
  kind('a market of schema 3', 'markets 3', markets, [MARKET_3]),
  kind('a market of schema 4', 'markets 4', markets, [MARKET_4]),
  kind(
    'an event of schema 1',
    'events 1',
    ({ events }) => [...events.all()].map(({ winnerAmong }) => winnerAmong),
    [null],
  ),
  kind('a wallet of schema 1', 'wallets 1', wallets, [
    { ...WALLET_2, side: 0, lacking: 0, listedToMs: null },
  ]),
  kind('a wallet of schema 2', 'wallets 2', wallets, [WALLET_2]),
  kind(
    'a market of wallets of schema 1',
    'walletMarkets 1',
    (storage) => storage.wallets.market(STORED.walletMarket.nativeId),
    { ...STORED.walletMarket, takerFee: null },
  ),
  kind('a loss of schema 1', 'losses 1', ({ losses }) => losses.range({ run: 1, offset: 0 }), [
    { ...STORED.loss, count: null },
  ]),
  kind(
    'the counts of deliveries of schema 1',
    'outboxTotals 1',
    ({ outbox }) => outbox.state(webhookNumber(1)),
    {
      counts: { created: 12, delivered: 3, exhausted: 4, dropped: 5, pending: 0 },
      ...{ throttledCount: 0, pendingBytes: 0, failingSinceMs: STORED.loss.toMs },
    },
  ),
]
