// The owner of the full-text search over markets: which changes its index has not seen yet, and which
// searches wait for them. The index is in a thread (engine/search/); when that is lost, the next one
// is given every text again. One task is under way at a time; changes go over a few at a time.
// Not for: filters and sorting by volume (actors/catalog/lists.ts). Upholds SEARCH1, SEARCH6 to SEARCH10.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { requestDeadlineMs } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { SearchPort } from '../../engine/search/search.ts'
import type {
  SearchChange,
  SearchQuestion,
  SearchResult,
  SearchTexts,
} from '../../engine/search/task.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'

/** Searches waiting besides the one under way; one more is refused. */
const FINDS_MAX = 64
/** A search that waits longer, for a busy thread or its index, is refused before its request times out. */
const FIND_MS_MAX = requestDeadlineMs - 500
/** Texts handed over in one turn: some 0.25 ms of the loop, and 2 ms of the thread. */
const TEXTS_PER_TURN = 256
/** After a thread failed to take a change, the next attempt waits this long. */
const RESTART_AFTER_MS = 1_000

interface Find {
  readonly text: string
  readonly isRanked: boolean
  /** How many changes were made before the search was asked: it sees them all. */
  readonly changesBefore: number
  readonly resolve: (found: Uint32Array) => void
  readonly reject: (error: EngineError) => void
  stopTimer: StopTimer
}

export class MarketSearch {
  readonly #port: SearchPort
  readonly #clock: Clock
  readonly #log: Log
  /** Walks all markets there are; read a few at a time, over many turns. */
  #texts: () => Iterable<MarketText> = () => []
  /**
   * Changes the thread was not given yet, oldest first; null removes. At most one a market: a later
   * one takes the place of an earlier. So they are bounded by the catalogue, as is the index itself.
   */
  readonly #waiting = new Map<MarketNumber, MarketText | null>()
  /** Of all changes that ever waited, and of those that wait no more. */
  #changesMade = 0
  #changesGiven = 0
  /** What a new thread's index is still to be given; changes wait until it ends. */
  #again: Iterator<MarketText> | null = null
  /** Of the index's last change; 0 begins a new one. */
  #seq = 0
  /** Bounded by FINDS_MAX; full, it refuses. */
  readonly #finds: Find[] = []
  #state: 'idle' | 'scheduled' | 'working' | 'down' | 'closed' = 'idle'
  #stopRestart: StopTimer | null = null

  constructor(parts: {
    readonly port: SearchPort
    readonly clock: Clock
    readonly log: Log
  }) {
    this.#port = parts.port
    this.#clock = parts.clock
    this.#log = parts.log.child({ part: 'search' })
  }

  /** Where all texts come from when a lost index is built again. Call it before the first change. */
  rebuildFrom(texts: () => Iterable<MarketText>): void {
    this.#texts = texts
  }

  /** Adds a market, or takes its changed words. Keeps the summary until it is handed over. */
  put(number: MarketNumber, summary: MarketSummary, eventTitle: string | null): void {
    this.#change(number, { number, summary, eventTitle })
  }

  /** The market is found no more. */
  remove(number: MarketNumber): void {
    this.#change(number, null)
  }

