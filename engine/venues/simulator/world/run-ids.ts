// Ids of one run. They depend on the time of its start, so that a database that is used in several runs never gets an
// id twice.

import { hash32 } from '../../../random.ts'
import type { TimeMs } from '../../../units.ts'
import { hexWord, mix32 } from './mix.ts'

/** Converts counters below 2^32 to ids. */
export class RunIds {
  readonly startedMs: TimeMs
  readonly #keys: readonly number[]

  constructor(options: { seed: number; startedMs: TimeMs }) {
    this.startedMs = options.startedMs
    const keys: number[] = []
    for (let word = 0; word < 24; word += 1) {
      keys.push(hash32('run', options.seed, options.startedMs, word))
    }
    this.#keys = keys
  }

  tradeId(count: number): string {
    const first = hexWord(this.#word(0, count))
    const second = hexWord(this.#word(1, count))
    const third = hexWord(this.#word(2, count))
    const fourth = hexWord(this.#word(3, count))
    return `${first}-${second.slice(0, 4)}-4${second.slice(5)}-8${third.slice(1, 4)}-${third.slice(4)}${fourth}`
  }

  txHash(count: number): string {
    let text = '0x'
    for (let word = 4; word < 12; word += 1) text += hexWord(this.#word(word, count))
    return text
  }

  txDigit(count: number): number {
    return this.#word(11, count) % 16
  }

  address(count: number): string {
    let text = '0x'
    for (let word = 12; word < 17; word += 1) text += hexWord(this.#word(word, count))
    return text
  }

  #word(word: number, count: number): number {
    return mix32(this.#keys[word] ?? 0, count)
  }
}
