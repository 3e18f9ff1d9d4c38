// Texts of games: venue a lists one event (winner, spreads, totals), venue b up to three events with one market per
// team or line.

import type { SimGame, SimPairKind, SimTeam } from '../model.ts'
import { payoutOf } from './answer-chances.ts'
import {
  clockUpper,
  type EasternTime,
  easternTime,
  longDay,
  shortDate,
  shortDay,
  stampDay,
  twoDigits,
} from './eastern.ts'
import { slugOf } from './polymarket-style.ts'
import type { EventDraft, MarketDraft } from './question.ts'
import { kalshiLocation, type League } from './teams.ts'

/** The outcome of a simulated game: its probabilities, and the result by which both venues pay. */
export interface GameResult {
  /** Probability that the away team wins. */
  readonly chance: number
  readonly isAwayWinner: boolean
  readonly isAwayFavourite: boolean
  /** Cancelled: everything pays one half. */
  readonly isVoid: boolean
  /** Venue b's different rules make it a tie. */
  readonly isTied: boolean
  readonly trap: SimPairKind
  /** Yes if the favourite wins by more than the line. */
  readonly spreads: readonly Line[]
  /** Yes if both together score more than the line. */
  readonly totals: readonly Line[]
  /** Tennis only; empty otherwise. */
  readonly tournament: string
}

export interface Line {
  readonly line: number
  readonly chance: number
  readonly isYes: boolean
}

const CANCELLED =
  'If the game is postponed, this market will remain open until the game has been completed.\n' +
  'If the game is canceled entirely, with no make-up game, this market will resolve 50-50.'

/** Venue a's event. The winner's market has the event's slug. */
export function polymarketGame(game: SimGame, league: League, result: GameResult): EventDraft {
  const { away, home } = game
  const isTennis = game.sport === 'tennis'
  const slug = slugOfGame(game)
  const names = { away: labelOf(game, away), home: labelOf(game, home) }
  const title = isTennis
    ? `${result.tournament}: ${away.name} vs ${home.name}`
    : `${names.away} vs. ${names.home}`
  const startAt = easternTime(game.startMs)
  const intro = isTennis
    ? `This market refers to the tennis match between ${away.name} and ${home.name} in the ` +
      `${result.tournament}, scheduled for ${longDay(startAt)} at ${clockUpper(startAt)} ET:\n`
    : `In the upcoming ${league.title} game, scheduled for ${longDay(startAt)} at ` +
      `${clockUpper(startAt)} ET:\n`
  const verb = isTennis ? 'advances' : 'win'
  const full = (team: SimTeam): string => (isTennis ? team.name : `the ${team.name}`)
  const winner: MarketDraft = {
    ...plainMarket(slug, title),
    outcomes: [names.away, names.home],
    shortTitle: title,
    rules:
      `${intro}If ${full(away)} ${verb}, the market will resolve to “${names.away}”.\n` +
      `If ${full(home)} ${verb}, the market will resolve to “${names.home}”.\n${CANCELLED}`,
    sportsMarketType: 'moneyline',
    payout: payoutOf(result.isAwayWinner, result.isVoid),
    chance: result.chance,
    weight: 2,
  }
  const favourite = result.isAwayFavourite ? 'away' : 'home'
  const underdog = result.isAwayFavourite ? 'home' : 'away'
  const spreads = result.spreads.map((spread, index): MarketDraft => {
    const question = `Spread: ${names[favourite]} (-${spread.line})`
    return {
      ...plainMarket(`${slug}-spread-${favourite}-${slugOf(String(spread.line))}`, question),
      ...lineDraft(spread, result, `spread${index}`, 'spreads', -spread.line),
      outcomes: [names[favourite], names[underdog]],
      shortTitle: `Spread -${spread.line}`,
      rules:
        `${intro}\nThis market will resolve to “${names[favourite]}” if the ${names[favourite]} win ` +
        `the game by ${spread.line + 0.5} or more ${league.points}.\n\nOtherwise, this market will ` +
        `resolve to “${names[underdog]}”.\n\n${CANCELLED}`,
    }
  })
  const totals = result.totals.map((total, index): MarketDraft => {
    return {
      ...plainMarket(`${slug}-total-${slugOf(String(total.line))}`, `${title}: O/U ${total.line}`),
      ...lineDraft(total, result, `total${index}`, 'totals', total.line),
      outcomes: ['Over', 'Under'],
      shortTitle: `O/U ${total.line}`,
      rules:
        `${intro}\nThis market will resolve to “Over” if the ${away.name} and ${home.name} combine ` +
        `to score ${total.line + 0.5} or more ${league.points} in this game.\n\nOtherwise, this ` +
        `market will resolve to “Under”.\n\n${CANCELLED}`,
    }
  })
  return {
    nativeId: slug,
    series: `${game.league}-${game.date.slice(0, 4)}`,
    seriesTitle: `${league.title} ${game.date.slice(0, 4)}`,
    title,
    subtitle: '',
    description: winner.rules,
    category: 'Sports',
    tags: ['Sports', 'Games', league.title, league.tag],
    isMutuallyExclusive: false,
    game,
    markets: [winner, ...spreads, ...totals],
  }
}

