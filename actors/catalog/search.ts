// Full-text search over markets in a worker thread (engine/search/). Text changes are sent in batches, and searches one
// at a time. A restarted thread receives every text again.

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
} from '../../engine/search/searcher.ts'
import type { MarketSummary } from '../../storage/contract/storage.ts'

const FINDS_MAX = 64
/** Shorter than the time limit of a request. */
const FIND_MS_MAX = requestDeadlineMs - 500
/** Texts sent per tick. They take about 0.25 ms of the event loop and 2 ms of the thread. */
const TEXTS_PER_BATCH = 256
const RESTART_AFTER_MS = 1_000

interface Find {
  readonly requester: Requester
  readonly text: string
  readonly isRanked: boolean
  /** The search runs when this many changes have been sent. */
  readonly changesBefore: number
  readonly resolve: (found: Uint32Array) => void
  readonly reject: (error: EngineError) => void
  stopTimer: StopTimer
}

export class MarketSearch {
  readonly #port: SearchPort
  readonly #clock: Clock
  readonly #log: Log
  #texts: () => Iterable<MarketText> = () => []
  /** Only the latest change of a market, oldest first. Null removes the market. */
  readonly #waiting = new Map<MarketNumber, MarketText | null>()
  #changesMade = 0
  #changesSent = 0
  /** Texts that a new thread has not received yet. Null if no rebuild is running. */
  #rebuild: Iterator<MarketText> | null = null
  /** Sequence number of the last change that the thread applied. 0: the index is empty. */
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

  /** Sets the source of all texts for a rebuild of the index. Must be called before the first change. */
  rebuildFrom(texts: () => Iterable<MarketText>): void {
    this.#texts = texts
  }

  /**
   * Ignores changes until {@link release}, because indexing would slow down the loading of the catalogue. Must be
   * called before the first change.
   */
  hold(): void {
    this.#isHeld = true
  }

  release(): void {
    if (!this.#isHeld || this.#state === 'closed') return
    this.#isHeld = false
    this.#rebuild = this.#texts()[Symbol.iterator]()
    this.#work()
  }

  put(number: MarketNumber, summary: MarketSummary, eventTitle: string | null): void {
    this.#change(number, { number, summary, eventTitle })
  }

  remove(number: MarketNumber): void {
    this.#change(number, null)
  }

  /**
   * Finds the markets whose text contains each word of `text`, as a word or as a prefix. Includes all changes made
   * before this call. If `isRanked`, returns the best match first. Uses the first 200 characters and 16 words. Rejects
   * with UNAVAILABLE if too many searches wait, the thread is down, or the index is not ready in time.
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

  async close(): Promise<void> {
    this.#state = 'closed'
    this.#stopRestart?.()
    this.#waiting.clear()
    this.#rebuild = null
    this.#refuseAll()
    await this.#port.close()
  }

  #change(number: MarketNumber, text: MarketText | null): void {
    if (this.#state === 'closed' || this.#isHeld) return
    if (!this.#waiting.has(number)) this.#changesMade += 1
    this.#waiting.set(number, text)
    if (this.#state !== 'idle') return
    // Deferred to a later tick, so that all markets of a page are sent together.
    this.#state = 'scheduled'
    setImmediate(() => {
      if (this.#state === 'scheduled') this.#work()
    })
  }

  #nextChange(): SearchChange {
    const texts: MarketText[] = []
    if (this.#rebuild !== null) {
      while (texts.length < TEXTS_PER_BATCH) {
        const next = this.#rebuild.next()
        if (next.done === true) {
          this.#rebuild = null
          break
        }
        texts.push(next.value)
      }
      return { kind: 'change', seq: this.#seq + 1, texts: columnsOf(texts), removed: [] }
    }
    const removed: MarketNumber[] = []
    for (const [number, text] of this.#waiting) {
      if (texts.length + removed.length === TEXTS_PER_BATCH) break
      this.#waiting.delete(number)
      this.#changesSent += 1
      if (text === null) removed.push(number)
      else texts.push(text)
    }
    return { kind: 'change', seq: this.#seq + 1, texts: columnsOf(texts), removed }
  }

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
        // The thread has lost its index. The search stays in the queue until the index is rebuilt.
        this.#beginRebuild()
      }
    } catch (error) {
      // The failed search is not repeated. If the thread ended, its replacement starts with an empty index, which the
      // next task detects.
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

  #beginRebuild(): void {
    if (this.#state === 'closed') return
    this.#log.info('the index of the search was lost and is rebuilt')
    this.#seq = 0
    this.#waiting.clear()
    this.#changesSent = this.#changesMade
    this.#rebuild = this.#texts()[Symbol.iterator]()
  }

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

  /** Removes a search from the queue. Returns false if it was already removed. */
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

export interface MarketText {
  readonly number: MarketNumber
  readonly summary: MarketSummary
  readonly eventTitle: string | null
}

const COLUMN_CHARACTERS_MAX = 2_000

function columnsOf(texts: readonly MarketText[]): SearchTexts {
  return {
    numbers: texts.map(({ number }) => number),
    questions: texts.map(({ summary }) => clipped(summary.question)),
    events: texts.map(({ eventTitle }) => clipped(eventTitle ?? '')),
    words: texts.map(({ summary }) => clipped(otherWords(summary))),
  }
}

function otherWords({ outcomes, tags, category }: MarketSummary): string {
  return [category ?? '', ...outcomes.map(({ label }) => label), ...tags].join(' ')
}

function clipped(text: string): string {
  return text.length > COLUMN_CHARACTERS_MAX ? text.slice(0, COLUMN_CHARACTERS_MAX) : text
}
