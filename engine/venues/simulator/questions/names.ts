// Generates unlimited names of people, places, coins and works from ordinals. Different ordinals give different names.

import { numberOf } from './answer-chances.ts'
import { type City, type Coin, LISTS, wordsOf } from './lists.ts'

export interface Person {
  readonly first: string
  readonly last: string
  readonly name: string
  /** Ticker code in capitals, as unique as the name. */
  readonly code: string
}

const FIRST = wordsOf('firstNames')

export function person(ordinal: number): Person {
  const { head, tail, round: cycle } = combination(SURNAMES, ordinal)
  const last = `${head}${tail}`
  const first = pickAt(FIRST, ordinal * 7 + cycle)
  const round = Math.floor(cycle / FIRST.length)
  const middle = round === 0 ? '' : ` ${roman(round)}`
  const name = `${first} ${last}${middle}`
  const code = `${last}${cycle === 0 ? '' : first}${round === 0 ? '' : roman(round)}`.toUpperCase()
  return { first, last, name, code }
}

/**
 * First and second parts of a kind of name. `stride` is coprime to the number of combinations, so that neighbouring
 * names differ.
 */
interface NameParts {
  readonly heads: readonly string[]
  readonly tails: readonly string[]
  readonly stride: number
}

const SURNAMES = { heads: wordsOf('surnameHeads'), tails: wordsOf('surnameTails'), stride: 373 }
const TOWNS = { heads: wordsOf('townHeads'), tails: wordsOf('townTails'), stride: 61 }
const COINS = { heads: wordsOf('coinHeads'), tails: wordsOf('coinTails'), stride: 1 }
const TITLES = { heads: wordsOf('titleHeads'), tails: wordsOf('titleTails'), stride: 101 }

/** `round`: how many times all combinations were used before this ordinal. */
function combination({ heads, tails, stride }: NameParts, ordinal: number) {
  const count = heads.length * tails.length
  const at = (ordinal * stride) % count
  const [head, tail] = [pickAt(heads, at), pickAt(tails, Math.floor(at / heads.length))]
  return { head, tail, round: Math.floor(ordinal / count) }
}

/** Examples: "Alderville", "Cedarhaven". */
export function townName(ordinal: number): string {
  const { head, tail, round } = combination(TOWNS, ordinal)
  return round === 0 ? `${head}${tail}` : `${head}${tail} ${roman(round + 1)}`
}

function coinName(ordinal: number): { name: string; code: string } {
  const { head, tail, round } = combination(COINS, ordinal)
  const name = `${head}${tail}${round === 0 ? '' : round + 1}`
  return { name, code: name.toUpperCase() }
}

/** Ranks beyond the list get generated coins. */
export function coinOf(rank: number): Coin {
  const listed = LISTS.coins[rank]
  if (listed !== undefined) return listed
  const { name, code } = coinName(rank - LISTS.coins.length)
  return { name, code, basePrice: 10 ** (numberOf(50, name, 'price') / 10 - 1.5) }
}

/** Ranks beyond the list get generated cities. */
export function cityOf(rank: number): City {
  const listed = LISTS.cities[rank]
  if (listed !== undefined) {
    return { ...listed, station: `${listed.name} International Airport Station` }
  }
  const name = townName(rank - LISTS.cities.length)
  return {
    name,
    code: capitals(name),
    station: `${name} Regional Airport Station`,
    hoursBehind: numberOf(24, name, 'zone') - 12,
    mean: 50 + numberOf(35, name, 'mean'),
    swing: 5 + numberOf(22, name, 'swing'),
  }
}

/** A film, song or show: "Silent Harbor". */
export function workTitle(ordinal: number): string {
  const { head, tail, round } = combination(TITLES, ordinal)
  return round === 0 ? `${head} ${tail}` : `${head} ${tail} of ${townName(round)}`
}

/** The letters and digits of a name in capitals, for a ticker. The result is unique if the name is. */
export const capitals = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9]/g, '')

export function pickAt<T>(items: readonly T[], position: number): T {
  const item = items[((position % items.length) + items.length) % items.length]
  if (item === undefined) throw new RangeError('pickAt needs at least one item')
  return item
}

function roman(value: number): string {
  const digits: readonly [number, string][] = [
    [100, 'C'],
    [90, 'XC'],
    [50, 'L'],
    [40, 'XL'],
    [10, 'X'],
    [9, 'IX'],
    [5, 'V'],
    [4, 'IV'],
    [1, 'I'],
  ]
  let rest = value
  let text = ''
  for (const [worth, digit] of digits) {
    while (rest >= worth) {
      text += digit
      rest -= worth
    }
  }
  return text
}
