// All books of a client. A book that goes out of sync ignores updates, emits one gap event and requests a snapshot.

import { Book, type BookView } from './book.ts'
import { gapEvent } from './channel-state.ts'
import type {
  FreshMessage,
  GapCause,
  GapEvent,
  SnapshotMessage,
  StaleMessage,
  UpdateMessage,
} from './messages.ts'

/** Watchdog ticks before an overdue snapshot is requested again. Doubles with each attempt. */
const PATIENCE_BEATS = 2
const PATIENCE_BEATS_MAX = 64

interface BooksParts {
  readonly onGap: (gap: GapEvent) => void
  readonly request: (marketIds: readonly string[]) => void
}

export class Books {
  readonly #parts: BooksParts
  readonly #books = new Map<string, Book>()
  readonly #outOfSync = new Set<Book>()

  constructor(parts: BooksParts) {
    this.#parts = parts
  }

  view(marketId: string, depth?: number): BookView | null {
    return this.#books.get(marketId)?.view(depth) ?? null
  }

  marketIds(): Iterable<string> {
    return this.#books.keys()
  }

  isInSync(marketId: string): boolean {
    return this.#books.get(marketId)?.isInSync === true
  }

  take(message: SnapshotMessage | UpdateMessage): boolean {
    const book = this.#books.get(message.market_id) ?? this.#make(message.market_id)
    return message.type === 'snapshot' ? this.#replace(book, message) : this.#update(book, message)
  }

  /** Marks a book out of sync because the server did so. The server sends a snapshot without a request. */
  resync(marketId: string, cause: GapCause): void {
    this.#lose(this.#books.get(marketId) ?? this.#make(marketId), { cause, isExpected: true })
  }

  /** A `fresh` message with a later `seq` than the local book shows that updates are missing. */
  updateStaleness(message: StaleMessage | FreshMessage): void {
    const book = this.#books.get(message.market_id)
    if (book === undefined) return
    book.isStale = message.type === 'stale'
    if (message.type === 'fresh') this.fellBehind(message.market_id, message.seq)
  }

  fellBehind(marketId: string, seq: number): void {
    const book = this.#books.get(marketId)
    if (book?.isInSync !== true || book.seq >= seq) return
    this.#lose(book, { cause: 'seq_hole', fromSeq: book.seq + 1, toSeq: seq })
  }

  drop(marketId: string): void {
    const book = this.#books.get(marketId)
    if (book === undefined) return
    this.#books.delete(marketId)
    this.#outOfSync.delete(book)
  }

  /** Requests missing snapshots. Call it only while no pending command can deliver them. */
  requestMissing(): void {
    this.#request([...this.#outOfSync].filter((book) => book.attempts === 0))
  }

  /** Called every half heartbeat while no command is pending. Requests overdue snapshots again. */
  beat(): void {
    const due: Book[] = []
    for (const book of this.#outOfSync) {
      book.beats += 1
      const patience = Math.min(PATIENCE_BEATS * 2 ** book.attempts, PATIENCE_BEATS_MAX)
      if (book.beats >= patience) due.push(book)
    }
    this.#request(due)
  }

  #request(books: readonly Book[]): void {
    for (const book of books) {
      book.attempts += 1
      book.beats = 0
    }
    if (books.length > 0) this.#parts.request(books.map((book) => book.marketId))
  }

  #replace(book: Book, message: SnapshotMessage): boolean {
    const { epoch, seq } = message
    if (book.isInSync && book.epoch === epoch) {
      if (seq < book.seq) return false
      if (seq > book.seq)
        this.#reportGap(book, { cause: 'away', fromSeq: book.seq + 1, toSeq: seq })
    } else if (book.isInSync) this.#reportGap(book, { cause: 'away' })
    const result = book.replace(message)
    if (result === 'applied') {
      this.#outOfSync.delete(book)
      return true
    }
    this.#lose(book, { cause: 'checksum' })
    return false
  }

  #update(book: Book, message: UpdateMessage): boolean {
    if (!book.isInSync) {
      if (book.epoch === '' && !book.isGapReported) this.#lose(book, { cause: 'no_base' })
      return false
    }
    const { epoch, seq } = message
    if (epoch !== book.epoch) {
      this.#lose(book, { cause: 'seq_hole' })
      return false
    }
    if (seq <= book.seq) return false
    if (seq > book.seq + 1) {
      this.#lose(book, { cause: 'seq_hole', fromSeq: book.seq + 1, toSeq: seq })
      return false
    }
    if (book.update(message) === 'applied') return true
    this.#lose(book, { cause: 'checksum', fromSeq: seq, toSeq: seq })
    return false
  }

  #make(marketId: string): Book {
    const book = new Book(marketId)
    this.#books.set(marketId, book)
    return book
  }

  #lose(book: Book, loss: Loss & { readonly isExpected?: boolean }): void {
    book.isInSync = false
    this.#outOfSync.add(book)
    this.#reportGap(book, loss)
    book.isGapReported = true
    if (loss.isExpected !== true && book.attempts === 0) this.#request([book])
  }

  /** Emits one gap event for all losses until the next snapshot. */
  #reportGap(book: Book, loss: Loss): void {
    if (book.isGapReported) return
    const { cause, fromSeq = null, toSeq = null } = loss
    const seqs = { from_seq: fromSeq, to_seq: toSeq }
    const market_id = book.marketId
    this.#parts.onGap(gapEvent('orderbook', { cause, state_follows: true, market_id, ...seqs }))
  }
}

interface Loss {
  readonly cause: GapCause
  readonly fromSeq?: number
  readonly toSeq?: number
}
