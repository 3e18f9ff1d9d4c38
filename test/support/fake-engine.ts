// An engine for tests of the face: markets in Maps, accounts without hashing, a real Publisher.
// Everything a test needs to move is a method; everything the face may look at is a view.

import { crc32 } from 'node:zlib'
import type {
  AccountsView,
  BookView,
  Caller,
  CatalogView,
  EngineView,
  KeyView,
  MarketPage,
  MarketView,
  Quota,
  Session,
  VenueView,
} from '../../actors/views.ts'
import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import type { BookReplaced, Level, LevelChange, MarketPrice, Trade } from '../../engine/events.ts'
import {
  type AccountId,
  accountId,
  type KeyId,
  keyId,
  type VenueKey,
  type VenueNames,
} from '../../engine/ids.ts'
import { silentLog } from '../../engine/log.ts'
import type { MarketListing, MarketRef } from '../../engine/market.ts'
import { Metrics } from '../../engine/metrics.ts'
import { Publisher } from '../../engine/publisher.ts'
import {
  notionalMicros,
  priceMicros,
  sizeMicros,
  type TimeMs,
  toSeconds,
} from '../../engine/units.ts'
import { listing, NAMES } from './builders.ts'
import { NaiveBook } from './naive-book.ts'

type StoredTrade = ReturnType<MarketView['trades']>['rows'][number]
type TradesQuery = Parameters<MarketView['trades']>[0]
type ListQuery = Parameters<CatalogView['list']>[0]

/** One market, moved by the test. */
export class FakeMarket implements MarketView {
  readonly ref: MarketRef
  readonly summary: MarketView['summary']
  volume24h: MarketView['volume24h']
  readonly volumeTotal: MarketView['volumeTotal']
  readonly naive = new NaiveBook()
  isStale = true
  now: MarketPrice
  readonly stored: StoredTrade[] = []
  readonly past: { price: MarketPrice['price']; timeMs: TimeMs }[] = []
  readonly #details: { description: string | null; native: MarketListing['native'] }
  readonly #engine: FakeEngine
  #bookTimeMs: TimeMs | null = null

  constructor(engine: FakeEngine, market: MarketListing, number: number) {
    const { description, native, ...summary } = market
    this.#engine = engine
    this.#details = { description, native }
    this.summary = summary
    this.volume24h = market.volume24h
    this.volumeTotal = market.volumeTotal
    const { venue, nativeId } = market
    const { names } = engine.catalog
    const platform = names.platform(venue)
    this.ref = { id: names.marketId(venue, nativeId), number, venue, platform, nativeId }
    this.now = {
      price: priceMicros(500_000),
      source: 'none',
      bid: null,
      ask: null,
      observedAtMs: engine.clock.nowMs(),
    }
  }

  price(): MarketPrice {
    return this.now
  }

  priceAt(atMs: TimeMs) {
    return this.past.filter((tick) => tick.timeMs <= atMs).at(-1) ?? null
  }

  book(): BookView {
    const { publisher } = this.#engine
    const bids = this.naive.levels('bid')
    const asks = this.naive.levels('ask')
    const { seq, offset } = publisher.latest('orderbook', this.ref.number)
    return {
      bids,
      asks,
      seq,
      offset,
      isStale: this.isStale,
      venueTimeMs: this.#bookTimeMs,
      receivedAtMs: this.#bookTimeMs,
      checksum: bookChecksum(bids, asks),
    }
  }

  trades(query: TradesQuery) {
    const rows = this.stored
      .filter((row) => row.timeMs >= query.fromMs && row.timeMs <= query.toMs)
      .filter((row) => query.side === null || row.side === query.side)
      .sort((one, two) => one.timeMs - two.timeMs || one.ordinal - two.ordinal)
    if (query.order === 'desc') rows.reverse()
    const { after, order, limit } = query
    const sign = order === 'asc' ? 1 : -1
    const behind = rows.filter((row) => {
      if (after === null) return true
      if (row.timeMs !== after.timeMs) return sign * (row.timeMs - after.timeMs) > 0
      return after.ordinal !== null && sign * (row.ordinal - after.ordinal) > 0
    })
    return { rows: behind.slice(0, limit), hasMore: behind.length > limit }
  }

