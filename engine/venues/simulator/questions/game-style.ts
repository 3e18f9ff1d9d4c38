// Listings of games. Venue a lists one event with the winner, spreads and totals. Venue b lists up to three events. The
// texts are in games.json.

import { readFileSync } from 'node:fs'
import type { SimGame, SimPairKind, SimTeam, SimVenue } from '../model.ts'
import { payoutOf } from './answer-chances.ts'
import {
  clockUpper,
  easternTime,
  longDay,
  shortDate,
  shortDay,
  stampDay,
  twoDigits,
} from './eastern.ts'
import type { League } from './lists.ts'
import { slugOf } from './polymarket-style.ts'
import type { EventDraft, MarketDraft, SharedTexts } from './question.ts'
import { fill } from './question-templates.ts'
import { kalshiLocation } from './teams.ts'

export interface GameResult {
  readonly chance: number
  readonly isAwayWinner: boolean
  readonly isAwayFavourite: boolean
  /** True if the game is cancelled. Every market then pays one half. */
  readonly isVoid: boolean
  /** True if the game is a tie under venue b's rules. */
  readonly isTied: boolean
  readonly trap: SimPairKind
  /** Markets that are Yes if the favourite wins by more than the line. */
  readonly spreads: readonly Line[]
  /** Markets that are Yes if both teams together score more than the line. */
  readonly totals: readonly Line[]
  readonly tournament: string
}

export interface Line {
  readonly line: number
  readonly chance: number
  readonly isYes: boolean
}

type Texts = Readonly<Record<string, string>>

const TEXTS: Readonly<Record<SimVenue, Readonly<Record<'both' | 'team' | 'tennis', Texts>>>> =
  JSON.parse(readFileSync(new URL('./games.json', import.meta.url), 'utf8'))

function textsOf(venue: SimVenue, { sport }: SimGame, values: Texts) {
  const templates = TEXTS[venue]
  const own = { ...templates.both, ...(sport === 'tennis' ? templates.tennis : templates.team) }
  return (name: string, more: Texts = {}): string => {
    return fill(own[name] ?? '', { ...values, ...more })
  }
}

const KINDS = ['spread', 'total'] as const

/** The market of the winner has the same slug as the event. */
export function polymarketGame(game: SimGame, league: League, result: GameResult): EventDraft {
  const { away, home } = game
  const slug = slugOfGame(game)
  const at = easternTime(game.startMs)
  const labels = { away: labelOf(game, away), home: labelOf(game, home) }
  const [favourite, underdog] = sidesOf(result)
  const plain = textsOf('a', game, {
    ...{ away: away.name, home: home.name, awayLabel: labels.away, homeLabel: labels.home },
    ...{ favourite: labels[favourite], underdog: labels[underdog], points: league.points },
    ...{ league: league.title, tournament: result.tournament },
    ...{ day: longDay(at), clock: clockUpper(at) },
  })
  const title = plain('title')
  const shared = { title, intro: plain('intro'), cancelled: plain('cancelled') }
  const text = (name: string, more: Texts = {}): string => plain(name, { ...shared, ...more })
  const winner: MarketDraft = {
    ...plainMarket(slug, title),
    outcomes: [labels.away, labels.home],
    rules: text('winner'),
    sportsMarketType: 'moneyline',
    payout: payoutOf(result.isAwayWinner, result.isVoid),
    chance: result.chance,
    weight: 2,
  }
  const lines = KINDS.flatMap((kind) =>
    result[`${kind}s`].map((each, index): MarketDraft => {
      const isSpread = kind === 'spread'
      const values = { line: String(each.line), over: String(each.line + 0.5) }
      const mark = isSpread ? `spread-${favourite}` : 'total'
      return {
        ...plainMarket(`${slug}-${mark}-${slugOf(values.line)}`, text(kind, values)),
        ...lineDraft(each, result, `${kind}${index}`),
        sportsMarketType: `${kind}s`,
        line: isSpread ? -each.line : each.line,
        outcomes: isSpread ? [labels[favourite], labels[underdog]] : ['Over', 'Under'],
        shortTitle: isSpread ? `Spread -${each.line}` : `O/U ${each.line}`,
        rules: text(`${kind}Rules`, values),
      }
    }),
  )
  return {
    nativeId: slug,
    series: `${game.league}-${game.date.slice(0, 4)}`,
    seriesTitle: `${league.title} ${game.date.slice(0, 4)}`,
    title,
    subtitle: '',
    description: winner.rules,
    ...polymarketTexts(league),
    isMutuallyExclusive: false,
    game,
    markets: [winner, ...lines],
  }
}

/**
 * The simulated venue a appends a digit to the slug of the second game of a day. The real format is unknown
 * (engine/venues/polymarket/README.md, Not known).
 */
function slugOfGame({ league, away, home, date, number }: SimGame): string {
  const codes = `${away.polymarketCode}-${home.polymarketCode}`
  return `${league}-${codes}-${date}${number === 2 ? '-2' : ''}`
}

