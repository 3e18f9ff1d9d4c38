// The owner of the full-text search over markets: which changes its thread has not seen yet, and which searches wait for
// them. An owner, called directly; the index is in a thread once it is large (engine/search/), and a new thread is
// given every text again. One task is under way at a time; changes are handed over a few at a time.

import type { Clock, StopTimer } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { FairQueue, type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import { requestDeadlineMs } from '../../engine/limits.ts'
import type { MarketNumber } from '../../engine/market/market.ts'
import type { Log } from '../../engine/process/log.ts'
import type { SearchPort } from '../../engine/search/search.ts'
import type {
  SearchChange,
  SearchQuery,
  SearchResult,
  SearchTexts,
} from '../../engine/search/search-task.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'

/** Searches that wait; for one more the newest of the requester with most of them is refused. */
const FINDS_MAX = 64
/** A search that waits for longer, for a busy thread or its index, is refused before its request times out. */
const FIND_MS_MAX = requestDeadlineMs - 500
/** Texts handed over in one turn: some 0.25 ms of the loop, and 2 ms of the thread. */
const TEXTS_PER_BATCH = 256
/** The wait before the next attempt after a thread failed to take a change. */
const RESTART_AFTER_MS = 1_000

interface Find {
  readonly requester: Requester
  readonly text: string
  readonly isRanked: boolean
  /** How many changes were made before the search was asked for: it must see them all. */
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
   * Changes that the thread was not given yet, oldest first; null removes a market. One a market, the latest: bounded by the
   * catalogue, as is the index itself.
   */
  readonly #waiting = new Map<MarketNumber, MarketText | null>()
  /** The number of all changes so far, and of those that wait no more. */
  #changesMade = 0
  #changesSent = 0
  /** All texts, while a new thread is being given them; changes wait until it ends. */
  #rebuild: Iterator<MarketText> | null = null
  /** The number of the index's last change; 0 begins a new index. */
  #seq = 0
  readonly #finds = new FairQueue<Find>(FINDS_MAX)

  #state: 'idle' | 'scheduled' | 'working' | 'down' | 'closed' = 'idle'
  #stopRestart: StopTimer | null = null
  #isHeld = false

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

  /** Notes and gives nothing until {@link release}, so that a catalogue that is loaded has the loop to itself. Call it before the first change. */
  hold(): void {
    this.#isHeld = true
  }

  /** Hands over all texts that there are now, and every change from now on. */
  release(): void {
    if (!this.#isHeld || this.#state === 'closed') return
    this.#isHeld = false
    this.#rebuild = this.#texts()[Symbol.iterator]()
    this.#work()
  }

  /** Adds a market, or replaces its words. Keeps the summary until it is handed over. */
  put(number: MarketNumber, summary: MarketSummary, eventTitle: string | null): void {
    this.#change(number, { number, summary, eventTitle })
  }

  /** Removes a market. */
  remove(number: MarketNumber): void {
    this.#change(number, null)
  }

  /**
   * Markets whose text has every word, or a word that begins with it, with all changes before this call; best first, or in
   * no order when not ranked, which is cheaper. Of the text 200 characters and 16 words are used. Rejects with EngineError
   * UNAVAILABLE when too many wait, when the thread is down, or when its index is not built in time.
   */
  find(text: string, isRanked = true, requester = SYSTEM): Promise<Uint32Array> {
    if (this.#state === 'down' || this.#state === 'closed') return Promise.reject(notReady())
    return new Promise((resolve, reject) => {
      const stopTimer = this.#clock.after(FIND_MS_MAX, () => this.#onFindTimeout(find))
      const changesBefore = this.#changesMade
      const find: Find = { requester, text, isRanked, changesBefore, resolve, reject, stopTimer }
      const dropped = this.#finds.add(requester, find)
      dropped?.stopTimer()
      dropped?.reject(unavailable('too many searches wait'))
      if (this.#state !== 'working') this.#work()
    })
  }

  /** Refuses the searches that wait, and ends the thread. */
  async close(): Promise<void> {
    this.#state = 'closed'
    this.#stopRestart?.()
    this.#waiting.clear()
    this.#rebuild = null
    this.#refuseAll()
    await this.#port.close()
  }

  // Changes

  #change(number: MarketNumber, text: MarketText | null): void {
    if (this.#state === 'closed' || this.#isHeld) return
    if (!this.#waiting.has(number)) this.#changesMade += 1
    this.#waiting.set(number, text)
    if (this.#state !== 'idle') return
    // In a later turn, so that the markets of a page are handed over together.
    this.#state = 'scheduled'
    setImmediate(() => {
      if (this.#state === 'scheduled') this.#work()
    })
  }

  /** All texts again after a lost index, before the changes that came since. */
  #nextChange(): SearchChange {
    const columns = new SearchTextColumns()
    if (this.#rebuild !== null) {
      while (columns.count < TEXTS_PER_BATCH) {
        const next = this.#rebuild.next()
        if (next.done === true) {
          this.#rebuild = null
          break
        }
        columns.add(next.value)
      }
      return { kind: 'change', seq: this.#seq + 1, texts: columns.texts, removed: [] }
    }
    const removed: MarketNumber[] = []
    for (const [number, text] of this.#waiting) {
      if (columns.count + removed.length === TEXTS_PER_BATCH) break
      this.#waiting.delete(number)
      this.#changesSent += 1
      if (text === null) removed.push(number)
      else columns.add(text)
    }
    return { kind: 'change', seq: this.#seq + 1, texts: columns.texts, removed }
  }

  // Work

  /** Gives the thread the next task, if there is one. */
  #work(): void {
    if (this.#isHeld) return
    const find = this.#finds.peek()
    if (find !== null && this.#rebuild === null && find.changesBefore <= this.#changesSent) {
      this.#state = 'working'
      const { text, isRanked } = find
      this.#finds.note(find.requester)
      this.#runFind(find, { kind: 'find', seq: this.#seq, text, isRanked })
    } else if (this.#rebuild !== null || this.#waiting.size > 0) {
      this.#state = 'working'
      this.#sendChange(this.#nextChange())
    } else {
      this.#state = 'idle'
    }
  }

  async #runFind(find: Find, task: SearchQuery): Promise<void> {
    try {
      const result = await this.#port.run(task)
      if (result instanceof Uint32Array) {
        if (this.#settle(find)) find.resolve(result)
      } else {
        // The search is still in the queue: it waits until all texts were given again.
        this.#beginRebuild()
      }
    } catch (error) {
      // If the thread is gone, a new one says so at the next task.
      this.#log.warn({ err: error }, 'a search failed')
      if (this.#settle(find)) find.reject(notReady(error))
    }
    this.#proceed()
  }

  async #sendChange(change: SearchChange): Promise<void> {
    let result: SearchResult
    try {
      result = await this.#port.run(change)
    } catch (error) {
      this.#onThreadFailed(error)
      return
    }
    if (result === 'changed') this.#seq = change.seq
    else this.#beginRebuild()
    this.#proceed()
  }

  #proceed(): void {
    if (this.#state === 'working') this.#work()
  }

  /** A new thread has an empty index: all texts are given again, with the changes that wait. */
  #beginRebuild(): void {
    if (this.#state === 'closed') return
    this.#log.info('the index of the search begins anew and is given every text')
    this.#seq = 0
    this.#waiting.clear()
    this.#changesSent = this.#changesMade
    this.#rebuild = this.#texts()[Symbol.iterator]()
  }

  /** The thread failed: refuses the searches, keeps the changes, and tries again later. */
  #onThreadFailed(error: unknown): void {
    if (this.#state === 'closed') return
    this.#log.error({ err: error }, 'the thread of the search failed')
    this.#state = 'down'
    this.#refuseAll(error)
    this.#stopRestart = this.#clock.after(RESTART_AFTER_MS, () => {
      if (this.#state !== 'down') return
      this.#beginRebuild()
      this.#work()
    })
  }

  // Searches that wait

  /** Takes a search out of the queue; false when it is not in it any more. */
  #settle(find: Find): boolean {
    if (!this.#finds.remove(find)) return false
    find.stopTimer()
    return true
  }

  #onFindTimeout(find: Find): void {
    if (this.#settle(find)) find.reject(unavailable('the search is busy'))
  }

  #refuseAll(cause?: unknown): void {
    for (const find of this.#finds.clear()) {
      find.stopTimer()
      find.reject(notReady(cause))
    }
  }
}

function unavailable(what: string, cause?: unknown): EngineError {
  return new EngineError('UNAVAILABLE', `${what}, try again soon`, { cause, retryAfterSeconds: 1 })
}

function notReady(cause?: unknown): EngineError {
  return unavailable('the search is not ready', cause)
}

/** The text by which a market is found. */
export interface MarketText {
  readonly number: MarketNumber
  readonly summary: MarketSummary
  readonly eventTitle: string | null
}

/** Words behind so many characters of a column are not found; a title has a hundred or two. */
const COLUMN_CHARACTERS_MAX = 2_000

/** Texts of markets as columns for the thread, composed when they are handed over: waiting changes hold no texts. */
class SearchTextColumns {
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
    this.#words.push(clipped(otherWords(summary)))
  }
}

function otherWords({ outcomes, tags, category }: MarketSummary): string {
  let words = category ?? ''
  for (const { label } of outcomes) words += ` ${label}`
  for (const tag of tags) words += ` ${tag}`
  return words
}

function clipped(text: string): string {
  return text.length > COLUMN_CHARACTERS_MAX ? text.slice(0, COLUMN_CHARACTERS_MAX) : text
}