  seq(channel: 'orderbook' | 'trades' | 'prices' | 'lifecycle'): number {
    return this.#engine.publisher.latest(channel, this.ref.number).seq
  }

  details() {
    return this.#details
  }

  #stamped(channel: 'orderbook' | 'trades' | 'prices') {
    const nowMs = this.#engine.clock.nowMs()
    const stamp = this.#engine.publisher.stamp(channel, this.ref.number)
    return { ...stamp, market: this.ref, venueTimeMs: nowMs, receivedAtMs: nowMs }
  }

  /** Replaces the book and publishes it. */
  replace(
    bids: readonly Level[],
    asks: readonly Level[],
    reason: BookReplaced['reason'] = 'first',
  ) {
    this.naive.replace(bids, asks)
    this.isStale = false
    this.#bookTimeMs = this.#engine.clock.nowMs()
    const { publisher } = this.#engine
    publisher.publish({
      kind: 'bookReplaced',
      market: this.ref,
      venueTimeMs: this.#bookTimeMs,
      receivedAtMs: this.#bookTimeMs,
      reason,
      ...publisher.latest('orderbook', this.ref.number),
    })
  }

  /** Changes levels and publishes the change. */
  change(...changes: readonly LevelChange[]): void {
    for (const change of changes) this.naive.set(change)
    this.#bookTimeMs = this.#engine.clock.nowMs()
    const stamped = this.#stamped('orderbook')
    const { bids, asks } = this.book()
    const checksum = stamped.seq % 50 === 0 ? bookChecksum(bids, asks) : null
    this.#engine.publisher.publish({ kind: 'book', ...stamped, changes, checksum })
  }

  /** Stores a trade; publishes it too unless told otherwise. */
  trade(set: Partial<Trade> = {}, isPublished = true): StoredTrade {
    const at = set.timeMs ?? this.#engine.clock.nowMs()
    const price = set.price ?? priceMicros(420_000)
    const size = set.size ?? sizeMicros(10_000_000)
    const trade: Trade = {
      nativeId: `t-${this.ref.number}-${this.stored.length + 1}`,
      timeMs: at,
      ordinal: set.ordinal ?? this.stored.filter((row) => row.timeMs === at).length,
      price,
      size,
      side: 'buy',
      outcomeIndex: 0,
      usd: notionalMicros({ price, size }),
      maker: null,
      taker: '0xtaker',
      txHash: null,
      ...set,
    }
    const stamped = isPublished ? this.#stamped('trades') : null
    const { offset, seq } = stamped ?? { offset: null, seq: null }
    const row = { ...trade, receivedAtMs: at, run: isPublished ? 1 : null, offset, seq }
    this.stored.push(row)
    if (stamped !== null) this.#engine.publisher.publish({ kind: 'trade', ...stamped, trade })
    return row
  }

  /** Sets the price and publishes it. */
  reprice(micros: number): void {
    const observedAtMs = this.#engine.clock.nowMs()
    this.now = { ...this.now, price: priceMicros(micros), source: 'midpoint', observedAtMs }
    this.past.push({ price: this.now.price, timeMs: observedAtMs })
    this.#engine.publisher.publish({ kind: 'price', ...this.#stamped('prices'), price: this.now })
  }
}

/** The checksum as the protocol says it: CRC-32 of the ten best levels a side, in millionths. */
export function bookChecksum(
  bids: readonly { price: number; size: number }[],
  asks: readonly { price: number; size: number }[],
): number {
  const pairs = [...bids.slice(0, 10), ...asks.slice(0, 10)]
  return crc32(pairs.map(({ price, size }) => `${price}:${size}`).join(':'))
}

interface FakeAccount {
  readonly caller: Caller
  usedCount: number
  socketCount: number
}

