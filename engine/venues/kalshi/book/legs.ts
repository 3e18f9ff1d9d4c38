// Detects whether the venue quotes No in prices of Yes. If the best bids add up to more than a dollar, the book is
// either crossed or quoted in prices of Yes. A comparison with the REST book decides, because REST always quotes No in
// its own prices.

import { complement, PRICE_ONE, parsePrice, toDecimal } from '../../../units.ts'
import type { DriftNotes } from '../../drift/drift.ts'
import type { DataMessage, LevelText, OrderbookSnapshot } from '../messages.ts'

const CHECK_EVERY_MS = 30_000

interface LegParts {
  readonly nowMs: () => number
  readonly drift: DriftNotes
  /** Null if the venue does not respond. */
  readonly fetchBook: (ticker: string) => Promise<OrderbookSnapshot | null>
  /** Called when the quotation changed. All books of the connection must be requested again. */
  readonly onFlip: () => void
}

export class Legs {
  readonly #parts: LegParts
  #isYesLeg = false
  #checkedAtMs = Number.NEGATIVE_INFINITY

  constructor(parts: LegParts) {
    this.#parts = parts
  }

  /** Converts the prices of No if the venue quotes them in prices of Yes. */
  read(message: DataMessage): DataMessage {
    if (!this.#isYesLeg) return message
    if (message.kind === 'orderbookSnapshot') return { ...message, no: complemented(message.no) }
    if (message.kind !== 'orderbookDelta' || message.side === 'yes') return message
    return { ...message, price: otherLeg(message.price) }
  }

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
    // The market may have changed between the two reads. The conversion is proven if more converted than unconverted
    // levels match REST.
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

/** Returns unreadable text unchanged. The parser of prices rejects it later. */
function otherLeg(text: string): string {
  const price = parsePrice(text)
  return price === null ? text : toDecimal(complement(price), 4)
}
