// Reads Gamma's market list. The parameter of the next page is `after_cursor`. Gamma ignores other names.

import type { Clock } from '../../../clock.ts'
import { FetchError, getIfFound, type JsonReader, type Query } from '../../../fetch.ts'
import type { NativeMarketId } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import type { ReadEvent, ReadListing } from '../../../market/market.ts'
import { runInSlices, runToEnd, type SlicedWork } from '../../../time-slices.ts'
import { formatTime, type TimeMs, timeMs } from '../../../units.ts'
import { listIn, pagesOf, SuspectAnswerError } from '../../answer-checks.ts'
import type { CatalogPage, VenueCatalog } from '../../venue.ts'
import type { VenueCounters } from '../../venue-counters.ts'
import { conditionId } from '../condition-id.ts'
import { checkMarketRows } from '../drift-checks.ts'
import type { Json } from '../messages.ts'
import type { PolymarketFees } from './fees.ts'
import {
  changedAtMs,
  closedAtMs,
  groupIn,
  isInGroup,
  nestedEvent,
  plannedEndMs,
  readEvent,
  readMarket,
  settledAtMs,
} from './listing.ts'

interface CatalogParts {
  readonly clock: Clock
  readonly gamma: JsonReader
  readonly counters: VenueCounters
  readonly fees: Pick<PolymarketFees, 'completed'>
}

type OnPage = (page: CatalogPage) => void | Promise<void>

const PATH = '/events/keyset'
/** A page of 100 events with their markets has a few megabytes. */
const EVENTS_PER_PAGE = 100
/** Condition ids per request. A longer URL exceeds the limit of some servers. */
const IDS_PER_CALL = 40
/** Maximum age of a resolution. Markets that were resolved earlier are not read. */
const SETTLED_MS = 2 * 86_400_000
/** A refresh starts this much before the previous refresh, because rows change while they are read. */
const REFRESH_OVERLAP_MS = 60_000
/** Maximum pages of a list. A longer list means that the cursor loops. */
const PAGES_MAX = 20_000
/** Maximum pages of closed events, newest first. The limit exceeds two days of events. */
const CLOSED_PAGES_MAX = 500
/** Maximum pages of recently changed closed events. The limit matters if the venue updates its whole history at once. */
const CHANGED_PAGES_MAX = 50
/**
 * Maximum pages of events without a time at the start of an ordered list. After more pages the list counts as
 * unordered.
 */
const UNTIMED_PAGES_MAX = 20

export class PolymarketCatalog implements VenueCatalog {
  readonly #parts: CatalogParts
  /** Sort orders that the server refused. They are not requested again. */
  readonly #refused = new Set<string>()

  constructor(parts: CatalogParts) {
    this.#parts = parts
  }