/** Accounts without disk or hashing; windows never end unless the test resets them. */
export class FakeAccounts implements AccountsView {
  readonly accounts = new Map<AccountId, FakeAccount>()
  readonly keyRows = new Map<string, { accountId: AccountId; view: KeyView }>()
  readonly tokens = new Map<string, AccountId>()
  readonly #addresses = new Map<string, number>()
  readonly #listeners: ((key: KeyId) => void)[] = []
  readonly #clock: Clock
  addressLimit = 600

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** An account with one key `<name>-key` and one token `<name>-token`. */
  make(name: string, set: Partial<Caller> = {}): void {
    const caller: Caller = {
      accountId: accountId(`acc_${name}`),
      email: `${name}@example.com`,
      tier: 'free',
      createdAtMs: this.#clock.nowMs(),
      requestsPerMinute: 60,
      socketsMax: 2,
      keyId: null,
      ...set,
    }
    this.accounts.set(caller.accountId, { caller, usedCount: 0, socketCount: 0 })
    this.tokens.set(`${name}-token`, caller.accountId)
    this.#addKey(caller.accountId, `${name}-key`, 'first')
  }

  #addKey(account: AccountId, key: string, label: string): KeyView {
    const view = {
      id: keyId(`key_${this.keyRows.size + 1}`),
      label,
      prefix: key.slice(0, 4),
      createdAtMs: this.#clock.nowMs(),
      lastUsedAtMs: null,
    }
    this.keyRows.set(key, { accountId: account, view })
    return view
  }

  callerOfKey(key: string): Caller | null {
    const row = this.keyRows.get(key)
    const account = row === undefined ? undefined : this.accounts.get(row.accountId)
    return row === undefined || account === undefined
      ? null
      : { ...account.caller, keyId: row.view.id }
  }

  async callerOfToken(token: string): Promise<Caller | null> {
    const account = this.tokens.get(token)
    return account === undefined ? null : (this.accounts.get(account)?.caller ?? null)
  }

  #quota(limit: number, used: number): Quota {
    const isAllowed = used <= limit
    const resetSeconds = toSeconds(this.#clock.nowMs()) + 30
    return { isAllowed, limit, remaining: Math.max(0, limit - used), resetSeconds }
  }

  takeAccountRequest(id: AccountId): Quota {
    const account = this.accounts.get(id)
    if (account === undefined) throw new Error('no such account')
    account.usedCount += 1
    return this.#quota(account.caller.requestsPerMinute, account.usedCount)
  }

  takeAddressRequest(address: string): Quota {
    this.#addresses.set(address, (this.#addresses.get(address) ?? 0) + 1)
    return this.peekAddress(address)
  }

  peekAddress(address: string): Quota {
    return this.#quota(this.addressLimit, this.#addresses.get(address) ?? 0)
  }

  usedBy(address: string): number {
    return this.#addresses.get(address) ?? 0
  }

  openSocket(caller: Caller): { release(): void } | null {
    const account = this.accounts.get(caller.accountId)
    if (account === undefined || account.socketCount >= caller.socketsMax) return null
    account.socketCount += 1
    return {
      release: () => {
        account.socketCount -= 1
      },
    }
  }

  onRevoked(listener: (key: KeyId) => void): void {
    this.#listeners.push(listener)
  }

  async signUp(request: { email: string; password: string }): Promise<Session> {
    const name = request.email.split('@')[0] ?? ''
    if (this.accounts.has(accountId(`acc_${name}`))) {
      throw new EngineError('BAD_REQUEST', 'this e-mail has an account already')
    }
    this.make(name)
    return this.logIn(request)
  }

  async logIn(request: { email: string; password: string }): Promise<Session> {
    const name = request.email.split('@')[0] ?? ''
    const account = this.accounts.get(accountId(`acc_${name}`))
    if (account === undefined || request.password === 'wrong') {
      throw new EngineError('UNAUTHORIZED', 'wrong e-mail or password')
    }
    return { caller: account.caller, accessToken: `${name}-token`, expiresInSeconds: 86_400 }
  }

  keys(account: AccountId): readonly KeyView[] {
    return [...this.keyRows.values()]
      .filter((row) => row.accountId === account)
      .map((row) => row.view)
  }

  async createKey(account: AccountId, label: string) {
    const key = `pmk_${this.keyRows.size + 1}`
    return { view: this.#addKey(account, key, label), key }
  }

  async revokeKey(account: AccountId, id: KeyId): Promise<boolean> {
    for (const [key, row] of this.keyRows) {
      if (row.view.id !== id || row.accountId !== account) continue
      this.keyRows.delete(key)
      for (const listener of this.#listeners) listener(id)
      return true
    }
    return false
  }
}

/** A catalogue of fake markets; pins keep the order in which they were cut. */
export class FakeCatalog implements CatalogView {
  readonly names: VenueNames
  isLoaded = true
  readonly byId = new Map<string, FakeMarket>()
  readonly pins = new Map<number, readonly FakeMarket[]>()
  #pinCount = 0

  constructor(names: VenueNames) {
    this.names = names
  }

  find(id: string): FakeMarket | null {
    return this.byId.get(id.toLowerCase()) ?? null
  }

  findBySlug(slug: string): FakeMarket | null {
    const lower = slug.toLowerCase()
    return (
      [...this.byId.values()].find((market) => market.summary.slug.toLowerCase() === lower) ?? null
    )
  }

  event() {
    return null
  }

  markets(venue: VenueKey | null): Iterable<FakeMarket> {
    return [...this.byId.values()].filter((market) => venue === null || market.ref.venue === venue)
  }

  list(query: ListQuery): MarketPage | 'expired' {
    let rows = query.pin === null ? null : this.pins.get(query.pin)
    if (rows === undefined) return 'expired'
    const pin = query.pin ?? ++this.#pinCount
    if (rows === null) {
      rows = [...this.markets(query.filter.venue)]
        .filter((market) => matches(market, query.filter))
        .sort((one, two) => (two.volume24h - one.volume24h) * (query.order === 'desc' ? 1 : -1))
      this.pins.set(pin, rows)
    }
    const end = query.offset + query.limit
    return {
      markets: rows.slice(query.offset, end),
      total: rows.length,
      next: end < rows.length ? { pin, offset: end } : null,
    }
  }

  counts() {
    const none = { open: 0, closed: 0, resolved: 0 }
    return { a: none, b: none }
  }
}

function matches(market: FakeMarket, filter: ListQuery['filter']): boolean {
  const { summary } = market
  if (filter.status !== null && summary.status !== filter.status) return false
  if (filter.eventSlug !== null && summary.eventSlug !== filter.eventSlug) return false
  if (filter.volume24hMin !== null && market.volume24h < filter.volume24hMin) return false
  return (
    filter.search === null || summary.question.toLowerCase().includes(filter.search.toLowerCase())
  )
}

/** The whole: add markets, then hand it to createServer. */
export class FakeEngine implements EngineView {
  readonly version = '0.0.0-test'
  readonly epoch = 'k3f9c2'
  readonly clock: Clock
  readonly metrics = new Metrics()
  readonly publisher: Publisher
  readonly catalog: FakeCatalog
  readonly accounts: FakeAccounts
  venueViews: VenueView[]
  isHealthy = true

  constructor(clock: Clock, names: VenueNames = NAMES) {
    this.clock = clock
    this.catalog = new FakeCatalog(names)
    this.venueViews = (['a', 'b'] as const).map((venue) => ({
      venue,
      platform: names.platform(venue),
      state: 'live',
      lagMs: 5,
      connectionsOpen: 1,
      connectionsWanted: 1,
    }))
    this.publisher = new Publisher({ epoch: this.epoch, log: silentLog, metrics: this.metrics })
    this.accounts = new FakeAccounts(clock)
  }

  /** Adds a market; of venue a unless the listing says otherwise. */
  add(name: string, set: Partial<MarketListing> = {}): FakeMarket {
    const market = new FakeMarket(this, listing(name, set), this.catalog.byId.size + 1)
    this.catalog.byId.set(market.ref.id.toLowerCase(), market)
    return market
  }

  venues(): readonly VenueView[] {
    return this.venueViews
  }

  isStorageHealthy(): boolean {
    return this.isHealthy
  }

  uptimeSeconds(): number {
    return this.clock.monotonicMs() / 1000
  }
}