/**
 * Venue a's marker for the second game of a day is unknown (engine/venues/polymarket/README.md, Not known). Here it is
 * a digit, as for other slugs that are in use.
 */
function slugOfGame({ league, away, home, date, number }: SimGame): string {
  const codes = `${away.polymarketCode}-${home.polymarketCode}`
  return `${league}-${codes}-${date}${number === 2 ? '-2' : ''}`
}

/** Venue b's events: the winner with a market per team, then spread and total if there are lines. */
export function kalshiGame(
  game: SimGame,
  league: League,
  result: GameResult,
): readonly EventDraft[] {
  const { away, home } = game
  const day = easternTime(game.startMs)
  const clock = game.sport === 'mlb' ? hourMinute(easternTime(game.startMs)) : ''
  const suffix = `-${stampDay(day)}${clock}${away.kalshiCode}${home.kalshiCode}`
  const isTennis = game.sport === 'tennis'
  const locations = {
    away: kalshiLocation(game.league, away),
    home: kalshiLocation(game.league, home),
  }
  const title = isTennis
    ? `${locations.away} vs ${locations.home}`
    : `${locations.away} at ${locations.home}`
  const subtitle = isTennis
    ? `${title} (${shortDay(day)})`
    : `${away.kalshiCode} at ${home.kalshiCode} (${shortDay(day)})`
  const event = (scope: string, markets: readonly MarketDraft[]): EventDraft => {
    const series = scope === '' ? league.series : league.series.replace(/GAME|MATCH/, scope)
    return {
      nativeId: `${series}${suffix}`,
      series,
      seriesTitle: `${league.competition} ${SCOPE_TITLES[scope] ?? 'Game'}`,
      title: scope === '' ? title : `${title}: ${SCOPE_TITLES[scope] ?? scope}`,
      subtitle,
      description: '',
      category: 'Sports',
      tags: [league.tag],
      isMutuallyExclusive: scope === '',
      game,
      markets,
    }
  }
  const events = [event('', winners({ game, league, result, locations, day, suffix }))]
  if (result.spreads.length === 0) return events
  const lined = { game, league, result, locations, day, suffix }
  return [...events, event('SPREAD', spreadsOf(lined)), event('TOTAL', totalsOf(lined))]
}

interface Fixture {
  readonly game: SimGame
  readonly league: League
  readonly result: GameResult
  readonly locations: { readonly away: string; readonly home: string }
  readonly day: EasternTime
  readonly suffix: string
}

/** Two markets. The one that matches venue a's is the away team's, or the home team's as a trap. */
function winners(fixture: Fixture): readonly MarketDraft[] {
  const { game, league, result, locations, day } = fixture
  const isHalf = result.isVoid || result.isTied
  const match = `${locations.away} vs ${locations.home}`
  return (['away', 'home'] as const).map((side): MarketDraft => {
    const isAway = side === 'away'
    const code = game[side].kalshiCode
    const verb = game.sport === 'tennis' ? 'match' : `${league.competition} game`
    return {
      ...plainMarket(
        `${league.series}${fixture.suffix}-${code}`,
        `Will ${locations[side]} win the ${match} ${verb}?`,
      ),
      shortTitle: locations[side],
      noShortTitle: locations[side],
      rules:
        `If ${locations[side]} wins the ${match} ${league.phrase} ` +
        `${game.sport === 'tennis' ? 'match' : 'game'} originally scheduled for ` +
        `${shortDate(day)}, then the market resolves to Yes.`,
      rulesSecondary: secondary(fixture),
      strike: { type: 'structured', floor: null, cap: null },
      payout: payoutOf(result.isAwayWinner === isAway, isHalf),
      isPairable: isAway !== (result.trap === 'opposite_side'),
      chance: isAway ? result.chance : 1 - result.chance,
      isInverted: !isAway,
      weight: 1.4,
    }
  })
}