  /** Reads open, recently closed and recently changed events. A dispute may delay the result of an event by days. */
  async crawl(onPage: OnPage, signal: AbortSignal): Promise<void> {
    const oldestMs = this.#oldestMs()
    const give = async (events: readonly Json[]) => onPage(await this.#read(events, oldestMs))
    await this.#eventPages({ closed: false }, give, signal)
    const seen = new Set<unknown>()
    const giveNew = async (events: readonly Json[]) => {
      const fresh = events.filter(({ slug }) => !seen.has(slug))
      for (const { slug } of fresh) seen.add(slug)
      if (fresh.length > 0) await give(fresh)
    }
    const isRead = await this.#closedPages({ ...CLOSED_LATELY, fromMs: oldestMs }, giveNew, signal)
    await this.#closedPages({ ...CHANGED_LATELY, fromMs: oldestMs }, giveNew, signal)
    if (!isRead) await this.#plannedPages(giveNew, signal)
  }

  /** Reads events by time of change until a page is older than `sinceMs`. Reads an unordered list to its end. */
  async refresh(sinceMs: TimeMs, onPage: OnPage, signal: AbortSignal): Promise<void> {
    const oldestMs = this.#oldestMs()
    const fromMs = timeMs(sinceMs - REFRESH_OVERLAP_MS)
    const give = async (events: readonly Json[]) => {
      const changed = events.filter((event) => (latestChangeMs(event) ?? fromMs) >= fromMs)
      if (changed.length > 0) await onPage(await this.#read(changed, oldestMs))
    }
    const newest = new NewestFirst({ ...CHANGED_LATELY, fromMs })
    const giveOpen = async (events: readonly Json[]) => {
      // The list starts with the newest event of any age, so an empty first page is suspect.
      if (events.length === 0 && !newest.hasBegun) {
        throw new SuspectAnswerError('catalogue', 'empty', 'no open event')
      }
      const isOver = newest.isOver(events)
      await give(events)
      return isOver ? 'enough' : undefined
    }
    const isTaken = await this.#orderedPages({ closed: false }, CHANGED_LATELY, giveOpen, signal)
    if (!isTaken) await this.#eventPages({ closed: false }, giveOpen, signal)
    const isRead = await this.#closedPages({ ...CHANGED_LATELY, fromMs }, give, signal)
    if (!isRead) await this.#plannedPages(give, signal)
  }

  #plannedPages(onEvents: (events: readonly Json[]) => unknown, signal: AbortSignal) {
    const planned = { closed: true, end_date_min: formatTime(this.#oldestMs()) }
    return this.#eventPages(planned, onEvents, signal)
  }

  /** Reads closed events, newest first, back to `fromMs`. Returns false if the server does not respect the order. */
  async #closedPages(
    order: EventOrder & { readonly fromMs: TimeMs },
    onEvents: (events: readonly Json[]) => unknown,
    signal: AbortSignal,
  ): Promise<boolean> {
    const newest = new NewestFirst(order)
    const give = async (events: readonly Json[]) => {
      const isOver = newest.isOver(events)
      if (newest.isOrdered) await onEvents(events)
      const isTooLong = newest.pageCount >= order.pagesMax
      if (isTooLong && !isOver)
        this.#parts.counters.trouble('closed_list_cut', { detail: order.name })
      return isOver || isTooLong || !newest.isOrdered ? 'enough' : undefined
    }
    const isTaken = await this.#orderedPages({ closed: true }, order, give, signal)
    return isTaken && newest.isOrdered
  }

  /** Returns false if the server refuses the order. It may still serve the list without an order. */
  async #orderedPages(
    filter: Query,
    { name }: EventOrder,
    onEvents: (events: readonly Json[]) => unknown,
    signal: AbortSignal,
  ): Promise<boolean> {
    if (this.#refused.has(name)) return false
    try {
      await this.#eventPages({ ...filter, order: name, ascending: false }, onEvents, signal)
      return true
    } catch (error) {
      const status = error instanceof FetchError ? (error.status ?? null) : null
      if (status === null || status === 429) throw error
      // A 5xx may be temporary. For open events no unordered read follows, because they are too many.
      if (status < 500) this.#refused.add(name)
      else if (filter.closed === false) throw error
      this.#parts.counters.trouble('order_refused', { detail: `${name}: ${error}` })
      return false
    }
  }

  async fetchMarkets(ids: readonly NativeMarketId[], signal: AbortSignal): Promise<CatalogPage> {
    const markets = new Map<string, ReadListing>()
    const events = new Map<string, ReadEvent>()
    const answered = new Set<NativeMarketId>()
    for (let from = 0; from < ids.length; from += IDS_PER_CALL) {
      const wanted = ids.slice(from, from + IDS_PER_CALL)
      // Gamma returns either open or closed rows in one response.
      for (const closed of [false, true]) {
        const query = {
          closed,
          condition_ids: wanted.flatMap(formsOf),
          limit: 100,
          include_tag: true,
        }
        const rows = await this.#markets(query, signal)
        for (const row of rows) answered.add(conditionId(String(row.conditionId)))
        await this.#addWithEvents(rows, { markets, events }, signal)
        if (markets.size >= from + wanted.length) break
      }
    }
    const refused = ids.filter((id) => answered.has(id) && !markets.has(id))
    return { markets: [...markets.values()], events: [...events.values()], refused }
  }

  async group(
    market: NativeMarketId,
    signal: AbortSignal,
  ): Promise<readonly NativeMarketId[] | null> {
    for (const closed of [true, false]) {
      const query = { closed, condition_ids: formsOf(market), limit: 100 }
      const rows = await this.#markets(query, signal)
      const row = rows.find(({ conditionId: id }) => conditionId(String(id)) === market)
      if (row === undefined) continue
      const slug = nestedEvent(row)?.slug
      const event =
        isInGroup(row) && typeof slug === 'string' ? await this.#event(slug, signal) : null
      const group = event === null ? [] : groupIn(event, row)
      if (group.includes(market)) return group
      if (event !== null) this.#parts.counters.trouble('group_without_market', { detail: market })
      return null
    }
    return null
  }

  /** Reads each event separately, because the event that is nested in a market row has no tags. */
  async #addWithEvents(
    rows: readonly Json[],
    found: { markets: Map<string, ReadListing>; events: Map<string, ReadEvent> },
    signal: AbortSignal,
  ): Promise<void> {
    const parents = new Map<string, Json | null>()
    for (const row of rows) {
      const nested = nestedEvent(row)
      const slug = nested?.slug
      let parent = nested
      if (nested !== null && typeof slug === 'string' && nested.tags === undefined) {
        if (!parents.has(slug)) parents.set(slug, await this.#event(slug, signal))
        parent = parents.get(slug) ?? nested
      }
      const page = runToEnd(this.#readRows([row], parent))
      // A nested event must not replace the event that was read earlier, which has more fields.
      const lacksEvent = parent !== null && parent === nested && nested.tags === undefined
      for (const market of page.markets) {
        found.markets.set(market.nativeId, lacksEvent ? { ...market, lacksEvent } : market)
      }
      if (lacksEvent) continue
      for (const event of page.events) found.events.set(event.nativeId, event)
    }
  }

  async #event(slug: string, signal: AbortSignal): Promise<Json | null> {
    const path = `/events/slug/${encodeURIComponent(slug)}`
    const answer = await getIfFound(this.#parts.gamma, path, {}, signal)
    return isRecord(answer) ? answer : null
  }

  async #markets(query: Query, signal: AbortSignal): Promise<readonly Json[]> {
    const answer = await this.#parts.gamma.getJson('/markets/keyset', query, { signal })
    const rows = listIn(answer, 'markets', 'market')
    checkMarketRows(rows, this.#parts.counters.drift)
    return rows.filter(isRecord)
  }

  /** Follows the cursors of /events/keyset until the last page or until the callback returns `enough`. */
  async #eventPages(
    filter: Query,
    onEvents: (events: readonly Json[]) => unknown,
    signal: AbortSignal,
  ): Promise<void> {
    const fetchPage = async (cursor?: string) => {
      const query = { ...filter, limit: EVENTS_PER_PAGE, after_cursor: cursor }
      const answer = await this.#parts.gamma.getJson(PATH, query, { signal })
      const next = isRecord(answer) ? answer.next_cursor : null
      const isLast = typeof next !== 'string' || next === ''
      return { rows: listIn(answer, 'events', 'catalogue'), next: isLast ? null : next }
    }
    const list = { kind: 'catalogue', name: PATH, pagesMax: PAGES_MAX } as const
    for await (const rows of pagesOf(fetchPage, list)) {
      if ((await onEvents(rows.filter(isRecord))) === 'enough') return
    }
  }

  /** Parses a page in time slices, because its hundreds of markets would block the event loop. */
  #read(rows: readonly Json[], oldestMs: TimeMs): Promise<CatalogPage> {
    return runInSlices(this.#parts.clock, this.#readEvents(rows, oldestMs))
  }

  *#readEvents(rows: readonly Json[], oldestMs: TimeMs): SlicedWork<CatalogPage> {
    const markets: ReadListing[] = []
    const events: ReadEvent[] = []
    const nestedRows = rows.flatMap((row) => (Array.isArray(row.markets) ? row.markets : []))
    checkMarketRows(nestedRows, this.#parts.counters.drift)
    for (const row of rows) {
      if (!Array.isArray(row.markets)) this.#parts.counters.rowRefused('no_markets', sampleOf(row))
      const nested = Array.isArray(row.markets) ? row.markets : []
      const page = yield* this.#readRows(nested, row, oldestMs)
      markets.push(...page.markets)
      // Skips an event whose markets are all long settled.
      if (page.markets.length > 0) events.push(...page.events)
    }
    return { markets, events }
  }

  *#readRows(
    rows: readonly unknown[],
    parent: Json | null,
    oldestMs?: TimeMs,
  ): SlicedWork<CatalogPage> {
    const { counters, fees } = this.#parts
    const markets: ReadListing[] = []
    for (const row of rows) {
      yield
      const market = readMarket(row, parent)
      if (typeof market === 'string') counters.rowRefused(market, sampleOf(row))
      else if (market.status === 'resolved' && isLongSettled(row, parent, oldestMs)) {
        counters.ignored('long_settled')
      } else {
        counters.rowRead()
        markets.push(fees.completed(market))
      }
    }
    const event = parent === null ? null : readEvent(parent)
    if (typeof event === 'string') counters.rejected(event, sampleOf(parent))
    return { markets, events: event === null || typeof event === 'string' ? [] : [event] }
  }

  #oldestMs(): TimeMs {
    return timeMs(this.#parts.clock.nowMs() - SETTLED_MS)
  }
}

/** Both forms of an id are requested. Gamma may list a v2 market under its 31-byte id, and a v1 id may end in 00. */
function formsOf(id: NativeMarketId): readonly string[] {
  return id.endsWith('00') ? [id, id.slice(0, -2)] : [id]
}

interface EventOrder {
  readonly name: string
  /** The event's sort key. Null if unknown. */
  readonly atMs: (event: Json) => TimeMs | null
  /** The event's latest relevant time. Null if unknown. */
  readonly latestMs: (event: Json) => TimeMs | null
  /** Maximum pages of closed events. The venue never deletes them. */
  readonly pagesMax: number
}

const CLOSED_LATELY: EventOrder = {
  name: 'closedTime',
  atMs: closedAtMs,
  latestMs: closedAtMs,
  pagesMax: CLOSED_PAGES_MAX,
}
const CHANGED_LATELY: EventOrder = {
  name: 'updatedAt',
  atMs: changedAtMs,
  latestMs: latestChangeMs,
  pagesMax: CHANGED_PAGES_MAX,
}

/** Checks that pages are newest first, and detects when all further pages are too old. */
class NewestFirst {
  readonly #order: EventOrder & { readonly fromMs: TimeMs }
  #lastMs = Number.POSITIVE_INFINITY
  #untimedPageCount = 0
  isOrdered = true
  hasBegun = false
  pageCount = 0

