// Records and checks a client's events: every trade once, and every book's seq without an unannounced gap.

import type { Channel, GapEvent, StreamEvent } from '../../../http/client/connect.ts'

export interface TrueTrade {
  readonly market: string
  readonly id: string
  /** Offset in the run that published the trade; null if only the venue's data is known. */
  readonly offset: number | null
  readonly seq: number | null
  readonly atMs: number
}

interface FollowedSeq {
  epoch: string
  seq: number
  /** After an announced gap nothing is checked until the next snapshot. */
  isGapOpen: boolean
}

/** The first `synced` of a channel. From then on the client must receive every trade. */
interface Start {
  readonly offset: number
  readonly atMs: number
}

const FAULTS_MAX = 20

export class ClientLedger {
  readonly name: string
  readonly faults: string[] = []
  readonly starts = new Map<Channel, Start>()
  readonly gaps = new Map<string, number>()
  readonly counts = { connections: 0, resumes: 0, replayed: 0, updates: 0, snapshots: 0, trades: 0 }
  readonly #books = new Map<string, FollowedSeq>()
  /** Ids of received trades by market. */
  readonly #trades = new Map<string, Set<string>>()
  readonly #tradeGaps: GapEvent[] = []

  constructor(name: string) {
    this.name = name
  }

  take(event: StreamEvent): void {
    switch (event.type) {
      case 'connected':
        this.counts.connections += 1
        return
      case 'synced':
        if (this.starts.has(event.channel)) return
        this.starts.set(event.channel, { offset: event.offset, atMs: Date.now() })
        return
      case 'resumed':
        this.counts.resumes += 1
        this.counts.replayed += event.replayed
        return
      case 'trade':
        return this.#takeTrade(event.market_id, event.data.id)
      case 'snapshot':
        return this.#takeSnapshot(event)
      case 'update':
        return this.#takeUpdate(event)
      case 'gap':
        return this.#takeGap(event)
      case 'fault':
        return this.#fault(`the client could not read something: ${event.reason}`)
      case 'error':
        return event.code === 'RATE_LIMITED' ? undefined : this.#fault(JSON.stringify(event))
      case 'state':
        return event.state === 'closed' ? this.#fault(`given up: ${event.reason}`) : undefined
    }
  }

  /** Returns the expected trades that the client did not receive, and those that an announced gap covers. */
  compare(truth: readonly TrueTrade[], isOurs: (market: string) => boolean) {
    const start = this.starts.get('trades')
    const found = {
      due: 0,
      handed: 0,
      missing: [] as string[],
      announced: 0,
      extra: [] as string[],
    }
    const trueIds = new Set<string>()
    for (const trade of truth) {
      if (!isOurs(trade.market)) continue
      trueIds.add(`${trade.market} ${trade.id}`)
      const isHanded = this.#trades.get(trade.market)?.has(trade.id) === true
      if (start === undefined) continue
      const isDue = trade.offset === null ? trade.atMs > start.atMs : trade.offset > start.offset
      if (!isDue) continue
      found.due += 1
      if (isHanded) found.handed += 1
      else if (this.#tradeGaps.some((gap) => covers(gap, trade))) found.announced += 1
      else found.missing.push(`${this.name}: ${trade.market} ${trade.id}`)
    }
    for (const [market, ids] of this.#trades) {
      for (const id of ids) {
        if (!trueIds.has(`${market} ${id}`)) found.extra.push(`${this.name}: ${market} ${id}`)
      }
    }
    return found
  }

  #fault(text: string): void {
    if (this.faults.length < FAULTS_MAX) this.faults.push(`${this.name}: ${text}`)
  }

  #takeTrade(marketId: string, tradeId: string): void {
    this.counts.trades += 1
    const [market, id] = [marketId.toLowerCase(), tradeId.toLowerCase()]
    const ids = this.#trades.get(market) ?? new Set<string>()
    this.#trades.set(market, ids)
    if (ids.has(id)) this.#fault(`trade ${market} ${id} was handed twice`)
    ids.add(id)
  }

  #takeSnapshot(event: StreamEvent & { type: 'snapshot' }): void {
    this.counts.snapshots += 1
    const { market_id: market, epoch, seq } = event
    const book = this.#books.get(market)
    if (book !== undefined && !book.isGapOpen && (book.epoch !== epoch || book.seq !== seq)) {
      this.#fault(`${market}: snapshot ${epoch} ${seq} after ${book.epoch} ${book.seq}, untold`)
    }
    this.#books.set(market, { epoch, seq, isGapOpen: false })
  }

  #takeUpdate(event: StreamEvent & { type: 'update' }): void {
    this.counts.updates += 1
    const { market_id: market, epoch, seq } = event
    const book = this.#books.get(market)
    if (book === undefined) return this.#fault(`${market}: update ${seq} before any snapshot`)
    if (book.isGapOpen) this.#fault(`${market}: update ${seq} within a gap`)
    else if (book.epoch !== epoch || seq !== book.seq + 1) {
      this.#fault(`${market}: update ${epoch} ${seq} after ${book.epoch} ${book.seq}, untold`)
    }
    this.#books.set(market, { epoch, seq, isGapOpen: false })
  }

  #takeGap(gap: GapEvent): void {
    const name = `${gap.channel} ${gap.cause}`
    this.gaps.set(name, (this.gaps.get(name) ?? 0) + 1)
    if (gap.channel === 'trades') this.#tradeGaps.push(gap)
    if (gap.channel !== 'orderbook') return
    for (const [market, book] of this.#books) {
      if (gap.market_id === null || gap.market_id === market) book.isGapOpen = true
    }
  }
}

function covers(gap: GapEvent, trade: TrueTrade): boolean {
  const { market_id: market, platform } = gap
  if (market !== null && market.toLowerCase() !== trade.market) return false
  if (platform !== null && !trade.market.startsWith(`${platform}_`)) return false
  if (gap.from_seq !== null && gap.to_seq !== null && trade.seq !== null) {
    return trade.seq >= gap.from_seq && trade.seq <= gap.to_seq
  }
  const isAfter = gap.from_ms === null || trade.atMs >= gap.from_ms
  return isAfter && (gap.to_ms === null || trade.atMs <= gap.to_ms)
}
