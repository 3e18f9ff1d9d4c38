import type { CatalogView, GamesView, MarketView, SportsView } from '../../actors/views.ts'
import { EngineError } from '../../engine/errors.ts'
import { isCalendarDate } from '../../engine/sports/eastern-date.ts'
import { SPORTS, type Sport } from '../../engine/sports/leagues.ts'

/** Throws MARKET_NOT_FOUND. */
export function findMarket(catalog: CatalogView, id: string): MarketView {
  const view = catalog.find(id)
  if (view === null) throw new EngineError('MARKET_NOT_FOUND', 'no such market')
  return view
}

export function listOf(view: MarketView | null): readonly MarketView[] {
  return view === null ? [] : [view]
}

/** `wanted` is a label, or `yes` or `no` for the first two outcomes. Throws BAD_REQUEST. */
export function outcomeIndexOf(view: MarketView, wanted: string | undefined): number {
  if (wanted === undefined) return 0
  const lower = wanted.trim().toLowerCase()
  const labels = view.summary.outcomes.map(({ label }) => label)
  const index = labels.findIndex((label) => label.toLowerCase() === lower)
  const found = index >= 0 ? index : ['yes', 'no'].indexOf(lower)
  if (found === 0 || found === 1) return found
  throw new EngineError('BAD_REQUEST', `the outcomes of this market are ${labels.join(' and ')}`)
}

/** `date` is a US Eastern date. Default: today. Throws BAD_REQUEST for an impossible date. */
export async function gamesOn(
  sports: SportsView,
  sportName: string,
  requestedDate: string | undefined,
): Promise<{ sport: Sport; date: string; games: GamesView }> {
  const sport = SPORTS.find((candidate) => candidate === sportName)
  if (sport === undefined)
    throw new Error(`the path's schema accepted the unknown sport ${sportName}`)
  const date = requestedDate ?? sports.today()
  if (!isCalendarDate(date)) throw new EngineError('BAD_REQUEST', 'no calendar has this date')
  return { sport, date, games: await sports.games(sport, date) }
}
