// A client's book at its last seqs, for comparison with the REST book of the same seq.

import type { BookView } from '../../../http/client/connect.ts'

export interface BookMoment {
  readonly epoch: string
  readonly seq: number
  readonly bids: readonly Level[]
  readonly asks: readonly Level[]
}

interface Level {
  readonly price: number
  readonly size: number
}

interface State {
  readonly epoch: string
  readonly seq: number
  readonly isUpdate: boolean
  readonly text: string
}

/**
 * `equal`: the client had this book. `different`: it had a different book at this seq. `open`: it may still reach the
 * seq or receive another book at the seq. `unknown`: the state was not recorded.
 */
type BookMatch = 'equal' | 'different' | 'open' | 'unknown'

const STATES_MAX = 48

export class BookHistory {
  readonly #states = new Map<string, State[]>()

  /** Call it after the client applied a snapshot or an update. */
  note(view: BookView, isUpdate: boolean): void {
    const states = this.#states.get(view.marketId) ?? []
    this.#states.set(view.marketId, states)
    states.push({ epoch: view.epoch, seq: view.seq, isUpdate, text: textOf(view) })
    if (states.length > STATES_MAX) states.shift()
  }

  compare(marketId: string, moment: BookMoment): BookMatch {
    const { epoch, seq } = moment
    const text = textOf(moment)
    const states = this.#states.get(marketId) ?? []
    const isThere = (state: State | undefined): boolean =>
      state?.epoch === epoch && state.seq === seq
    if (states.some((state) => isThere(state) && state.text === text)) return 'equal'
    const isPassed = states.some(
      (state, index) => isThere(states[index - 1]) && state.isUpdate && state.seq === seq + 1,
    )
    if (isPassed) return 'different'
    const newest = states.at(-1)
    if (newest !== undefined && newest.epoch === epoch && newest.seq > seq) return 'unknown'
    return 'open'
  }
}

/** Both sides in millionths, best first. */
export function textOf({ bids, asks }: Pick<BookMoment, 'bids' | 'asks'>): string {
  return JSON.stringify([bids, asks].map((side) => side.map(micros)))
}

function micros({ price, size }: Level): readonly [number, number] {
  return [Math.round(price * 1e6), Math.round(size * 1e6)]
}
