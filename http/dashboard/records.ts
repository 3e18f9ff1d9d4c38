// Types of REST records. Imports only types, so that no server code reaches the browser.

import type { Static } from '@sinclair/typebox'
import type { EventsSchema, MarketSchema, MarketsSchema, SportsSchema } from '../records/markets.ts'
import type { matchSchemas } from '../records/matches.ts'
import type { OpportunitySchema, PastOpportunitySchema } from '../records/opportunities.ts'
import type { HistorySchema, QuoteSchema } from '../routes/arbitrage.ts'
import type { OrderbooksSchema } from '../routes/orderbooks.ts'
import type { PricesSchema } from '../routes/prices.ts'
import type { statsSchema } from '../routes/status.ts'
import type {
  CandleSchema,
  CandlesSchema,
  CreatedKeySchema,
  DashboardSessionSchema,
  HealthSchema,
  KeySchema,
  KeysSchema,
  MeSchema,
  OrderbookSchema,
  TicketSchema,
  TradesSchema,
  WalletPositionSchema,
  WalletTradeSchema,
  WatchlistSchema,
} from '../schemas.ts'
import type { walletTradesSchema } from '../wallets/events.ts'
import type { walletPositionsSchema } from '../wallets/positions.ts'
import type { pnlRecord, profileRecord, rankedRecord } from '../wallets/records.ts'
import type {
  DeliveriesSchema,
  DeliveryDetailSchema,
  DeliverySchema,
  WebhookPreviewSchema,
  WebhookSchema,
  WebhooksSchema,
  WebhookWithSecretSchema,
} from '../webhooks/schemas.ts'

export type Market = Static<typeof MarketSchema>
export type MarketPage = Static<typeof MarketsSchema>
export type EventPage = Static<typeof EventsSchema>
export type MarketStatus = Market['status']
export type Games = Static<typeof SportsSchema>
export type Orderbook = Static<typeof OrderbookSchema>
export type Orderbooks = Static<typeof OrderbooksSchema>
export type Prices = Static<typeof PricesSchema>
export type TradePage = Static<typeof TradesSchema>
export type Candle = Static<typeof CandleSchema>
export type CandlePage = Static<typeof CandlesSchema>
export type Health = Static<typeof HealthSchema>
export type DashboardSession = Static<typeof DashboardSessionSchema>
export type Ticket = Static<typeof TicketSchema>
export type Me = Static<typeof MeSchema>
export type Watchlist = Static<typeof WatchlistSchema>
export type ApiKey = Static<typeof KeySchema>
export type ApiKeys = Static<typeof KeysSchema>
export type CreatedKey = Static<typeof CreatedKeySchema>
export type Webhook = Static<typeof WebhookSchema>
export type Webhooks = Static<typeof WebhooksSchema>
export type CreatedWebhook = Static<typeof WebhookWithSecretSchema>
export type Delivery = Static<typeof DeliverySchema>
export type DeliveryDetail = Static<typeof DeliveryDetailSchema>
export type Deliveries = Static<typeof DeliveriesSchema>
export type WalletProfile = ReturnType<typeof profileRecord>
export type WalletPnl = ReturnType<typeof pnlRecord>
export type RankedWallet = ReturnType<typeof rankedRecord>
export type WalletPosition = Static<typeof WalletPositionSchema>
export type WalletTrade = Static<typeof WalletTradeSchema>
export type WalletPositionPage = Static<typeof walletPositionsSchema>
export type WalletTradePage = Static<typeof walletTradesSchema>
export type Opportunity = Static<typeof OpportunitySchema>
export type OpportunityQuote = Static<typeof QuoteSchema>
export type PastOpportunity = Static<typeof PastOpportunitySchema>
export type PastOpportunityPage = Static<typeof HistorySchema>
export type Stats = Static<ReturnType<typeof statsSchema>>
/** The venues' configured names are keys of the markets. */
export type MatchList = Static<ReturnType<typeof matchSchemas>['list']>
export type SharedGames = Static<ReturnType<typeof matchSchemas>['games']>
export type WebhookPreview = Static<typeof WebhookPreviewSchema>
