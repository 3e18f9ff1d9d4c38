// The judge of the service with a sentence encoder beside it: the same readings, each with the text whose meaning is compared.
// A veto stands above every similarity, since it caps the score. Not for: reading texts (encoder.ts), which comes before.
// Upholds ENCODER5, ENCODER6.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import { type Comparison, compare } from '../compare/compare.ts'
import { JUDGE, type Judge } from '../compare/judge.ts'
import { scoreOf } from '../compare/score.ts'
import type { Proposition } from '../understand/proposition.ts'
import type { Families } from '../veto/families.ts'
import type { Encoder } from './encoder.ts'
import type { OpenEncoder } from './encoder-folder.ts'

/** What a subject asks, and its text as the encoder takes it. */
export interface EncodedReading {
  readonly proposition: Proposition
  readonly text: string
}

export function encodedJudge({ encoder, model }: OpenEncoder): Judge<EncodedReading> {
  const score: Judge<EncodedReading>['scoreMarkets'] = (a, b, from, families) =>
    scoreOf(compareReadings(a, b, encoder, from, families), model)
  return {
    ...{ readMarket: encodedMarket, readEvent: encodedEvent },
    ...{ scoreMarkets: score, scoreEvents: score },
    teach: (teams) => JUDGE.teach?.(teams),
  }
}

/** Compares two readings, without an encoder by their words alone. */
export function compareReadings(
  a: EncodedReading,
  b: EncodedReading,
  encoder: Encoder | null,
  from?: number,
  families?: Families,
): Comparison {
  const similarity = encoder === null ? 'not asked' : encoder.similarity(a.text, b.text)
  return compare(a.proposition, b.proposition, from, families, similarity ?? 'not read')
}

/** A market's text is its question, with what Yes stands for where the title leaves it out. */
export function encodedMarket(market: MatchMarket): EncodedReading {
  const { title, subtitle } = market
  const isSaid = title.toLowerCase().includes(subtitle.toLowerCase())
  return { proposition: JUDGE.readMarket(market), text: isSaid ? title : `${title} ${subtitle}` }
}

export function encodedEvent(event: MatchEvent): EncodedReading {
  return { proposition: JUDGE.readEvent(event), text: event.title }
}

/**
 * What is to be read before a market, or an event that is known by its markets, is compared. Games are told apart by their
 * teams: their meaning is not asked.
 */
export function textsOf(market: MatchMarket): readonly string[] {
  const { proposition, text } = encodedMarket(market)
  return proposition.game === null ? [text, market.eventTitle || market.title] : []
}
