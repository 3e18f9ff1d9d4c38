// On which leg the venue prices No's side of a book. Its own is asked for (`use_yes_price: false`), but the venue
// announced the other as a coming default. A snapshot whose two best bids make more than a dollar is either crossed or on
// the other leg; the book over REST, always on No's own, tells which.

import { complement, PRICE_ONE, parsePrice, toDecimal } from '../../../units.ts'
import type { DriftNotes } from '../../drift/drift.ts'
import type { DataMessage, LevelText, OrderbookSnapshot } from '../messages.ts'

/** A book that is crossed at the venue would be asked for again with each snapshot. */
const CHECK_EVERY_MS = 30_000

interface LegParts {
  readonly nowMs: () => number
  readonly drift: DriftNotes
  /** The book over REST; null when it does not answer. */
  readonly fetchBook: (ticker: string) => Promise<OrderbookSnapshot | null>
  /** The prices of this connection were read on the wrong leg: all of its books must come anew. */
  readonly onFlip: () => void
}

/** The reading of one connection. */
export class Legs {
  readonly #parts: LegParts
  #isYesLeg = false
  #checkedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: LegParts) {
    this.#parts = parts
  }

  /** The message with No's side priced on No's own leg. */
  read(message: DataMessage): DataMessage {
    if (!this.#isYesLeg) return message
    if (message.kind === 'orderbookSnapshot') return { ...message, no: complemented(message.no) }
    if (message.kind !== 'orderbookDelta' || message.side === 'yes') return message
    return { ...message, price: otherLeg(message.price) }
  }

  /** Looks at a snapshot as it was read. */
  noteSnapshot(book: OrderbookSnapshot): void {
    if (!isCrossed(book)) return
    const nowMs = this.#parts.nowMs()
    if (nowMs - this.#checkedAtMs < CHECK_EVERY_MS) return
    this.#checkedAtMs = nowMs
    void this.#checkLeg(book)
  }

  async #checkLeg(book: OrderbookSnapshot): Promise<void> {
    const { drift, fetchBook, onFlip } = this.#parts
    const truth = await fetchBook(book.ticker)
    if (truth === null) return
    const sample = `${book.ticker} ${JSON.stringify([book.yes.slice(-2), book.no.slice(-2)])}`
    if (isCrossed(truth)) {
      drift.note('book.crossed', 'over REST too', sample, 'notice')
      return
    }
    // Between both answers the market may have moved: only levels that fit the other leg, and not this one, prove it.
    const restPrices = new Set(truth.no.map(([price]) => parsePrice(price)))
    const fitting = (levels: readonly LevelText[]) =>
      levels.filter(([price]) => restPrices.has(parsePrice(price))).length
    if (fitting(complemented(book.no)) <= fitting(book.no)) {
      drift.note('book.crossed', 'on the stream alone', sample, 'notice')
      return
    }
    this.#isYesLeg = !this.#isYesLeg
    drift.note('ws.use_yes_price', this.#isYesLeg ? 'flipped' : 'flipped back', sample)
    onFlip()
  }
}

/** Whether bids for Yes and for No together are worth more than what both pay. */
function isCrossed({ yes, no }: OrderbookSnapshot): boolean {
  return bestOf(yes) + bestOf(no) > 1_000_000
}

function bestOf(levels: readonly LevelText[]): number {
  let best = 0
  for (const [text, count] of levels) {
    const price = parsePrice(text)
    const isQuote = price !== null && price < PRICE_ONE
    if (isQuote && price > best && Number(count) > 0) best = price
  }
  return best
}

function complemented(levels: readonly LevelText[]): readonly LevelText[] {
  return levels.map(([price, count]) => [otherLeg(price), count])
}

/** A price that cannot be read stays as it is, to be refused where prices are read. */
function otherLeg(text: string): string {
  const price = parsePrice(text)
  return price === null ? text : toDecimal(complement(price), 4)
}