function spreadsOf(fixture: Fixture): readonly MarketDraft[] {
  const { game, league, result, locations, day } = fixture
  const side = result.isAwayFavourite ? 'away' : 'home'
  const series = league.series.replace(/GAME|MATCH/, 'SPREAD')
  return result.spreads.map((spread, index): MarketDraft => {
    const label = `${locations[side]} wins by over ${spread.line} ${league.points}`
    return {
      ...plainMarket(
        `${series}${fixture.suffix}-${game[side].kalshiCode}${Math.floor(spread.line)}`,
        `${label}?`,
      ),
      ...lineDraft(spread, result, `spread${index}`, null, null),
      shortTitle: label,
      noShortTitle: label,
      rules:
        `If ${locations[side]} wins the ${locations.away} at ${locations.home} ${league.phrase} game ` +
        `originally scheduled for ${shortDate(day)} by more than ${spread.line} ${league.points}, ` +
        'then the market resolves to Yes.',
      rulesSecondary: secondary(fixture),
      strike: { type: 'greater', floor: spread.line, cap: null },
    }
  })
}

function totalsOf(fixture: Fixture): readonly MarketDraft[] {
  const { league, result, locations, day } = fixture
  const series = league.series.replace(/GAME|MATCH/, 'TOTAL')
  return result.totals.map((total, index): MarketDraft => {
    const label = `Over ${total.line} ${league.points} scored`
    return {
      ...plainMarket(
        `${series}${fixture.suffix}-${Math.floor(total.line)}`,
        `${locations.away} at ${locations.home}: ${label}?`,
      ),
      ...lineDraft(total, result, `total${index}`, null, null),
      shortTitle: label,
      noShortTitle: label,
      rules:
        `If ${locations.away} and ${locations.home} collectively score more than ${total.line} ` +
        `${league.points} in the ${league.phrase} game originally scheduled for ${shortDate(day)}, ` +
        'then the market resolves to Yes.',
      rulesSecondary: secondary(fixture),
      strike: { type: 'greater', floor: total.line, cap: null },
    }
  })
}

function secondary({ game, result, league }: Fixture): string {
  const isOther = result.trap === 'other_rules'
  if (game.sport === 'tennis') {
    const retired = isOther
      ? 'A match in which a player retires resolves to $0.50 for each side.'
      : 'If a player retires or forfeits after the match has begun, the other player wins.'
    return (
      `The following market refers to the match named above. ${retired} If the match is not begun ` +
      'within two weeks, the market will resolve to $0.50 for each side.'
    )
  }
  const tie = isOther
    ? 'Only regulation time counts: a game that is tied at its end resolves to $0.50 for each side.'
    : 'Overtime counts. If the game ends in a tie, the market will resolve to $0.50 for each side.'
  return (
    `The following market refers to the ${league.phrase} game. ${tie} If the game is postponed but ` +
    'begins within 48 hours from its originally scheduled start time, the market will remain open ' +
    'and resolve based on the official final result.\n\nKalshi is not affiliated, associated, ' +
    'authorized, endorsed by, or in any way officially connected with the Governing League.'
  )
}

const SCOPE_TITLES: Readonly<Record<string, string>> = { SPREAD: 'Spread', TOTAL: 'Total Points' }

/** Nicknames for professionals and players, schools in football, school and nickname in basketball. */
function labelOf(game: SimGame, team: SimTeam): string {
  if (game.sport === 'cfb') return team.location
  return game.sport === 'cbb' ? team.name : team.nickname
}

const hourMinute = (at: EasternTime): string => `${twoDigits(at.hour)}${twoDigits(at.minute)}`

function lineDraft(
  line: Line,
  result: GameResult,
  questionKey: string,
  sportsMarketType: string | null,
  listedLine: number | null,
): Pick<
  MarketDraft,
  'payout' | 'chance' | 'questionKey' | 'moverKey' | 'sportsMarketType' | 'line' | 'weight'
> {
  return {
    payout: payoutOf(line.isYes, result.isVoid),
    chance: line.chance,
    questionKey,
    // All lines of one kind move together.
    moverKey: questionKey.replace(/\d+$/, ''),
    sportsMarketType,
    line: listedLine,
    weight: 0.6,
  }
}

/** The fields that most of a game's markets share. The default question is the winner's. */
function plainMarket(slug: string, question: string): MarketDraft {
  return {
    slug,
    question,
    outcomes: ['Yes', 'No'],
    shortTitle: question,
    noShortTitle: '',
    rules: '',
    rulesSecondary: '',
    strike: null,
    sportsMarketType: null,
    line: null,
    payout: payoutOf(false),
    questionKey: 'winner',
    isPairable: true,
    chance: 0.5,
    isInverted: false,
    moverKey: 'winner',
    weight: 1,
  }
}
