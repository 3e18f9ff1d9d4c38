// The parts of a market or an event that are compared: game, asset, range, date and hour, marks, the words of the
// question and of the answer.

import type { VenueKey } from '../../ids.ts'
import type { Contrasts } from './contrasts.ts'
import type { DateMention } from './dates.ts'
import type { Game } from './game.ts'
import type { Marks } from './marks.ts'
import type { Quantity } from './quantity.ts'
import type { Spelling } from './text-normalization.ts'
import type { WordMatcher } from './word-matcher.ts'

export interface DecisionDate extends Omit<DateMention, 'start' | 'end'> {
  /** Where the date was found. Dates of more reliable sources take precedence. */
  readonly source: 'title' | 'subtitle' | 'handle' | 'close'
}

export interface Proposition {
  readonly venue: VenueKey
  readonly key: string
  readonly grain: 'market' | 'event'
  /** Series, event and own slug or ticker in lower case. Patterns of families are compared with these names. */
  readonly listedAs: readonly string[]
  readonly kind: 'game' | 'price' | 'quantity' | 'speech' | 'text'
  readonly game: Game | null
  /** Identity of the asset, such as `bitcoin`. Null: not a price question. */
  readonly asset: string | null
  /** Whether it suffices that the price touches the bound once. */
  readonly isTouch: boolean
  /** Whether the question asks for up or down instead of a level. */
  readonly isUpDown: boolean
  /** Window of a direction question. Null: not stated. */
  readonly minutes: number | null
  readonly quantity: Quantity | null
  /** Most reliable first. Empty if no date is stated. */
  readonly decisionDates: readonly DecisionDate[]
  /** Decision dates without closing times. If there are days, only these; else months, else years. */
  readonly statedDates: readonly DecisionDate[]
  /** Clock hour in New York, 0 to 24. Null: not stated. */
  readonly hour: number | null
  /** Form of the question: which of several, when, how many, or whether. */
  readonly form: 'open' | 'when' | 'count' | 'closed'
  /** First word of the question, folded, such as "will" or "who". */
  readonly opening: string
  /** Whether Yes means that it does not happen, or that the price falls. */
  readonly isNegated: boolean
  /** Whether the question contains "today" or "his next video", so that its meaning depends on the time of the question. */
  readonly isRelative: boolean
  /** Whether Yes means a placeholder ("Candidate X") that has no name yet. */
  readonly isPlaceholder: boolean
  readonly marks: Marks
  /** Meanings of the question's words, without dates and range. */
  readonly words: readonly string[]
  /** Meanings of the words of the outcome that Yes means. Empty if the venue states none. */
  readonly answer: readonly string[]
  /** Meanings of all other texts: event, subtitle, slug. */
  readonly context: readonly string[]
  /** Meanings of the question's words that are names. */
  readonly names: ReadonlySet<string>
  /** Names in question and answer, as runs of adjacent words such as "Los Angeles Lakers". */
  readonly runs: readonly (readonly string[])[]
  /** Every word of question and answer, to match abbreviations. */
  readonly spelled: readonly Spelling[]
  /** For events: whether at most one answer can be right. Null: not stated. */
  readonly isExclusive: boolean | null
  /** For events: the propositions of the first `most` markets, or of all. Parsed at the first call. */
  readonly children: (most?: number) => readonly Proposition[]
  /** Meanings of the first sentence of the rules, which repeats the question. Parsed at the first call. */
  readonly restated: () => ReadonlySet<string>
  /** All words, including numbers such as the 50 of "Survivor season 50". Indexed at the first call. */
  readonly allWords: () => WordMatcher
  /** Mutually exclusive words in question and answer, and also those of the context. Parsed at the first call. */
  readonly contrasts: () => Contrasts
  /** Beginning of the rules; '' if unknown. */
  readonly rules: string
  /** The title, followed by the label of Yes if the title does not contain it. Input of the sentence encoder. */
  readonly sentence: string
}
