// Parses labelled pairs of two venues. Each line is a JSON object with one side per venue, under the venue's protocol
// name.

import { type Row, textOf } from '../../json-fields.ts'
import { isRecord } from '../../json-record.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import type { VenueFacts } from '../../venue-table.ts'
import { firstMatch, type PhraseRows, phraseTable, tableIn } from '../understand/phrases.ts'
import { fold } from '../understand/text-normalization.ts'

const TABLES = tableIn<Readonly<Record<'bySeries' | 'byWords', PhraseRows>>>(
  new URL('./kinds.json', import.meta.url),
)
const [BY_SERIES, BY_WORDS] = [phraseTable(TABLES.bySeries), phraseTable(TABLES.byWords)]

interface Labelled {
  /** Whether Yes of one means Yes of the other and both settle alike. */
  readonly isSame: boolean
  /** `same`, `related` or `different`. */
  readonly label: string
  /** How a related pair is related; '' if not stated. */
  readonly relation: string
  /** The person or program that assigned the label. */
  readonly origin: string
  /** The second venue's event. All pairs of an event are in the same part of a split. */
  readonly group: string
  /** The second venue's series, or its title without a series. */
  readonly series: string
  /**
   * Kind of question, by the second side's series, else by both titles (kinds.json). Only the evaluation uses it, to
   * leave out one kind.
   */
  readonly kind: string
  /** The collection of the pair, or the origin of its label if none is stated. */
  readonly source: string
  /** The file of labelled pairs that contains it. */
  readonly collection: string
}

interface Sides<Grain, Subject> extends Labelled {
  readonly grain: Grain
  readonly a: Subject
  readonly b: Subject
}

export type LabelledPair = Sides<'market', MatchMarket> | Sides<'event', MatchEvent>

type Venues = readonly [VenueFacts, VenueFacts]

/** Parses the object of one line. Null if it is no labelled pair. */
export function labelledPairOf(
  row: unknown,
  [first, second]: Venues,
  collection = '',
): LabelledPair | null {
  if (!isRecord(row)) return null
  const [ofFirst, ofSecond] = [row[first.protocol], row[second.protocol]]
  const label = textOf(row, 'label')
  if (!isRecord(ofFirst) || !isRecord(ofSecond) || label === '') return null
  if (textOf(row, 'grain') === 'event') {
    const [a, b] = [first.subjects.event(ofFirst), second.subjects.event(ofSecond)]
    return { ...labelOf(row, a, b, b.handle || b.key, label, collection), grain: 'event', a, b }
  }
  const { event } = ofSecond
  const b = second.subjects.market(ofSecond, isRecord(event) ? event : null)
  const a = first.subjects.market(ofFirst, null)
  return {
    ...labelOf(row, a, b, b.eventKey ?? b.handle, label, collection),
    grain: 'market',
    a: { ...a, outcomes: outcomesOf(ofFirst, b, a) },
    b,
  }
}

/** Outcomes of venue a's side. If the label is about one of several tokens (`tokens` by side), that token comes first. */
function outcomesOf(row: Row, b: MatchMarket, a: MatchMarket): readonly string[] {
  if (!isRecord(row.tokens)) return a.outcomes
  const sides = Object.keys(row.tokens)
  const yesSide = b.handle.split('-').at(-1) ?? ''
  return sides.includes(yesSide) ? [yesSide, ...sides.filter((side) => side !== yesSide)] : sides
}

function labelOf(
  row: Row,
  a: MatchMarket | MatchEvent,
  b: MatchMarket | MatchEvent,
  group: string,
  label: string,
  collection: string,
): Labelled {
  const series = group.split('-')[0] ?? ''
  const titles = `${fold(b.title)} ${fold(b.subtitle)} | ${fold(a.title)}`
  return {
    isSame: label === 'same',
    label,
    relation: textOf(row, 'relation'),
    origin: textOf(row, 'how_labelled'),
    group,
    series,
    kind: firstMatch(BY_SERIES, series) ?? firstMatch(BY_WORDS, titles) ?? 'other',
    source: textOf(row, 'source', 'how_labelled'),
    collection,
  }
}
