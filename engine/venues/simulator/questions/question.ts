// Types of recurring questions that do not depend on the texts of a venue.

import { DAY_MS, HOUR_MS, type PriceMicros, type TimeMs } from '../../../units.ts'
import type { SimEvent, SimListing, SimPairKind, SimTopic, SimVenue } from '../model.ts'
import type { Templates } from './question-templates.ts'
import type { Schedule } from './schedule.ts'

/** A kind of question, for example "price of a coin above a strike at an hour". */
export interface Family {
  readonly name: string
  readonly topic: SimTopic
  /** Share of a venue's markets. The next families get a share that this family cannot use. */
  readonly share: number
  /** Null: there are no more variants. The result depends only on the arguments. */
  variant(ordinal: number, size: WorldSize): Variant | null
}

export interface WorldSize {
  readonly seed: number
  readonly marketsPerVenue: number
}

const SMALL_WORLD_MAX = 20_000

/** The events of a large world are planned only when they are read. */
export const isLarge = ({ marketsPerVenue }: WorldSize): boolean =>
  marketsPerVenue > SMALL_WORLD_MAX

export interface Variant {
  readonly key: string
  readonly schedule: Schedule
  /** Number of cycles that exist at any time. It determines how long before its close a cycle is announced. */
  readonly copies: number
  readonly counts: { readonly a: number; readonly b: number }
  /**
   * Questions of one cycle at each venue, and the number that both venues list. The two markets for a game's winner
   * count as one question.
   */
  readonly questions: { readonly a: number; readonly b: number; readonly shared: number }
  readonly traps: readonly SimPairKind[]
  /** Delay of venue b's close under the trap other_date: less than a period, or a multiple of the period. */
  readonly otherDateMs: number
  /** Activity relative to the average of 1. */
  readonly interest: number
  /** Number of markets of each event of one cycle. They sum to `counts`. */
  readonly eventSizes: Readonly<Record<SimVenue, readonly number[]>>
  /** Texts that all cycles of an event share. Texts that differ by cycle are absent. */
  sharedTexts(venue: SimVenue, eventIndex: number): SharedTexts
  /** One venue's listing of one cycle: one event, or several (for a game: winner, spread and total). */
  draftEvents(view: View): readonly EventDraft[]
}

export type SharedTexts = Partial<
  Pick<SimEvent, 'series' | 'seriesTitle' | 'category' | 'tags' | 'game'>
>

export interface View {
  readonly seed: number
  readonly venue: SimVenue
  /** Difference between this venue's listing and that of the other venue. Always `same` at venue a. */
  readonly trap: SimPairKind
  readonly cycle: number
  /** Key of the variant and the cycle, from which names, strikes and teams are drawn. */
  readonly key: string
  /** Key from which results are drawn. It differs from `key` only under the trap other_date. */
  readonly resultKey: string
  readonly closeMs: TimeMs
  /** The close without the trap other_date. Strikes are chosen by it. */
  readonly plainCloseMs: TimeMs
}

export interface EventDraft
  extends Omit<SimEvent, 'venue' | 'number' | 'topic' | 'createdMs' | 'endMs' | 'markets'> {
  readonly markets: readonly MarketDraft[]
}

export interface MarketDraft
  extends Pick<
    SimListing,
    | 'slug'
    | 'outcomes'
    | 'question'
    | 'shortTitle'
    | 'noShortTitle'
    | 'rules'
    | 'rulesSecondary'
    | 'strike'
    | 'sportsMarketType'
    | 'line'
    | 'payout'
  > {
  /** Identifies the question within the cycle. Equal at both venues. */
  readonly questionKey: string
  /** False for a market that shares its question with another one (the second team of a game). */
  readonly isPairable: boolean
  readonly chance: number
  readonly isInverted: boolean
  /** Key of the noise that moves the price. It is unique only within the cycle. */
  readonly moverKey: string
  /** Activity relative to the event's. */
  readonly weight: number
}

