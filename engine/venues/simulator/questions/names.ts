// Generates unlimited names of people, places, coins and works, each from its ordinal. No two ordinals give the same name.

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
const LAST_HEADS = wordsOf('surnameHeads')
const LAST_TAILS = wordsOf('surnameTails')

export function person(ordinal: number): Person {
  const lastCount = LAST_HEADS.length * LAST_TAILS.length
  // A stride coprime to the count varies first and last names among neighbours.
  const last = surname((ordinal * 373) % lastCount)
  const cycle = Math.floor(ordinal / lastCount)
  const first = pickAt(FIRST, ordinal * 7 + cycle)
  const round = Math.floor(cycle / FIRST.length)
  const middle = round === 0 ? '' : ` ${roman(round)}`
  const name = `${first} ${last}${middle}`
  const code = `${last}${cycle === 0 ? '' : first}${round === 0 ? '' : roman(round)}`.toUpperCase()
  return { first, last, name, code }
}

const TOWN_HEADS = wordsOf('townHeads')
const TOWN_TAILS = wordsOf('townTails')

/** The town of an ordinal: "Alderville", "Cedarhaven". */
export function townName(ordinal: number): string {
  const count = TOWN_HEADS.length * TOWN_TAILS.length
  const at = (ordinal * 61) % count
  const round = Math.floor(ordinal / count)
  const town = `${pickAt(TOWN_HEADS, at)}${pickAt(TOWN_TAILS, Math.floor(at / TOWN_HEADS.length))}`
  return round === 0 ? town : `${town} ${roman(round + 1)}`
}

const COIN_HEADS = wordsOf('coinHeads')
const COIN_TAILS = wordsOf('coinTails')

function coinName(ordinal: number): { name: string; code: string } {
  const count = COIN_HEADS.length * COIN_TAILS.length
  const head = pickAt(COIN_HEADS, ordinal)
  const tail = pickAt(COIN_TAILS, Math.floor(ordinal / COIN_HEADS.length))
  const round = Math.floor(ordinal / count)
  const name = `${head}${tail}${round === 0 ? '' : round + 1}`
  return { name, code: name.toUpperCase() }
}

/** The coin of a rank; generated beyond the listed ones. */
export function coinOf(rank: number): Coin {
  const listed = LISTS.coins[rank]
  if (listed !== undefined) return listed
  const { name, code } = coinName(rank - LISTS.coins.length)
  return { name, code, basePrice: 10 ** (numberOf(50, name, 'price') / 10 - 1.5) }
}

/** The city of a rank; generated beyond the listed ones. */
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

const TITLE_HEADS = wordsOf('titleHeads')
const TITLE_TAILS = wordsOf('titleTails')

/** A film, song or show of an ordinal: "Silent Harbor". */
export function workTitle(ordinal: number): string {
  const count = TITLE_HEADS.length * TITLE_TAILS.length
  const at = (ordinal * 101) % count
  const round = Math.floor(ordinal / count)
  const title = `${pickAt(TITLE_HEADS, at)} ${pickAt(TITLE_TAILS, Math.floor(at / TITLE_HEADS.length))}`
  return round === 0 ? title : `${title} of ${townName(round)}`
}

/** The letters and digits of a name in capitals, for a ticker. Unique if the name is. */
export const capitals = (name: string): string => name.toUpperCase().replace(/[^A-Z0-9]/g, '')

/** The item at a position modulo the length. */
export function pickAt<T>(items: readonly T[], position: number): T {
  const item = items[((position % items.length) + items.length) % items.length]
  if (item === undefined) throw new RangeError('pickAt needs at least one item')
  return item
}

function surname(at: number): string {
  const head = pickAt(LAST_HEADS, at)
  return `${head}${pickAt(LAST_TAILS, Math.floor(at / LAST_HEADS.length))}`
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
