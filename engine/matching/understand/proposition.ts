// The parts of a market or an event that can be compared: game, asset, range, date and hour, marks, the words of the
// question and of the answer.

import type { VenueKey } from '../../ids.ts'
import type { Contrasts } from './contrasts.ts'
import type { DateMention } from './dates.ts'
import type { Game } from './game.ts'
import type { Marks } from './marks.ts'
import type { Quantity } from './quantity.ts'
import type { Spelling } from './text-normalization.ts'

export interface DecisionDate extends Omit<DateMention, 'start' | 'end'> {
  /** Origin of the date. The more reliable origin is used. */
  readonly source: 'title' | 'subtitle' | 'handle' | 'close'
}

export interface Proposition {
  readonly venue: VenueKey
  readonly key: string
  readonly grain: 'market' | 'event'
  /** Series, event and own slug or ticker in lower case. Family patterns match these names. */
  readonly listedAs: readonly string[]
  readonly kind: 'game' | 'price' | 'quantity' | 'speech' | 'text'
  readonly game: Game | null
  /** Identity of the priced asset, such as `bitcoin`. Null: not a price question. */
  readonly asset: string | null
  /** Touching the bound once, at any time, is enough. */
  readonly isTouch: boolean
  /** The question asks for up or down, not for a level. */
  readonly isUpDown: boolean
  /** Window of a direction question. Null: not stated. */
  readonly minutes: number | null
  readonly quantity: Quantity | null
  /** Most reliable first; empty if none is stated. */
  readonly decisionDates: readonly DecisionDate[]
  /** Clock hour in New York, 0 to 24. Null: not stated. */
  readonly hour: number | null
  /** Form of the question: which of several, by when, how many, or whether. */
  readonly form: 'open' | 'when' | 'count' | 'closed'
  /** First word of the question, folded: "will", "who", "next". */
  readonly opening: string
  /** Yes means that it does not happen, or that the price falls. */
  readonly isNegated: boolean
  /** The question states "today" or "his next video": its meaning depends on when it was asked. */
  readonly isRelative: boolean
  /** Yes stands for a letter ("Candidate X") that is not assigned yet. */
  readonly isPlaceholder: boolean
  readonly marks: Marks
  /** Meanings of the question's words, without dates and range. */
  readonly words: readonly string[]
  /** Meanings of the words of the answer that Yes stands for; empty if the venue has none. */
  readonly answer: readonly string[]
  /** Meanings of all other texts: event, subtitle, slug. */
  readonly context: readonly string[]
  /** Meanings of the question's words that are names. */
  readonly names: ReadonlySet<string>
  /** Names in question and answer as runs of adjacent words: "Los Angeles Lakers". */
  readonly runs: readonly (readonly string[])[]
  /** Every word of question and answer, for abbreviations. */
  readonly spelled: readonly Spelling[]
  /** For events: at most one answer can be right. Null: not stated. */
  readonly isExclusive: boolean | null
  /** For events: the propositions of its markets, in order, or of the first `most`. Parsed at the first call. */
  readonly children: (most?: number) => readonly Proposition[]
  /** Meanings of the first sentence of the rules, which repeats the question. Parsed at the first call. */
  readonly restated: () => ReadonlySet<string>
  /** Mutually exclusive words that are stated, also with those of the context. Parsed at the first call. */
  readonly contrasts: () => Contrasts
  /** Beginning of the rules as received; '' when unknown. */
  readonly rules: string
  /** The title, with the label of Yes if the title omits it. Input of the sentence encoder. */
  readonly sentence: string
}
