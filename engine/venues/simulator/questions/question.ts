// The shape of a recurring question in the invented world, before any venue words it: families
// (kinds of question) have variants (one asset, one city, one contest), variants are asked again
// each cycle.

import { DAY_MS, HOUR_MS, type PriceMicros, type TimeMs } from '../../../units.ts'
import type { SimEvent, SimListing, SimPairKind, SimTopic, SimVenue } from '../model.ts'
import type { Templates } from './question-templates.ts'
import type { Schedule } from './schedule.ts'

/** A kind of question: "price of a coin above a strike at an hour". */
export interface Family {
  readonly name: string
  readonly topic: SimTopic
  /** Share of a venue's markets; what a family cannot use, the next ones get. */
  readonly share: number
  /** The variant of that ordinal; null when there are no more. The same for the same size. */
  variant(ordinal: number, size: WorldSize): Variant | null
}

/** What a variant may know about the world it is in. */
export interface WorldSize {
  readonly seed: number
  readonly marketsPerVenue: number
}

/** One question that is asked again and again. */
export interface Variant {
  /** Unique in the world. */
  readonly key: string
  readonly schedule: Schedule
  /** How many of its cycles exist at any moment; decides how early each is announced. */
  readonly copies: number
  /** Markets of one cycle at each venue. */
  readonly counts: { readonly a: number; readonly b: number }
  /** Questions of one cycle at each venue, and those both have: a game is one with two markets. */
  readonly questions: { readonly a: number; readonly b: number; readonly shared: number }
  /** The ways in which venue b's listing can differ. */
  readonly traps: readonly SimPairKind[]
  /** How much later venue b closes under the trap other_date; less than a period, or a multiple. */
  readonly otherDateMs: number
  /** Relative interest, 1 is average. */
  readonly interest: number
  /** One cycle as one venue lists it: one event, or several (a game's winner, spread, total). */
  draftEvents(view: View): readonly EventDraft[]
}

/** Which cycle is asked, and for which venue. */
export interface View {
  readonly seed: number
  readonly venue: SimVenue
  /** How this venue's listing differs from the other's; always `same` at venue a. */
  readonly trap: SimPairKind
  readonly cycle: number
  /** The variant's key and the cycle: what names, strikes and teams are drawn from. */
  readonly key: string
  /** What results are drawn from: differs from `key` only for the trap other_date. */
  readonly resultKey: string
  /** This venue's close. */
  readonly closeMs: TimeMs
  /** The close without the trap other_date; strikes are chosen by it. */
  readonly plainCloseMs: TimeMs
}

/** One event, worded by its venue. */
export interface EventDraft
  extends Omit<SimEvent, 'venue' | 'number' | 'topic' | 'createdMs' | 'endMs' | 'markets'> {
  readonly markets: readonly MarketDraft[]
}

/** One market, worded by its venue. */
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
  /** Chance of the first outcome. */
  readonly chance: number
  readonly isInverted: boolean
  /** Which noise within the cycle moves it. */
  readonly moverKey: string
  /** Activity relative to the event's. */
  readonly weight: number
}

/** A question set in no venue's words: what the style files turn into an EventDraft. */
export interface QuestionSet {
  /**
   * above: strikes of one value. range: buckets of one value, one of which is right.
   * choice: one of the named is right. list: any of the named may be. single: one yes or no.
   */
  readonly form: 'above' | 'range' | 'choice' | 'list' | 'single'
  readonly answers: readonly Answer[]
  /** How a value is written: "$90,000", "3.2%". */
  readonly format: (value: number) => string
  /** The finest step of the value; buckets lie this far apart. */
  readonly unit: number
  /** Kalshi writes "$90,000 or above" for a floor of 89,999.99. */
  readonly isInclusive: boolean
  readonly phrases: Phrases
}

/** One possible answer. */
export interface Answer {
  readonly key: string
  /** The end of a ticker, "JDOE"; empty where the strike says it all, and for a single. */
  readonly code: string
  /** A name or phrase; empty where the strike says it all. */
  readonly label: string
  readonly floor: number | null
  readonly cap: number | null
  /** Chance and payout of the listing's first outcome. */
  readonly chance: number
  readonly payout: PriceMicros
  readonly isInverted: boolean
  readonly weight: number
}

/** One venue's phrases for a question set. */
interface Phrases
  extends Omit<
    Templates,
    'question' | 'clause' | 'negatedQuestion' | 'negatedClause' | 'otherRemarks'
  > {
  /** The question, given "above $90,000", "between 67° and 68°", or a name. */
  question(answer: string): string
  /** What must be so for Yes; follows "if". */
  clause(answer: string): string
  /** The two of the opposite question, for opposite_side. */
  negatedQuestion?(answer: string): string
  negatedClause?(answer: string): string
}

/** What both venues list alike of a question set. */
export function eventOf({ phrases, form }: QuestionSet) {
  const { series, seriesTitle, subtitle, category, tags } = phrases
  const isMutuallyExclusive = form === 'range' || form === 'choice'
  return { series, seriesTitle, subtitle, category, tags, isMutuallyExclusive, game: null }
}

/** What both venues list alike of an answer, and the clause of its rules; `phrase` is the answer in the venue's words. */
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

/** How many answers an event has: from `least` at 400 markets and below to `most` at 10,000 and above. */
export function gridSize(size: WorldSize, limits: { least: number; most: number }): number {
  const growth = Math.log(size.marketsPerVenue / 400) / Math.log(25)
  const part = Math.min(1, Math.max(0, growth))
  return Math.round(limits.least + part * (limits.most - limits.least))
}

/** Copies so that a cycle lives about `lifeMs`: each stays two days and up to an hour after its close. */
export function copiesFor(periodMs: number, lifeMs: number): number {
  return Math.max(1, Math.round((lifeMs + 2 * DAY_MS + HOUR_MS) / periodMs))
}

/** How long a cycle lives, about: what `copiesFor` was asked for. */
export function lifeOf({ copies, schedule }: Pick<Variant, 'copies' | 'schedule'>): number {
  return copies * schedule.periodMs - 2 * DAY_MS - HOUR_MS
}
