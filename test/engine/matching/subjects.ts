// Creates markets and events for the tests of matching, and scores them.

import assert from 'node:assert/strict'
import { type PairScore, scorePair } from '../../../engine/matching/compare/score.ts'
import {
  understandEvent,
  understandMarket,
} from '../../../engine/matching/understand/proposition-parser.ts'
import type { MatchEvent, MatchMarket } from '../../../engine/subject.ts'
import { KALSHI_SUBJECTS } from '../../../engine/venues/kalshi/subjects.ts'
import { GAMMA_SUBJECTS } from '../../../engine/venues/polymarket/subjects.ts'

/** A market of venue a by question, slug and closing day. */
export function marketA(question: string, slug = '', endDate = '', more = {}): MatchMarket {
  return GAMMA_SUBJECTS.market({ question, slug, endDate, conditionId: `0x${slug}`, ...more }, null)
}

/** A market of venue b by ticker, title and short title. */
export function marketB(ticker: string, title: string, yes = '', more = {}): MatchMarket {
  const parts = ticker.split('-')
  const event = parts.slice(0, -1).join('-')
  return KALSHI_SUBJECTS.market(
    { ticker, event_ticker: event, title, yes_sub_title: yes, ...more },
    null,
  )
}

export function eventA(
  title: string,
  endDate = '',
  samples: readonly string[] = [],
  slug = '',
): MatchEvent {
  return GAMMA_SUBJECTS.event({ title, endDate, slug, sample_markets: samples })
}

export function eventB(
  title: string,
  subtitle: string,
  ticker: string,
  samples: readonly string[] = [],
): MatchEvent {
  return KALSHI_SUBJECTS.event({
    title,
    sub_title: subtitle,
    event_ticker: ticker,
    sample_markets: samples,
  })
}

export function score(a: MatchMarket, b: MatchMarket): PairScore {
  return scorePair(understandMarket(a), understandMarket(b))
}

export function scoreEvents(a: MatchEvent, b: MatchEvent): PairScore {
  return scorePair(understandEvent(a), understandEvent(b))
}

/** Asserts that this veto is the only one and that the pair is no match. */
export function vetoed(found: PairScore, reason: string): void {
  assert.deepEqual(found.vetoes, [reason], found.explanation)
  assert.ok(found.score < 80)
}

export function same(found: PairScore): void {
  assert.deepEqual(found.vetoes, [], found.explanation)
  assert.ok(found.score >= 80, `${found.score}: ${found.explanation}`)
  assert.equal(found.relation, 'identical')
}
