// Generates unlimited names of people, places, coins and works. Each is a pure function of the ordinal. No two ordinals
// give the same name.

export interface Person {
  readonly first: string
  readonly last: string
  readonly name: string
  /** Ticker code in capitals, as unique as the name. */
  readonly code: string
}

const FIRST = (
  'Alma Boris Clara Dario Edith Felix Greta Hugo Irene Jonas Karla Leo Mira Nils Olga Pavel Rosa ' +
  'Simon Tessa Uma Victor Wanda Xenia Yusuf Zelda Anton Bianca Cyrus Delia Elias Flora Gideon Helga ' +
  'Ivor Judith Kemal Lydia Marco Nadia Oscar Petra Quentin Rhea Stefan Thea Ulrich Vera Walter Yara'
).split(' ')
const LAST_HEADS = (
  'Hal Mar Bren Cald Dor Fen Gar Hol Ken Lin Mor Nor Pem Ros Sel Tal Ven Wal Yor Ash Birk Crom Dun ' +
  'Eller Far Grim Hart Iver Jar Kel Lang Mel Nev Orm Pres Rad Stan Thorn Und Whit'
).split(' ')
const LAST_TAILS =
  'ford ley mann berg ton wick sen dale gate shaw worth mont croft burn well ridge stad nik ova ez'.split(
    ' ',
  )

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

const TOWN_HEADS = (
  'Alder Bay Cedar Dry Elm Fair Glen Harbor Iron Jasper King Lake Maple North Oak Pine Quarry River ' +
  'Stone Timber Upper Vine West Amber Birch Clear Deer East Fox Grand Hazel Indigo'
).split(' ')
const TOWN_TAILS = (
  'ville brook field port haven mouth bridge crest point wood cliff view falls bury side stead ' +
  'burgh hollow grove market'
).split(' ')

/** The town of an ordinal: "Alderville", "Cedarhaven". */
export function townName(ordinal: number): string {
  const count = TOWN_HEADS.length * TOWN_TAILS.length
  const at = (ordinal * 61) % count
  const round = Math.floor(ordinal / count)
  const town = `${pickAt(TOWN_HEADS, at)}${pickAt(TOWN_TAILS, Math.floor(at / TOWN_HEADS.length))}`
  return round === 0 ? town : `${town} ${roman(round + 1)}`
}

const COIN_HEADS = 'Aro Bex Cyr Dax Evo Fyn Gal Hex Ivo Jup Kor Lum Nex Oro Pyx Qua Rux Sol Tor Vex'
const COIN_TAILS = 'net fi chain coin swap dex'

/** A generated coin and its code. */
export function coinName(ordinal: number): { name: string; code: string } {
  const heads = COIN_HEADS.split(' ')
  const tails = COIN_TAILS.split(' ')
  const count = heads.length * tails.length
  const head = pickAt(heads, ordinal)
  const tail = pickAt(tails, Math.floor(ordinal / heads.length))
  const round = Math.floor(ordinal / count)
  const name = `${head}${tail}${round === 0 ? '' : round + 1}`
  return { name, code: name.toUpperCase() }
}

const TITLE_HEADS = (
  'Silent Golden Broken Midnight Electric Crimson Hollow Distant Velvet Burning Paper Frozen Wild ' +
  'Neon Quiet Scarlet Hidden Gentle Savage Lonely Crystal Restless Ivory Phantom Endless'
).split(' ')
const TITLE_TAILS = (
  'Harbor Garden Signal Orchard Machine Summer Kingdom Mirror Highway Letters Carnival Thunder ' +
  'Island Promise Empire Lantern Echo Voyage Winter Shadows Avenue Horizon Parade'
).split(' ')

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
