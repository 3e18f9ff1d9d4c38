// Vetoes of games: sport, sides, day, bet, part of the game, line, side. Each function checks one conflict.

import { classifyGames, compareGames, type GameComparison } from '../compare/game-comparison.ts'
import { type UnstatedPart, unstatedOfGames } from '../compare/unstated.ts'
import type { Game } from '../understand/game.ts'
import type { Proposition } from '../understand/proposition.ts'
import { capOf, counted, type Veto, veto } from './vetoes.ts'

/** Result of a comparison of two games. `isFull`: both state every part, and all parts agree. */
export interface GameFinding {
  readonly vetoes: readonly Veto[]
  readonly unstated: readonly UnstatedPart[]
  readonly comparison: GameComparison
  readonly isFull: boolean
}

/**
 * Compares the games of two markets or two events. Null if one is not about a game. Sides are not compared for events.
 * The bets of an event's markets are compared only if no other conflict caps the score below `from`.
 */
export function evaluateGames(a: Proposition, b: Proposition, from = 0): GameFinding | null {
  if (a.game === null || b.game === null) return null
  const comparison = compareGames(a.game, b.game)
  const vetoes = gameVetoes(comparison)
  if (a.grain === 'event') {
    if (capOf(vetoes) >= from) vetoes.push(...bundleVetoes(comparison, a, b))
  } else {
    vetoes.push(...betVetoes(comparison, a.game, b.game))
    if (vetoes.length === 0) vetoes.push(...sideVetoes(comparison))
    // A family override may remove some conflicts, but not the one that Yes of one is No of the other.
    else if (isOppositeBet(comparison)) vetoes.push(veto('opposite_side'))
  }
  // If only the sides are opposite, the question is the same and this veto alone rejects the pair.
  const unstated = unstatedOfGames(a, b, comparison)
  const isPlain = vetoes.every(({ reason }) => reason === 'opposite_side')
  const isFull = isPlain && unstated.length === 0 && classifyGames(comparison) === 'same'
  return { vetoes, unstated, comparison, isFull }
}

function gameVetoes(found: GameComparison): Veto[] {
  const vetoes: Veto[] = []
  if (found.isOtherCompetition) vetoes.push(veto('other_sport'))
  if (classifyGames(found) === 'other') vetoes.push(veto('other_game'))
  if (found.dayGap !== null && found.dayGap > found.nearDays) {
    vetoes.push(veto('other_date', `${counted(found.dayGap, 'day')} apart`))
  } else if (found.startGapHours !== null && found.startGapHours > found.nearHours) {
    const reason = found.dayGap === 0 ? 'other_game' : 'other_date'
    vetoes.push(veto(reason, `starts ${counted(Math.round(found.startGapHours), 'hour')} apart`))
  }
  return vetoes
}

function betVetoes(found: GameComparison, a: Game, b: Game): readonly Veto[] {
  const vetoes: Veto[] = []
  if (!found.isSameBet) vetoes.push(veto('other_bet', `${a.bet.kind} against ${b.bet.kind}`))
  if (!found.isSamePeriod)
    vetoes.push(veto('other_period', `${a.bet.period} against ${b.bet.period}`))
  if (found.isSameBet && found.line === 'other')
    vetoes.push(veto('other_line', `${a.line} against ${b.line}`))
  if (found.isSameBet && !found.isSameDetail)
    vetoes.push(veto('other_player', `${a.detail} against ${b.detail}`))
  return vetoes
}

/** Unknown sides cause no veto (see unstated.ts). */
function sideVetoes({ side }: GameComparison): readonly Veto[] {
  if (side === 'opposite') return [veto('opposite_side')]
  return side === 'other' ? [veto('other_side')] : []
}

const isOppositeBet = (found: GameComparison): boolean =>
  found.side === 'opposite' && found.isSameBet && classifyGames(found) !== 'other'

const SAME_BET = (a: Game, b: Game): boolean =>
  a.bet.kind === b.bet.kind && a.bet.period === b.bet.period && a.bet.counted === b.bet.counted

function bundleVetoes(found: GameComparison, a: Proposition, b: Proposition): readonly Veto[] {
  const [one, other] = [a.game, b.game]
  if (one === null || other === null) return []
  const inside = a.children().filter(({ game }) => game !== null && SAME_BET(game, other)).length
  const isMain = found.isSameBet && found.isSamePeriod
  if (!isMain) {
    if (inside > 0 || one.bet.kind === 'more')
      return [veto('containment', 'an event of several bets', 'superset')]
    return found.isSameBet
      ? [veto('other_period', `${one.bet.period} against ${other.bet.period}`)]
      : [veto('other_bet', `${one.bet.kind} against ${other.bet.kind}`)]
  }
  // A match of several maps lists each map besides the winner. In leagues, spreads and totals are part of the game.
  const isOfMaps = a
    .children()
    .some(({ game }) => game !== null && /^(?:map|set)\d/.test(game.bet.period))
  return isOfMaps && other.bet.period === 'game'
    ? [veto('containment', 'an event of several bets', 'superset')]
    : []
}
