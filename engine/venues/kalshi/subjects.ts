// Converts Kalshi's rows, from REST or recorded dumps, to inputs of market matching.

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
import type { MatchEvent, MatchMarket, Strike, SubjectReader } from '../../subject.ts'

function marketOf(row: Row, event: Row | null): MatchMarket {
  const ticker = textOf(row, 'ticker', 'platform_id')
  const eventTicker =
    textOf(row, 'event_ticker') || (event === null ? '' : textOf(event, 'event_ticker'))
  const yes = textOf(row, 'yes_sub_title')
  const question = textOf(row, 'title', 'question')
  return {
    ...{ venue: 'b', handles: 'ticker' },
    key: ticker || question,
    title: question || (event === null ? '' : textOf(event, 'title')),
    subtitle: yes || textOf(row, 'subtitle'),
    outcomes: yes === '' ? [] : [yes, textOf(row, 'no_sub_title') || `not ${yes}`],
    rules: [textOf(row, 'rules_primary', 'rules'), textOf(row, 'rules_secondary')]
      .join('\n')
      .trim(),
    handle: ticker,
    eventKey: eventTicker || null,
    eventTitle: event === null ? textOf(row, 'event_title') : textOf(event, 'title'),
    eventSubtitle:
      event === null ? textOf(row, 'sub_title') : textOf(event, 'sub_title', 'subtitle'),
    series: seriesOf(event ?? row, eventTicker || ticker),
    category: maybeText(event ?? row, 'category'),
    tags: tagsOf(row, event),
    startMs: timeOf(row, 'occurrence_datetime'),
    closeMs: timeOf(row, 'close', 'expected_expiration_time', 'close_time', 'deadline'),
    strike: strikeOf(row),
    betType: metadataText(event ?? row, 'competition_scope'),
    line: null,
  }
}

function eventOf(row: Row): MatchEvent {
  const ticker =
    textOf(row, 'event_ticker') || textOf(row, 'platform_event_id').replace(/^kalshi:event:/, '')
  return {
    ...{ venue: 'b', handles: 'ticker' },
    key: ticker || textOf(row, 'title'),
    title: textOf(row, 'title'),
    subtitle: textOf(row, 'sub_title', 'subtitle'),
    rules: '',
    handle: ticker,
    series: seriesOf(row, ticker),
    category: maybeText(row, 'category'),
    tags: tagsOf(row, row),
    startMs: null,
    closeMs: timeOf(row, 'strike_date', 'close', 'close_time', 'deadline'),
    isExclusive: flagOf(row, 'mutually_exclusive'),
    markets: childrenOf(row),
  }
}

function childrenOf(row: Row): readonly MatchMarket[] {
  const markets = [...rowsOf(row.markets), ...rowsOf(row.child_markets)]
  if (markets.length > 0) return markets.map((child) => marketOf(child, row))
  const tickers = textsOf(row.sample_tickers)
  return textsOf(row.sample_markets).map((title, index) =>
    marketOf({ title, ticker: tickers[index] ?? '' }, null),
  )
}

/** A text field of the event's metadata: the bet ("Game", "Map 2 Winner") or the competition ("Croatia HNL", "CS2"). */
function metadataText({ product_metadata: metadata }: Row, field: string): string {
  return isRecord(metadata) ? textOf(metadata, field) : ''
}

/** Tags and the competition. The competition names the game or league if the tags only contain "Esports". */
function tagsOf(row: Row, event: Row | null): readonly string[] {
  return [...textsOf(row.tags), ...textsOf([metadataText(event ?? row, 'competition')])]
}

function seriesOf(row: Row, ticker: string): string | null {
  return maybeText(row, 'series_ticker') ?? (ticker.split('-')[0] || null)
}

function strikeOf(row: Row): Strike | null {
  const strike = {
    kind: textOf(row, 'strike_type'),
    floor: numberOf(row, 'floor_strike'),
    cap: numberOf(row, 'cap_strike'),
  }
  return strike.floor === null && strike.cap === null ? null : strike
}

export const KALSHI_SUBJECTS: SubjectReader = {
  market: marketOf,
  event: eventOf,
  isEvent: (row) => 'event_ticker' in row && !('ticker' in row),
}
