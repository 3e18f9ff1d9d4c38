// Converts Gamma's rows, from REST or recorded dumps, to inputs of market matching.

import {
  flagOf,
  maybeText,
  numberOf,
  type Row,
  rowsOf,
  textOf,
  textsOf,
  timeOf,
} from '../../json-fields.ts'
import { isRecord } from '../../json-record.ts'
import type { MatchEvent, MatchMarket, SubjectReader } from '../../subject.ts'
import { conditionId } from './condition-id.ts'

function marketOf(row: Row, event: Row | null): MatchMarket {
  const parent = event ?? parentOf(row)
  const slug = textOf(row, 'slug')
  return {
    ...{ venue: 'a', handles: 'slug' },
    key:
      conditionId(textOf(row, 'conditionId', 'platform_id', 'gamma_id', 'id')) ||
      slug ||
      textOf(row, 'question'),
    title: textOf(row, 'question', 'title'),
    subtitle: textOf(row, 'groupItemTitle'),
    outcomes: textsOf(row.outcomes),
    rules: textOf(row, 'description'),
    handle: slug,
    eventKey: maybeText(row, 'event_slug') ?? (parent === null ? null : maybeText(parent, 'slug')),
    eventTitle: parent === null ? textOf(row, 'event_title') : textOf(parent, 'title'),
    eventSubtitle: '',
    series: seriesOf(parent ?? row),
    category: maybeText(row, 'category'),
    tags: textsOf(parent?.tags ?? row.tags),
    startMs:
      timeOf(row, 'gameStartTime', 'eventStartTime') ??
      (parent === null ? null : timeOf(parent, 'startTime')),
    closeMs: timeOf(row, 'closedTime', 'endDate', 'end', 'close', 'deadline'),
    strike: null,
    betType: textOf(row, 'sportsMarketType'),
    line: numberOf(row, 'line'),
  }
}

function eventOf(row: Row): MatchEvent {
  const slug = textOf(row, 'slug', 'ticker')
  return {
    ...{ venue: 'a', handles: 'slug' },
    key:
      slug ||
      textOf(row, 'platform_event_id', 'event_id', 'id') ||
      textOf(row, 'title', 'question'),
    title: textOf(row, 'title', 'question'),
    subtitle: '',
    rules: textOf(row, 'description'),
    handle: slug,
    series: seriesOf(row),
    category: maybeText(row, 'category'),
    tags: textsOf(row.tags),
    startMs: timeOf(row, 'startTime', 'gameStartTime', 'eventDate'),
    closeMs: timeOf(row, 'endDate', 'end', 'deadline'),
    isExclusive: flagOf(row, 'negRisk'),
    markets: childrenOf(row),
  }
}

/** The markets of an event row. A sample title becomes a market without other data. */
function childrenOf(row: Row): readonly MatchMarket[] {
  const markets = [...rowsOf(row.markets), ...rowsOf(row.child_markets)]
  if (markets.length > 0) return markets.map((child) => marketOf(child, row))
  return textsOf(row.sample_markets).map((title) => marketOf({ title }, null))
}

function parentOf(row: Row): Row | null {
  if (isRecord(row.event)) return row.event
  return rowsOf(row.events)[0] ?? null
}

function seriesOf(row: Row): string | null {
  const [first] = rowsOf(row.series)
  return maybeText(row, 'seriesSlug') ?? (first === undefined ? null : maybeText(first, 'slug'))
}

export const GAMMA_SUBJECTS: SubjectReader = {
  market: marketOf,
  event: eventOf,
  isEvent: () => false,
}