  constructor(order: EventOrder & { readonly fromMs: TimeMs }) {
    this.#order = order
  }

  isOver(events: readonly Json[]): boolean {
    const { atMs, latestMs, fromMs } = this.#order
    let newestMs = Number.NEGATIVE_INFINITY
    let isTimed = false
    this.pageCount += 1
    this.hasBegun ||= events.length > 0
    for (const event of events) {
      const orderMs = atMs(event)
      newestMs = Math.max(newestMs, latestMs(event) ?? Number.POSITIVE_INFINITY)
      if (orderMs === null) {
        // An event without a time must not follow an event with a time. Otherwise the list is unordered.
        this.isOrdered &&= this.#lastMs === Number.POSITIVE_INFINITY
        continue
      }
      isTimed = true
      this.isOrdered &&= orderMs <= this.#lastMs
      this.#lastMs = orderMs
    }
    if (!isTimed) this.#untimedPageCount += 1
    this.isOrdered &&= this.#untimedPageCount <= UNTIMED_PAGES_MAX
    return this.isOrdered && events.length > 0 && newestMs < fromMs
  }
}

function latestChangeMs(event: Json): TimeMs | null {
  let latestMs = changedAtMs(event)
  for (const market of Array.isArray(event.markets) ? event.markets : []) {
    const atMs = isRecord(market) ? changedAtMs(market) : null
    if (atMs !== null && (latestMs === null || atMs > latestMs)) latestMs = atMs
  }
  return latestMs
}

function isLongSettled(row: unknown, parent: Json | null, oldestMs: TimeMs | undefined): boolean {
  if (oldestMs === undefined || !isRecord(row)) return false
  const atMs = settledAtMs(row) ?? (parent && closedAtMs(parent)) ?? plannedEndMs(row)
  return atMs !== null && atMs < oldestMs
}

function sampleOf(row: unknown): string {
  return isRecord(row) ? `${row.id} ${row.slug}` : String(row)
}