/** A set of questions without texts of a venue. The style files convert it to an EventDraft. */
export interface QuestionSet {
  /**
   * above: strikes of one value. range: buckets of one value, exactly one of which is right. choice: exactly one of the
   * names is right. list: each name may be right. single: one question with yes or no.
   */
  readonly form: 'above' | 'range' | 'choice' | 'list' | 'single'
  readonly answers: readonly Answer[]
  /** Examples: "$90,000", "3.2%". */
  readonly format: (value: number) => string
  /** The finest step of the value, and the width of buckets. */
  readonly unit: number
  /** True: Kalshi writes "$90,000 or above", with a floor of 89,999.99. False: Kalshi writes "Above $90,000". */
  readonly isInclusive: boolean
  readonly phrases: Phrases
}

export interface Answer {
  readonly key: string
  /** Last part of a ticker, "JDOE". Empty for a strike and for form single. */
  readonly code: string
  /** A name or phrase. Empty if the strike is the complete answer. */
  readonly label: string
  readonly floor: number | null
  readonly cap: number | null
  /** Probability and payout of the listing's first outcome. */
  readonly chance: number
  readonly payout: PriceMicros
  readonly isInverted: boolean
  readonly weight: number
}

interface Phrases
  extends Omit<
    Templates,
    'question' | 'clause' | 'negatedQuestion' | 'negatedClause' | 'otherRemarks'
  > {
  /** The text of the question for an answer: "above $90,000", "between 67° and 68°", or a name. */
  question(answer: string): string
  /** The condition for Yes, as the text after "if". */
  clause(answer: string): string
  /** The text of the opposite question, for the trap opposite_side. */
  negatedQuestion?(answer: string): string
  negatedClause?(answer: string): string
}

export function eventOf({ phrases, form }: QuestionSet) {
  const { series, seriesTitle, subtitle, category, tags } = phrases
  const isMutuallyExclusive = form === 'range' || form === 'choice'
  return { series, seriesTitle, subtitle, category, tags, isMutuallyExclusive, game: null }
}

/**
 * The parts of an answer's listing that both venues share, and its condition in the rules. `phrase`: the answer in the
 * venue's wording.
 */
export function answerOf(
  { phrases, form }: QuestionSet,
  answer: Answer,
  phrase: string,
): {
  readonly clause: string
  readonly market: Omit<
    MarketDraft,
    'slug' | 'shortTitle' | 'noShortTitle' | 'rules' | 'rulesSecondary' | 'strike'
  >
} {
  const { key, payout, chance, isInverted, weight } = answer
  const isNegated = isInverted && phrases.negatedQuestion !== undefined
  const question =
    (isNegated ? phrases.negatedQuestion?.(phrase) : undefined) ?? phrases.question(phrase)
  const clause = (isNegated ? phrases.negatedClause?.(phrase) : undefined) ?? phrases.clause(phrase)
  return {
    clause,
    market: {
      outcomes: ['Yes', 'No'],
      question,
      sportsMarketType: null,
      line: null,
      payout,
      questionKey: key,
      isPairable: true,
      chance,
      isInverted,
      moverKey: form === 'above' ? '' : key,
      weight,
    },
  }
}

/** Number of answers of an event. It rises from `least` at 400 markets to `most` at 10,000. */
export function gridSize(size: WorldSize, limits: { least: number; most: number }): number {
  const growth = Math.log(size.marketsPerVenue / 400) / Math.log(25)
  const part = Math.min(1, Math.max(0, growth))
  return Math.round(limits.least + part * (limits.most - limits.least))
}

/**
 * Number of simultaneous cycles, such that each lives for about `lifeMs`. A cycle is removed two days and up to an hour
 * after its close.
 */
export function copiesFor(periodMs: number, lifeMs: number): number {
  return Math.max(1, Math.round((lifeMs + 2 * DAY_MS + HOUR_MS) / periodMs))
}

/** Approximate lifetime of a cycle for a number of copies. Inverse of `copiesFor`. */
export function lifeOf({ copies, schedule }: Pick<Variant, 'copies' | 'schedule'>): number {
  return copies * schedule.periodMs - 2 * DAY_MS - HOUR_MS
}