/** Venue b's events: the winner with one market per team, then spread and total if the game has lines. */
export function kalshiGame(
  game: SimGame,
  league: League,
  result: GameResult,
): readonly EventDraft[] {
  const { away, home } = game
  const day = easternTime(game.startMs)
  const clock = game.sport === 'mlb' ? `${twoDigits(day.hour)}${twoDigits(day.minute)}` : ''
  const suffix = `-${stampDay(day)}${clock}${away.kalshiCode}${home.kalshiCode}`
  const locations = {
    away: kalshiLocation(game.league, away),
    home: kalshiLocation(game.league, home),
  }
  const [favourite] = sidesOf(result)
  const text = textsOf('b', game, {
    ...{ ...locations, favourite: locations[favourite], points: league.points },
    ...{ awayCode: away.kalshiCode, homeCode: home.kalshiCode, phrase: league.phrase },
    ...{ competition: league.competition, shortDay: shortDay(day), shortDate: shortDate(day) },
  })
  const title = text('title')
  const tie = text(result.trap === 'other_rules' ? 'otherTie' : 'tie')
  const rulesSecondary = text('remarks', { tie })
  const event = (scope: Scope, drafts: (series: string) => readonly MarketDraft[]): EventDraft => {
    const shared = kalshiTexts(league, scope)
    const { series } = shared
    return {
      nativeId: `${series}${suffix}`,
      ...shared,
      title: scope === '' ? title : `${title}: ${SCOPES[scope]}`,
      subtitle: text('subtitle'),
      description: '',
      isMutuallyExclusive: scope === '',
      game,
      markets: drafts(series).map((market) => ({ ...market, rulesSecondary })),
    }
  }
  // Venue a's market is paired with the market of the away team. Under the trap opposite_side it is paired with the
  // home team's.
  const winners = (series: string) =>
    (['away', 'home'] as const).map((side): MarketDraft => {
      const isAway = side === 'away'
      const values = { side: locations[side] }
      const slug = `${series}${suffix}-${game[side].kalshiCode}`
      return {
        ...plainMarket(slug, text('winner', values)),
        ...{ shortTitle: locations[side], noShortTitle: locations[side] },
        rules: text('winnerRules', values),
        strike: { type: 'structured', floor: null, cap: null },
        payout: payoutOf(result.isAwayWinner === isAway, result.isVoid || result.isTied),
        isPairable: isAway !== (result.trap === 'opposite_side'),
        chance: isAway ? result.chance : 1 - result.chance,
        isInverted: !isAway,
        weight: 1.4,
      }
    })
  const lined = (kind: (typeof KINDS)[number]) => (series: string) =>
    result[`${kind}s`].map((each, index): MarketDraft => {
      const line = String(each.line)
      const label = text(kind, { line })
      const code = kind === 'spread' ? game[favourite].kalshiCode : ''
      const slug = `${series}${suffix}-${code}${Math.floor(each.line)}`
      return {
        ...plainMarket(slug, text(`${kind}Question`, { label })),
        ...lineDraft(each, result, `${kind}${index}`),
        ...{ shortTitle: label, noShortTitle: label },
        rules: text(`${kind}Rules`, { line }),
        strike: { type: 'greater', floor: each.line, cap: null },
      }
    })
  const events = [event('', winners)]
  if (result.spreads.length === 0) return events
  return [...events, event('SPREAD', lined('spread')), event('TOTAL', lined('total'))]
}

const SCOPES = { SPREAD: 'Spread', TOTAL: 'Total Points' }
type Scope = keyof typeof SCOPES | ''
const KALSHI_EVENTS: readonly Scope[] = ['', 'SPREAD', 'TOTAL']

export function sharedGameTexts(league: League, venue: SimVenue, eventIndex: number): SharedTexts {
  if (venue === 'a') return polymarketTexts(league)
  return kalshiTexts(league, KALSHI_EVENTS[eventIndex] ?? '')
}

const polymarketTexts = (league: League) => {
  return { category: 'Sports', tags: ['Sports', 'Games', league.title, league.tag] }
}

function kalshiTexts(league: League, scope: Scope) {
  return {
    series: scope === '' ? league.series : league.series.replace(/GAME|MATCH/, scope),
    seriesTitle: `${league.competition} ${scope === '' ? 'Game' : SCOPES[scope]}`,
    category: 'Sports',
    tags: [league.tag],
  }
}

const sidesOf = ({ isAwayFavourite }: GameResult) =>
  isAwayFavourite ? (['away', 'home'] as const) : (['home', 'away'] as const)

/** Nicknames of professional teams and players, schools in football, both in basketball. */
function labelOf(game: SimGame, team: SimTeam): string {
  if (game.sport === 'cfb') return team.location
  return game.sport === 'cbb' ? team.name : team.nickname
}

function lineDraft(line: Line, result: GameResult, questionKey: string) {
  return {
    payout: payoutOf(line.isYes, result.isVoid),
    chance: line.chance,
    questionKey,
    // All markets of one kind share the noise key, so that their prices move together.
    moverKey: questionKey.replace(/\d+$/, ''),
    weight: 0.6,
  }
}

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