  /**
   * Markets whose text has every word, beginnings included, as all changes before this call left
   * them; best first, or by no order when not ranked, which is cheaper. Of the text 200 characters
   * and 16 words are used. Rejects with EngineError UNAVAILABLE when too many wait, when the thread
   * is down, or when its index does not come in time.
   */
  find(text: string, isRanked = true): Promise<Uint32Array> {
    if (this.#state === 'down' || this.#state === 'closed') return Promise.reject(isDown())
    if (this.#finds.length >= FINDS_MAX)
      return Promise.reject(unavailable('too many searches wait'))
    return new Promise((resolve, reject) => {
      const stopTimer = this.#clock.after(FIND_MS_MAX, () => this.#giveUp(find))
      const changesBefore = this.#changesMade
      const find: Find = { text, isRanked, changesBefore, resolve, reject, stopTimer }
      this.#finds.push(find)
      if (this.#state !== 'working') this.#work()
    })
  }

  /** Refuses those who wait, and ends the thread. */
  async close(): Promise<void> {
    this.#state = 'closed'
    this.#stopRestart?.()
    this.#waiting.clear()
    this.#again = null
    this.#refuseAll()
    await this.#port.close()
  }

  // Changes

  #change(number: MarketNumber, text: MarketText | null): void {
    if (this.#state === 'closed') return
    if (!this.#waiting.has(number)) this.#changesMade += 1
    this.#waiting.set(number, text)
    if (this.#state !== 'idle') return
    // In a later turn, so that a page of markets goes over together.
    this.#state = 'scheduled'
    setImmediate(() => {
      if (this.#state === 'scheduled') this.#work()
    })
  }

  /** The texts of a lost index again, before changes that came since. */
  #nextChange(): SearchChange {
    const columns = new SearchTextColumns()
    if (this.#again !== null) {
      while (columns.count < TEXTS_PER_TURN) {
        const next = this.#again.next()
        if (next.done === true) {
          this.#again = null
          break
        }
        columns.add(next.value)
      }
      return { kind: 'change', seq: this.#seq + 1, texts: columns.texts, removed: [] }
    }
    const removed: MarketNumber[] = []
    for (const [number, text] of this.#waiting) {
      if (columns.count + removed.length === TEXTS_PER_TURN) break
      this.#waiting.delete(number)
      this.#changesGiven += 1
      if (text === null) removed.push(number)
      else columns.add(text)
    }
    return { kind: 'change', seq: this.#seq + 1, texts: columns.texts, removed }
  }

  // Work

  /** Gives the thread the next task, if there is one. */
  #work(): void {
    const find = this.#finds[0]
    if (find !== undefined && this.#again === null && find.changesBefore <= this.#changesGiven) {
      this.#state = 'working'
      const { text, isRanked } = find
      this.#ask(find, { kind: 'find', seq: this.#seq, text, isRanked })
    } else if (this.#again !== null || this.#waiting.size > 0) {
      this.#state = 'working'
      this.#give(this.#nextChange())
    } else {
      this.#state = 'idle'
    }
  }

  async #ask(find: Find, question: SearchQuestion): Promise<void> {
    try {
      const result = await this.#port.run(question)
      if (result instanceof Uint32Array) {
        if (this.#settle(find)) find.resolve(result)
      } else {
        // Still the first in the queue: it waits until all texts were given again.
        this.#lose()
      }
    } catch (error) {
      // If the thread is gone, the next task is told so by a new one.
      this.#log.warn({ err: error }, 'a search failed')
      if (this.#settle(find)) find.reject(isDown(error))
    }
    this.#proceed()
  }

  async #give(change: SearchChange): Promise<void> {
    let result: SearchResult
    try {
      result = await this.#port.run(change)
    } catch (error) {
      this.#rest(error)
      return
    }
    if (result === 'changed') this.#seq = change.seq
    else this.#lose()
    this.#proceed()
  }

  #proceed(): void {
    if (this.#state === 'working') this.#work()
  }

  /** A new thread, an empty index: whatever waits is among all the texts, and so is what was lost. */
  #lose(): void {
    if (this.#state === 'closed') return
    this.#log.warn('the index of the search is lost and built again')
    this.#seq = 0
    this.#waiting.clear()
    this.#changesGiven = this.#changesMade
    this.#again = this.#texts()[Symbol.iterator]()
  }

  /** Nobody waits for a thread that does not come; changes do. */
  #rest(error: unknown): void {
    if (this.#state === 'closed') return
    this.#log.error({ err: error }, 'the thread of the search failed')
    this.#state = 'down'
    this.#refuseAll(error)
    this.#stopRestart = this.#clock.after(RESTART_AFTER_MS, () => {
      if (this.#state !== 'down') return
      this.#lose()
      this.#work()
    })
  }

  // Searches that wait

  /** Takes a search out of the queue; false when it was settled before. */
  #settle(find: Find): boolean {
    const index = this.#finds.indexOf(find)
    if (index < 0) return false
    this.#finds.splice(index, 1)
    find.stopTimer()
    return true
  }

  #giveUp(find: Find): void {
    if (this.#settle(find)) find.reject(unavailable('the search is busy'))
  }

  #refuseAll(cause?: unknown): void {
    for (const find of this.#finds.splice(0)) {
      find.stopTimer()
      find.reject(isDown(cause))
    }
  }
}

function unavailable(what: string, cause?: unknown): EngineError {
  return new EngineError('UNAVAILABLE', `${what}, try again soon`, { cause, retryAfterSeconds: 1 })
}

function isDown(cause?: unknown): EngineError {
  return unavailable('the search is not ready', cause)
}

/** What a market is found by. */
export interface MarketText {
  readonly number: MarketNumber
  readonly summary: MarketSummary
  readonly eventTitle: string | null
}

/** Words beyond these characters of a column are not found: a title has a hundred or two. */
const COLUMN_CHARACTERS_MAX = 2_000

/** Texts of markets as columns for the thread, composed when they are handed over: waiting changes hold no texts. */
export class SearchTextColumns {
  readonly #numbers: MarketNumber[] = []
  readonly #questions: string[] = []
  readonly #events: string[] = []
  readonly #words: string[] = []

  get count(): number {
    return this.#numbers.length
  }

  get texts(): SearchTexts {
    return {
      numbers: this.#numbers,
      questions: this.#questions,
      events: this.#events,
      words: this.#words,
    }
  }

  add({ number, summary, eventTitle }: MarketText): void {
    this.#numbers.push(number)
    this.#questions.push(clipped(summary.question))
    this.#events.push(clipped(eventTitle ?? ''))
    this.#words.push(clipped(wordsBeside(summary)))
  }
}

function wordsBeside({ outcomes, tags, category }: MarketSummary): string {
  let words = category ?? ''
  for (const { label } of outcomes) words += ` ${label}`
  for (const tag of tags) words += ` ${tag}`
  return words
}

function clipped(text: string): string {
  return text.length > COLUMN_CHARACTERS_MAX ? text.slice(0, COLUMN_CHARACTERS_MAX) : text
}
