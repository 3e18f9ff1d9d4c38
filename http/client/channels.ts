// Table of the stream's channels. To add a channel, add an entry to `CHANNELS`.

export type Fields = Readonly<Record<string, unknown>>

export interface ChannelOptions {
  /** For `depth`: 5, 10 or 20. */
  readonly levels?: number
  /** For `depth`: 100, 250 or 1000. For `prices`: 0, 250 or 1000. */
  readonly conflate_ms?: number
  readonly interval?: string
  /** For `arbitrage`: 0, 1, 5, 10, 50 or 100. */
  readonly min_profit_usd?: number
  /** For `arbitrage`: 0, 0.005, 0.01, 0.02 or 0.05. */
  readonly min_edge?: number
}

/** A level of a book. `price` is in dollars and `size` in contracts. A size of 0 removes the level. */
export interface WireLevel {
  readonly price: number
  readonly size: number
  readonly platform?: string
}

interface Sides {
  readonly bids: readonly WireLevel[]
  readonly asks: readonly WireLevel[]
}

interface PriceData {
  readonly price: number
  readonly price_cents: number
  readonly best_bid: number | null
  readonly best_ask: number | null
  readonly mid_price: number | null
  readonly spread: number | null
  readonly source: string
}

interface TradeData {
  readonly id: string
  readonly market_id: string
  readonly platform: string
  readonly price: number
  readonly size: number
  readonly side: string
  readonly outcome: string
  readonly size_usd: number
  readonly timestamp_ms: number
  readonly taker_outcome: string | null
  readonly taker_side: string
  /** The taker's price, 0 to 1. */
  readonly taker_price: number
}

/**
 * The type parameters exist only at compile time. `Data` is the type of the field `data`, and `More` is the type of the
 * fields beside it.
 */
interface MessageType<Data, More> {
  readonly isData: (data: unknown) => boolean
  readonly types?: { readonly data: Data; readonly more: More }
}

function messageOf<Data, More = unknown>(
  isData: (data: unknown) => boolean = isRecord,
): MessageType<Data, More> {
  return { isData }
}

interface ChannelRules {
  /**
   * `book`: snapshots and changes of order books. `every`: each message counts, so that a resume must fetch lost
   * messages. `state`: each message contains the complete state.
   */
  readonly delivery: 'book' | 'every' | 'state'
  readonly messages: Readonly<Record<string, MessageType<unknown, unknown>>>
  /** Only for `every`: a later epoch may repeat messages with the same `data.id`. */
  readonly hasIds?: true
  /** Only for `every`: true if the server filters messages by these options. A missing `seq` or offset is then no loss. */
  readonly isFiltered?: (options: ChannelOptions) => boolean
  /** Only for `state`: true if the server may skip states. Default: true. */
  readonly isConflated?: (options: ChannelOptions) => boolean
  /** Only for `state`: report states missed during a disconnect, because the REST API provides them. */
  readonly hasHistory?: true
}

const isRecordWith = (isValid: (data: Fields) => boolean) => (data: unknown) =>
  isRecord(data) && isValid(data)
interface SnapshotFields {
  readonly stale: boolean
  /** Why the book is stale; null if it is live. */
  readonly stale_reason?: string | null
  readonly checksum?: number | null
}

const hasSides = isRecordWith(({ bids, asks }) => Array.isArray(bids) && Array.isArray(asks))
const hasId = isRecordWith(({ id }) => typeof id === 'string')

