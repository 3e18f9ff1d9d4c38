// Pairs of the two venues with somebody's label, one JSON object a line, as the evaluation reads them.
// Not for: pairs that matching finds (score.ts).

import { type Row, textOf } from '../../json-fields.ts'
import { isRecord } from '../../json-record.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import { eventOfKalshi, marketOfKalshi } from '../../venues/kalshi/subjects.ts'
import { eventOfGamma, marketOfGamma } from '../../venues/polymarket/subjects.ts'

interface Labelled {
  /** Whether Yes means Yes and both settle alike, by the label. */
  readonly isSame: boolean
  /** `same`, `related` or `different`. */
  readonly label: string
  /** In which way a pair is related; '' where not said. */
  readonly relation: string
  /** Who or what gave the label. */
  readonly origin: string
  readonly topic: string
  /** Venue b's event: pairs of one event are never parted between training and judging. */
  readonly group: string
  /** Venue b's series. */
  readonly series: string
}

export interface LabelledMarkets extends Labelled {
  readonly grain: 'market'
  readonly a: MatchMarket
  readonly b: MatchMarket
}

export interface LabelledEvents extends Labelled {
  readonly grain: 'event'
  readonly a: MatchEvent
  readonly b: MatchEvent
}

export type LabelledPair = LabelledMarkets | LabelledEvents

/** Reads one line's object; null where it is no labelled pair. */
export function labelledPairOf(row: unknown): LabelledPair | null {
  if (!isRecord(row) || !isRecord(row.polymarket) || !isRecord(row.kalshi)) return null
  const label = textOf(row, 'label')
  if (label === '') return null
  const labelled = labelOf(row, row.kalshi, label)
  if (textOf(row, 'grain') === 'event') {
    const [a, b] = [eventOfGamma(row.polymarket), eventOfKalshi(row.kalshi)]
    return { ...labelled, grain: 'event', a, b }
  }
  const { event } = row.kalshi
  const b = marketOfKalshi(row.kalshi, isRecord(event) ? event : null)
  const a = marketOfGamma(row.polymarket, null)
  return {
    ...labelled,
    grain: 'market',
    a: { ...a, outcomes: outcomesOf(row.polymarket, b, a) },
    b,
  }
}

/** Where the label is about one token of several (`tokens` by side), that token's side is what Yes means. */
function outcomesOf(row: Row, b: MatchMarket, a: MatchMarket): readonly string[] {
  if (!isRecord(row.tokens)) return a.outcomes
  const sides = Object.keys(row.tokens)
  const asked = b.handle.split('-').at(-1) ?? ''
  return sides.includes(asked) ? [asked, ...sides.filter((side) => side !== asked)] : sides
}

function labelOf(row: Row, kalshi: Row, label: string): Labelled {
  const group = textOf(kalshi, 'event_ticker', 'ticker')
  return {
    isSame: label === 'same',
    label,
    relation: textOf(row, 'relation'),
    origin: textOf(row, 'how_labelled'),
    topic: textOf(row, 'topic'),
    group,
    series: group.split('-')[0] ?? '',
  }
}
