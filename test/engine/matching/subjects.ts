// Made-up markets and events for the tests of matching, as short as a test wants them.

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