export const CHANNELS = {
  orderbook: {
    delivery: 'book',
    messages: {
      /** A complete book. After a stale snapshot, the server sends either a gap and a new snapshot, or `fresh`. */
      snapshot: messageOf<Sides, SnapshotFields>(hasSides),
      update: messageOf<Sides, { readonly checksum?: number | null }>(hasSides),
    },
  },
  /** Each message contains all levels. */
  depth: { delivery: 'state', messages: { depth: messageOf<Sides & Fields>(hasSides) } },
  prices: {
    delivery: 'state',
    messages: { price: messageOf<PriceData>() },
    isConflated: ({ conflate_ms = 0 }) => conflate_ms > 0,
  },
  trades: {
    delivery: 'every',
    messages: { trade: messageOf<TradeData & Fields>(hasId) },
    hasIds: true,
  },
  whales: {
    delivery: 'every',
    messages: { whale: messageOf<TradeData & Fields>(hasId) },
    hasIds: true,
  },
  lifecycle: { delivery: 'every', messages: { lifecycle: messageOf<Fields>() } },
  /** A changed or closed bar. `data` is null after a gap if the market has no bar. `seq` counts per market and interval. */
  candles: {
    delivery: 'state',
    messages: {
      candle: messageOf<Fields | null>((data) => data === null || isRecord(data)),
    },
    hasHistory: true,
  },
  /** An opportunity that opened, changed or closed. `market_id` is the market of its first leg. */
  arbitrage: {
    delivery: 'every',
    messages: { arbitrage: messageOf<Fields>() },
    isFiltered: ({ min_profit_usd = 0, min_edge = 0 }) => min_profit_usd > 0 || min_edge > 0,
  },
} as const satisfies Readonly<Record<string, ChannelRules>>

type Table = typeof CHANNELS
export type Channel = keyof Table

/** A data message. `seq` starts at 1 for each market and channel. */
interface Counted<Type, Name, Data> {
  readonly type: Type
  readonly channel: Name
  readonly market_id: string
  readonly epoch: string
  readonly offset: number
  readonly seq: number
  /** The venue's time. */
  readonly timestamp_ms: number | null
  /** The time when the server received the data. */
  readonly received_ms: number | null
  /** The time when the server wrote the message. A repeated message has a new time. */
  readonly published_ms: number
  readonly data: Data
}

type MessagesOf<Name extends Channel> = {
  [Type in keyof Table[Name]['messages']]: Table[Name]['messages'][Type] extends MessageType<
    infer Data,
    infer More
  >
    ? Counted<Type, Name, Data> & More
    : never
}[keyof Table[Name]['messages']]

export type DataMessage = { [Name in Channel]: MessagesOf<Name> }[Channel]
type MessageOf<Type extends DataMessage['type']> = Extract<DataMessage, { readonly type: Type }>
type ChannelWith<Delivery> = {
  [Name in Channel]: Table[Name]['delivery'] extends Delivery ? Name : never
}[Channel]

export type SnapshotMessage = MessageOf<'snapshot'>
export type UpdateMessage = MessageOf<'update'>
export type DepthMessage = MessageOf<'depth'>
export type PriceMessage = MessageOf<'price'>
export type TradeMessage = MessageOf<'trade'>
export type WhaleMessage = MessageOf<'whale'>
export type LifecycleMessage = MessageOf<'lifecycle'>
export type CandleMessage = MessageOf<'candle'>
export type ArbitrageMessage = MessageOf<'arbitrage'>
export type FlowMessage = MessagesOf<ChannelWith<'every'>>
export type StateMessage = MessagesOf<ChannelWith<'state'>>

export function isRecord(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

export function isChannel(value: unknown): value is Channel {
  return typeof value === 'string' && Object.hasOwn(CHANNELS, value)
}

export function rulesOf(channel: Channel): ChannelRules {
  return CHANNELS[channel]
}

export function isFiltered(channel: Channel, options: ChannelOptions): boolean {
  return rulesOf(channel).isFiltered?.(options) === true
}

export class PerChannel<Value> {
  readonly #values: ReadonlyMap<Channel, Value>

  constructor(make: (channel: Channel) => Value) {
    const names = Object.keys(CHANNELS).filter(isChannel)
    this.#values = new Map(names.map((name) => [name, make(name)]))
  }

  of(channel: Channel): Value {
    const value = this.#values.get(channel)
    if (value === undefined) throw new Error(`no channel ${channel}`)
    return value
  }

  all(): readonly Value[] {
    return [...this.#values.values()]
  }
}
