// What a market or an event asks, in parts that can be compared: game, asset, range, date and
// hour, marks, the words of the question and of the answer.

import type { VenueKey } from '../../ids.ts'
import type { Contrasts } from './contrasts.ts'
import type { DateMention } from './dates.ts'
import type { Game } from './game.ts'
import type { Marks } from './marks.ts'
import type { Quantity } from './quantity.ts'
import type { Spelling } from './text-normalization.ts'

/** When it is decided. */
export interface DecisionDate extends Omit<DateMention, 'start' | 'end'> {
  /** Where the date was said: the better source is believed. */
  readonly source: 'title' | 'subtitle' | 'handle' | 'close'
}

export interface Proposition {
  readonly venue: VenueKey
  readonly key: string
  readonly grain: 'market' | 'event'
  /** Series, event and own slug or ticker in lower case: the names under which it is listed, by which families are told. */
  readonly listedAs: readonly string[]
  readonly kind: 'game' | 'price' | 'quantity' | 'speech' | 'text'
  readonly game: Game | null
  /** Identity of the priced asset, such as `bitcoin`; null when no price is asked. */
  readonly asset: string | null
  /** The bound need only be touched once, at any time. */
  readonly isTouch: boolean
  /** Whether up or down is asked rather than a level. */
  readonly isUpDown: boolean
  /** Of a direction: for how long the price is watched; null: not said. */
  readonly minutes: number | null
  readonly quantity: Quantity | null
  /** Best first; empty where nothing is said. */
  readonly decisionDates: readonly DecisionDate[]
  /** Clock hour of New York, 0 to 24; null: not said. */
  readonly hour: number | null
  /** How it is asked: which of several, by when, how many, or whether. */
  readonly form: 'open' | 'when' | 'count' | 'closed'
  /** First word of the question, folded: "will", "who", "next". */
  readonly opening: string
  /** Yes means that it does not happen, or down. */
  readonly isNegated: boolean
  /** The question says "today" or "his next video": its meaning depends on when it was asked. */
  readonly isRelative: boolean
  /** Yes stands for a letter ("Candidate X") to whom nobody is given yet. */
  readonly isPlaceholder: boolean
  readonly marks: Marks
  /** Meanings of the question's words, without dates and range. */
  readonly words: readonly string[]
  /** Meanings of the words of the answer that Yes stands for; empty where the venue has none. */
  readonly answer: readonly string[]
  /** Meanings of everything else said: event, its sub-title, slug. */
  readonly context: readonly string[]
  /** Meanings of the question's words that are names. */
  readonly names: ReadonlySet<string>
  /** The same of question and answer, as they stand side by side: "Los Angeles Lakers". */
  readonly runs: readonly (readonly string[])[]
  /** Every word of question and answer, for abbreviations. */
  readonly spelled: readonly Spelling[]
  /** Of an event: whether at most one answer can be right; null: not said. */
  readonly isExclusive: boolean | null
  /** Of an event: what its markets ask, in order, or the first `most`; read at the first call. */
  readonly children: (most?: number) => readonly Proposition[]
  /** Meanings of the sentence with which the rules begin, which asks the question once more; read at the first call. */
  readonly restated: () => ReadonlySet<string>
  /** Of words that exclude each other those that are said, and with them those around; read at the first call. */
  readonly contrasts: () => Contrasts
  /** Beginning of the rules as sent; '' when unknown. */
  readonly rules: string
  /** The title, with what Yes stands for where it leaves that out: what a sentence encoder reads. */
  readonly sentence: string
}
