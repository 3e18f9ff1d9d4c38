// Everything a wallet did from some second on, oldest first, whole seconds at a time. The venue gives 500
// rows at once and its offsets end, so that `start` moves to the last second seen and reads that one again;
// offsets serve within a second that fills a page, and to see that nothing follows. One answer is one
// moment's truth: equal rows in it are distinct, the same rows in the next answer are the same. What the
// venue withholds, repeats or mixes up makes the reading incomplete, never silently shorter.
// Not for: what a row means (rows.ts), roles (engine/venues/polymarket/wallets/roles.ts).
// Upholds WALLETREAD5, WALLETREAD7 to WALLETREAD10, WALLETREAD15 and WALLETREAD16.

import { type Clock, pause } from '../../../clock.ts'
import type { WalletAddress } from '../../../ids.ts'
import { isRecord } from '../../../json-record.ts'
import { MINUTE_MS, type TimeMs, timeMs, toSeconds } from '../../../units.ts'
import type { WalletEvent, WalletReach } from '../../../wallet.ts'
import type { Intake } from '../intake.ts'
import { type FoundEvent, inOrder } from './order.ts'
import { type ActivityPage, ActivityPages, type JsonHost, keyOf, listOf } from './pages.ts'
import { readRoles } from './roles.ts'
import { type PlacedRow, readActivity } from './rows.ts'

export interface WalletHistoryParts {
  readonly clock: Clock
  readonly data: JsonHost
  readonly intake: Intake
}

export interface WalletHistoryAsked {
  readonly address: WalletAddress
  /** A whole second. */
  readonly fromMs: TimeMs
  /** Of the last event known already; null: none is. */
  readonly lastMs?: TimeMs | null
}

export type OnWalletEvents = (events: readonly WalletEvent[]) => void | Promise<void>

/** The most that the venue gives at once. */
const PAGE_ROWS = 500
/** A venue that caps its pages lower does so at a round number. */
const ROUND_ROWS = 10
/** The venue refuses offsets above this. */
const OFFSET_MAX = 10_000
/**
 * The Data API shows a row some seconds after the chain has it; how late the last ones come is not documented. The
 * stream's check (engine/venues/polymarket/trades/check.ts) waits about as long for a row: younger seconds may still gain some.
 */
const INDEXED_AFTER_MS = MINUTE_MS
/** An answer that does not fit its question is asked for again, after a pause, this often in all. */
const TRIES = 3
const TRY_AGAIN_MS = 500
/** Five million rows at full pages; a venue that caps them at one row is given up after 10,000 of its rows. */
const PAGES_MAX = 10_000

/** Reads `asked` to the end; see VenueWallets.history. Rejects with FetchError. */
export function readWalletHistory(
  parts: WalletHistoryParts,
  asked: WalletHistoryAsked,
  onEvents: OnWalletEvents,
  signal: AbortSignal,
): Promise<WalletReach> {
  return new Reading(parts, asked, onEvents, signal).run()
}

/** Rows of whole seconds, and where to go on. */
interface Found {
  readonly rows: readonly PlacedRow[]
  /** The first second not in `rows`; null: nothing follows. */
  readonly next: number | null
  /** Rows of `next` seen already: the next answer must hold them too. */
  readonly border: readonly PlacedRow[]
  /** 'withheld': the venue gives out no more of this second. 'unsure': answers disagree; worth asking again. */
  readonly state: 'whole' | 'withheld' | 'unsure'
}

class Reading {
  readonly #parts: WalletHistoryParts
  readonly #asked: WalletHistoryAsked
  readonly #onEvents: OnWalletEvents
  readonly #signal: AbortSignal
  readonly #pages: ActivityPages
  readonly #fromS: number
  readonly #endS: number
  /** Everything before this second was handed over. */
  #cursor: number
  #border: readonly PlacedRow[] = []
  /** A page as long as this was full: something follows without asking. */
  #fullRows = PAGE_ROWS
  #isComplete = true
  #isTailWhole = true
  /** Of the last event known, until it was seen again: an answer without it proves nothing. */
  #lastS: number | null
  #isLastTold = true
  #hasRows = false
  readonly #settledS: number

  constructor(
    parts: WalletHistoryParts,
    asked: WalletHistoryAsked,
    onEvents: OnWalletEvents,
    signal: AbortSignal,
  ) {
    this.#parts = parts
    this.#asked = asked
    this.#onEvents = onEvents
    this.#signal = signal
    this.#pages = new ActivityPages(parts, { address: asked.address, signal })
    this.#fromS = toSeconds(asked.fromMs)
    const lastMs = asked.lastMs ?? null
    this.#lastS = lastMs === null ? null : toSeconds(lastMs)
    // By the clock at the beginning: pages of a long reading are older than its end.
    this.#settledS = Math.floor((parts.clock.nowMs() - INDEXED_AFTER_MS) / 1_000)
    this.#endS = toSeconds(parts.clock.nowMs())
    // A second earlier: whether `start` is inclusive is not documented. 0 means no bound to the venue.
    this.#cursor = Math.max(1, Math.min(this.#fromS, this.#lastS ?? this.#fromS) - 1)
  }

