// Games as venue b's milestones, and teams as its structured targets.

import type { TimeMs } from '../../../units.ts'
import type { SimEvent, SimGame, SimSport, World } from '../model.ts'
import { uuidOf } from '../questions/identity.ts'
import { targetId, targetType } from './render.ts'
import { rfc3339 } from './text.ts'

const MILESTONE_TYPES: Readonly<Record<SimSport, string>> = {
  nfl: 'football_game',
  cfb: 'football_game',
  nba: 'basketball_game',
  cbb: 'basketball_game',
  mlb: 'baseball_game',
  nhl: 'hockey_match',
  pga: 'golf_tournament',
  tennis: 'tennis_tournament_singles',
}

interface Milestone {
  readonly id: string
  readonly game: SimGame
  readonly events: readonly SimEvent[]
}

export function milestonesOf(events: readonly SimEvent[]): readonly Milestone[] {
  const byGame = new Map<string, { game: SimGame; events: SimEvent[] }>()
  for (const event of events) {
    const { game } = event
    if (game === null) continue
    const key = `${game.league}/${game.date}/${game.away.kalshiCode}/${game.home.kalshiCode}/${game.startMs}`
    const existing = byGame.get(key)
    if (existing === undefined) byGame.set(key, { game, events: [event] })
    else existing.events.push(event)
  }
  return [...byGame].map(([key, found]) => ({ id: uuidOf(`milestone/${key}`), ...found }))
}

export function renderMilestone(milestone: Milestone, nowMs: TimeMs): Record<string, unknown> {
  const { game, events, id } = milestone
  const main = events.find(isWinnerEvent) ?? events[0]
  return {
    id,
    category: 'Sports',
    type: MILESTONE_TYPES[game.sport],
    start_date: rfc3339(game.startMs),
    end_date: null,
    title: main?.title ?? `${game.away.location} at ${game.home.location}`,
    related_event_tickers: events.map((event) => event.nativeId),
    primary_event_tickers: main === undefined ? [] : [main.nativeId],
    notification_message: 'Who will emerge victorious?',
    source_id: uuidOf(`source of ${id}`),
    details: {
      league: game.league.toUpperCase(),
      away_team_id: targetId(game.league, game.away.kalshiCode),
      home_team_id: targetId(game.league, game.home.kalshiCode),
      status: nowMs < game.startMs ? 'created' : statusOf(events),
    },
    last_updated_ts: rfc3339(main?.createdMs ?? game.startMs),
  }
}

/** `/structured_targets`: every team of every league, with the same sport as in the games. */
export function targetsOf(world: World) {
  const sports = new Map<string, SimSport>()
  const seen = new Set<string>()
  for (const event of world.events('b')) {
    if (seen.has(event.series)) continue
    const { series, game } = event
    if (game === null) continue
    seen.add(series)
    sports.set(game.league, game.sport)
  }
  return world.teams().map(({ league, team }) => {
    const id = targetId(league, team.kalshiCode)
    return {
      id,
      name: team.name,
      type: targetType(sports.get(league) ?? league),
      details: {
        league: league.toUpperCase(),
        abbreviation: team.kalshiCode,
        market: team.location,
        nickname: team.nickname,
      },
      source_id: uuidOf(`source of ${id}`),
      last_updated_ts: rfc3339(world.startedMs),
    }
  })
}

function isWinnerEvent(event: SimEvent): boolean {
  return event.markets.some((market) => market.listing.sportsMarketType === 'moneyline')
}

function statusOf(events: readonly SimEvent[]): string {
  const isOver = events.every((event) =>
    event.markets.every((m) => m.status === 'determined' || m.status === 'resolved'),
  )
  return isOver ? 'closed' : 'inprogress'
}
