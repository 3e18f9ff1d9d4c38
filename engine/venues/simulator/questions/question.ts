// Types of recurring questions, independent of venue texts.

import { DAY_MS, HOUR_MS, type PriceMicros, type TimeMs } from '../../../units.ts'
import type { SimEvent, SimListing, SimPairKind, SimTopic, SimVenue } from '../model.ts'
import type { Templates } from './question-templates.ts'
import type { Schedule } from './schedule.ts'

/** A kind of question: "price of a coin above a strike at an hour". */
export interface Family {
  readonly name: string
  readonly topic: SimTopic
  /** Share of a venue's markets. A family that cannot use its share leaves the rest to the next families. */
  readonly share: number
  /** The variant of an ordinal. Null: no more variants. Deterministic for a world size. */
  variant(ordinal: number, size: WorldSize): Variant | null
}

export interface WorldSize {
  readonly seed: number
  readonly marketsPerVenue: number
}

export interface Variant {
  readonly key: string
  readonly schedule: Schedule
  /** Number of cycles that exist at any time. It determines how early a cycle is announced. */
  readonly copies: number
  readonly counts: { readonly a: number; readonly b: number }
  /**
   * Questions of one cycle at each venue, and those that both venues list. The two markets of a game's winner count as
   * one.
   */
  readonly questions: { readonly a: number; readonly b: number; readonly shared: number }
  readonly traps: readonly SimPairKind[]
  /** Delay of venue b's close under the trap other_date: less than a period, or a multiple of it. */
  readonly otherDateMs: number
  /** Relative activity, 1 is average. */
  readonly interest: number
  /** One venue's listing of one cycle: one event, or several (a game's winner, spread, total). */
  draftEvents(view: View): readonly EventDraft[]
}

/** The cycle and the venue to draft for. */
export interface View {
  readonly seed: number
  readonly venue: SimVenue
  /** How this venue's listing differs from the other's. Always `same` at venue a. */
  readonly trap: SimPairKind
  readonly cycle: number
  /** The variant's key and the cycle, from which names, strikes and teams are drawn. */
  readonly key: string
  /** The key from which results are drawn. It differs from `key` only under the trap other_date. */
  readonly resultKey: string
  readonly closeMs: TimeMs
  /** The close without the trap other_date, by which strikes are chosen. */
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
  /** The question within the cycle; equal at both venues. */
  readonly questionKey: string
  /** False for a market that shares a question with its sibling (second team of a game). */
  readonly isPairable: boolean
  readonly chance: number
  readonly isInverted: boolean
  /** Key of the noise within the cycle that moves it. */
  readonly moverKey: string
  /** Activity relative to the event's. */
  readonly weight: number
}

/** A question set without venue texts. The style files convert it to an EventDraft. */
export interface QuestionSet {
  /**
   * above: strikes of one value. range: buckets of one value, one of which is right. choice: one of the names is right.
   * list: each of the names may be right. single: one yes or no.
   */
  readonly form: 'above' | 'range' | 'choice' | 'list' | 'single'
  readonly answers: readonly Answer[]
  /** Formats a value: "$90,000", "3.2%". */
  readonly format: (value: number) => string
  /** The finest step of the value, and the width of buckets. */
  readonly unit: number
  /** Kalshi writes "$90,000 or above" for a floor of 89,999.99. */
  readonly isInclusive: boolean
  readonly phrases: Phrases
}

export interface Answer {
  readonly key: string
  /** End of a ticker, "JDOE". Empty for a strike and for a single. */
  readonly code: string
  /** A name or phrase. Empty if the strike is sufficient. */
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
  /** The question, given "above $90,000", "between 67° and 68°", or a name. */
  question(answer: string): string
  /** The condition for Yes; follows "if". */
  clause(answer: string): string
  /** The opposite question, for opposite_side. */
  negatedQuestion?(answer: string): string
  negatedClause?(answer: string): string
}

/** The parts of a question set's listing that both venues share. */
export function eventOf({ phrases, form }: QuestionSet) {
  const { series, seriesTitle, subtitle, category, tags } = phrases
  const isMutuallyExclusive = form === 'range' || form === 'choice'
  return { series, seriesTitle, subtitle, category, tags, isMutuallyExclusive, game: null }
}

/**
 * The parts of an answer's listing that both venues share, and the clause of its rules. `phrase` is the answer in the
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

/** Number of answers of an event: from `least` at 400 markets and below to `most` at 10,000 and above. */
export function gridSize(size: WorldSize, limits: { least: number; most: number }): number {
  const growth = Math.log(size.marketsPerVenue / 400) / Math.log(25)
  const part = Math.min(1, Math.max(0, growth))
  return Math.round(limits.least + part * (limits.most - limits.least))
}

/**
 * Number of copies for which a cycle lives about `lifeMs`. Each stays for two days and up to an hour after its close.
 */
export function copiesFor(periodMs: number, lifeMs: number): number {
  return Math.max(1, Math.round((lifeMs + 2 * DAY_MS + HOUR_MS) / periodMs))
}

/** Approximate lifetime of a cycle: the inverse of `copiesFor`. */
export function lifeOf({ copies, schedule }: Pick<Variant, 'copies' | 'schedule'>): number {
  return copies * schedule.periodMs - 2 * DAY_MS - HOUR_MS
}