  async run(): Promise<WalletReach> {
    let settledS = this.#settledS
    while (this.#cursor <= this.#endS) {
      const found = this.#pages.pageCount < PAGES_MAX ? await this.#find() : null
      if (found === null) {
        this.#parts.intake.trouble('wallet_history_stuck', `second ${this.#cursor}`)
        this.#isTailWhole = false
        settledS = Math.min(settledS, this.#cursor)
        break
      }
      if (found.state !== 'whole') {
        this.#parts.intake.trouble(`wallet_second_${found.state}`, `second ${this.#cursor}`)
        this.#doubt(this.#cursor)
      }
      await this.#handOver(found.rows)
      if (found.next === null) break
      this.#cursor = found.next
      this.#border = found.border
    }
    // Where a row without a second belongs nobody knows.
    if (this.#pages.unreadableCount > 0) this.#isComplete = false
    if (!this.#hasRows && this.#fromS === 0 && (await this.#hasPast())) {
      this.#parts.intake.trouble('wallet_history_empty', this.#asked.address)
      this.#isTailWhole = false
      settledS = 0
    }
    const settledToMs = timeMs(Math.max(0, settledS) * 1_000)
    return {
      ...{ settledToMs, isComplete: this.#isComplete },
      ...{ isTailWhole: this.#isTailWhole, isLastTold: this.#isLastTold },
    }
  }

  /** Something of this second may be missing: for good where it becomes settled, else until it is read again. */
  #doubt(second: number): void {
    if (second < this.#settledS) this.#isComplete = false
    else this.#isTailWhole = false
  }

  /** Whether the venue knows of anything that the wallet did: a history of nothing is not believed then. */
  async #hasPast(): Promise<boolean> {
    const { data } = this.#parts
    const options = { signal: this.#signal }
    const user = this.#asked.address
    const traded = await data.getJson('/traded', { user }, options)
    if (isRecord(traded) && Number(traded.traded) > 0) return true
    const held = await data.getJson('/positions', { user, sizeThreshold: 0, limit: 1 }, options)
    return listOf(held, '/positions').length > 0
  }

  /** Null: no answer fits the question. */
  async #find(): Promise<Found | null> {
    let found: Found | null = null
    for (let tried = 0; tried < TRIES; tried += 1) {
      if (tried > 0) await pause(this.#parts.clock, TRY_AGAIN_MS * tried, this.#signal)
      // Earlier seconds come along on a second try: against a `start` that is exclusive, and an answer kept for it.
      found = (await this.#look(Math.max(1, this.#cursor - tried))) ?? found
      if (found !== null && found.state !== 'unsure') return found
    }
    return found
  }

  async #look(startS: number): Promise<Found | null> {
    const page = await this.#page(startS, 0, PAGE_ROWS)
    if (!page.isFit) return null
    const rows = page.rows.filter(({ second }) => second >= this.#cursor)
    if (!this.#provesLast(rows)) return null
    const lastS = rows.at(-1)?.second
    const found =
      lastS === undefined
        ? await this.#nothing(startS, page)
        : lastS > this.#cursor
          ? await this.#seconds(startS, page, rows, lastS)
          : await this.#oneSecond(startS, page)
    if (found?.state !== 'whole') return found
    return this.#holdsBorder(found.rows) ? found : null
  }

  /** Whether the last event known is told again, by the first answer that fits. */
  #provesLast(rows: readonly PlacedRow[]): boolean {
    const isSeen = this.#lastS === null || rows.some(({ second }) => second === this.#lastS)
    if (isSeen) this.#lastS = null
    this.#isLastTold = isSeen
    return isSeen
  }

  /** An empty first page is believed when it comes twice: a venue in trouble may answer so too. */
  async #nothing(startS: number, page: ActivityPage): Promise<Found | null> {
    if (page.count > 0) return null
    const again = await this.#page(Math.max(1, startS - 1), 0, PAGE_ROWS)
    const isNothing = again.rows.every(({ second }) => second < this.#cursor)
    if (!isNothing || again.count >= PAGE_ROWS) return null
    return { rows: [], next: null, border: [], state: 'whole' }
  }

  /** A page of several seconds: all but its last are whole, that one too when nothing follows. */
  async #seconds(
    startS: number,
    page: ActivityPage,
    rows: readonly PlacedRow[],
    lastS: number,
  ): Promise<Found> {
    if (page.count < this.#fullRows) {
      // A short page need not be the last: the venue may cap pages lower than we ask.
      const after = await this.#following(startS, page.count, page)
      if (after?.count === 0) return { rows, next: null, border: [], state: 'whole' }
      this.#fullRows = page.count
    }
    return {
      rows: rows.filter(({ second }) => second < lastS),
      next: lastS,
      border: rows.filter(({ second }) => second === lastS),
      state: 'whole',
    }
  }

  /**
   * A second that fills a page and goes on by offsets is read twice, its pages beginning elsewhere: rows that moved
   * between two pages, or stood on both, do not come out equal.
   */
  async #oneSecond(startS: number, first: ActivityPage): Promise<Found> {
    const one = await this.#pass(startS, first)
    if (one.state !== 'whole' || !one.isPaged) return one
    const half = await this.#page(startS, 0, Math.ceil(first.count / 2))
    const other = half.isFit ? await this.#pass(startS, half) : null
    const isSame = other?.state === 'whole' && areEqual(one.rows, other.rows)
    return isSame ? one : { ...one, state: 'unsure' }
  }

  /** Reads the second at the cursor from its first page on, to a later second or the end. */
  async #pass(startS: number, first: ActivityPage): Promise<Found & { isPaged: boolean }> {
    const rows = first.rows.filter(({ second }) => second === this.#cursor)
    const prints = new Set([first.print])
    // Nothing past this second was seen: one may follow at once.
    const cut = { rows, next: this.#cursor + 1, border: [], isPaged: true }
    let page = first
    let offset = first.count
    for (;;) {
      const later = page.rows.find(({ second }) => second > this.#cursor)?.second
      const isPaged = prints.size > 1
      if (later !== undefined) {
        const border = page.rows.filter(({ second }) => second === later)
        return { rows, next: later, border, state: 'whole', isPaged }
      }
      if (offset > OFFSET_MAX) return { ...cut, state: 'withheld' }
      const next = await this.#following(startS, offset, page)
      if (next === null) return { ...cut, state: 'withheld' }
      if (next.count === 0) return { rows, next: null, border: [], state: 'whole', isPaged }
      if (!next.isFit || prints.has(next.print)) return { ...cut, state: 'unsure' }
      prints.add(next.print)
      for (const row of next.rows) if (row.second === this.#cursor) rows.push(row)
      page = next
      offset += next.count
    }
  }

  /** The page at `offset`, after `page`; null: refused. Nothing after a page that looks full is asked for twice. */
  async #following(
    startS: number,
    offset: number,
    page: ActivityPage,
  ): Promise<ActivityPage | null> {
    const asked = { startS, endS: this.#endS, offset, limit: PAGE_ROWS }
    const next = await this.#pages.readDeep(asked)
    const looksFull = page.count >= this.#fullRows || page.count % ROUND_ROWS === 0
    return next?.count === 0 && looksFull ? await this.#pages.readDeep(asked) : next
  }

  #page(startS: number, offset: number, limit: number): Promise<ActivityPage> {
    return this.#pages.read({ startS, endS: this.#endS, offset, limit })
  }

  /** What was seen of the cursor's second before must be seen again. */
  #holdsBorder(rows: readonly PlacedRow[]): boolean {
    if (this.#border.length === 0) return true
    const counts = countKeys(rows.filter(({ second }) => second === this.#cursor))
    for (const [key, count] of countKeys(this.#border)) {
      if ((counts.get(key) ?? 0) < count) return false
    }
    return true
  }

  async #handOver(rows: readonly PlacedRow[]): Promise<void> {
    const { intake } = this.#parts
    const told: FoundEvent[] = []
    if (rows.length > 0) this.#hasRows = true
    for (const row of rows) {
      if (row.second < this.#fromS) continue
      const read = readActivity(row)
      if (read.kind === 'event') told.push(read)
      else if (read.kind === 'ignored') intake.ignore(read.reason)
      else {
        this.#doubt(row.second)
        intake.reject(read.reason, JSON.stringify(row.wire))
      }
    }
    if (told.length === 0) return
    await this.#onEvents(await this.#withRoles(inOrder(told)))
  }

  async #withRoles(found: readonly FoundEvent[]): Promise<readonly WalletEvent[]> {
    const fills = found.flatMap(({ event, key }) => (key === null ? [] : [{ event, key }]))
    const [first, last] = [fills[0], fills.at(-1)]
    if (first === undefined || last === undefined) return found.map(({ event }) => event)
    const roles = await readRoles(
      this.#parts,
      {
        address: this.#asked.address,
        startS: toSeconds(first.event.timeMs),
        endS: toSeconds(last.event.timeMs),
        keys: fills.map(({ key }) => key),
      },
      this.#signal,
    )
    let position = 0
    return found.map(({ event, key }) => {
      if (key === null) return event
      position += 1
      return { ...event, role: roles[position - 1] ?? null }
    })
  }
}

function countKeys(rows: readonly PlacedRow[]): Map<string, number> {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const key = keyOf(row)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

function areEqual(one: readonly PlacedRow[], other: readonly PlacedRow[]): boolean {
  if (one.length !== other.length) return false
  const counts = countKeys(other)
  for (const [key, count] of countKeys(one)) if (counts.get(key) !== count) return false
  return true
}
