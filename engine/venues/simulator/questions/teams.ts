// Teams and players from lists.json, with names and codes of 2025–26. Some codes differ between the venues (jax and
// JAC, ari and AZ, mon and MTL). More players are generated.

import type { SimTeam } from '../model.ts'
import { LISTS, wordsOf } from './lists.ts'

export function allTeams(): readonly { league: string; team: SimTeam }[] {
  return LEAGUES.flatMap(({ league }) => teamsOf(league).map((team) => ({ league, team })))
}

export const { leagues: LEAGUES } = LISTS

export function teamsOf(league: string): readonly SimTeam[] {
  return TEAMS[league] ?? []
}

/** The location in venue b's format. A letter distinguishes teams of one city: "Los Angeles R". */
export function kalshiLocation(league: string, team: SimTeam): string {
  if (league === 'atp' || league === 'wta') return team.nickname
  const isShared = teamsOf(league).some(
    (other) => other.location === team.location && other.nickname !== team.nickname,
  )
  if (!isShared) return team.location
  const letters = team.nickname
    .split(' ')
    .map((word) => word.charAt(0))
    .join('')
  return `${team.location} ${letters}`
}

/** Parses rows such as "cin CIN Cincinnati/Bengals". A single code is that of both venues. */
function proTeams(rows: readonly string[]): readonly SimTeam[] {
  return rows.map((row) => {
    const [codes = '', names = ''] = [
      row.slice(0, row.indexOf(' ')),
      row.slice(row.indexOf(' ') + 1),
    ]
    const [polymarketCode = '', kalshiCode = polymarketCode] = codes.split(':')
    const [location = '', nickname = location] = names.split('/')
    const name = location === "A's" ? nickname : `${location} ${nickname}`
    return { name, location, nickname, polymarketCode, kalshiCode: kalshiCode.toUpperCase() }
  })
}

const ONSETS = wordsOf('playerOnsets')
const VOWELS = wordsOf('playerVowels')
const CODAS = wordsOf('playerCodas')
const TAILS = wordsOf('playerTails')
const GIVEN = wordsOf('playerFirstNames')

/** Generates players until there are `count`. Their codes are unique at each venue. */
function players(
  listed: readonly string[],
  count: number,
  codeLetters: (name: string) => string,
): SimTeam[] {
  const rows: SimTeam[] = []
  const codes = new Set<string>()
  const add = (name: string): void => {
    const nickname = name.slice(name.indexOf(' ') + 1)
    const plain = nickname.toLowerCase().replace(/[^a-z]/g, '')
    const kalshiCode = codeLetters(name)
    const polymarketCode = plain.slice(0, 7)
    if (codes.has(kalshiCode) || codes.has(polymarketCode)) return
    codes.add(kalshiCode).add(polymarketCode)
    rows.push({ name, location: name, nickname, polymarketCode, kalshiCode })
  }
  listed.forEach(add)
  const all = ONSETS.length * VOWELS.length * CODAS.length
  for (let ordinal = 0; ordinal < all * TAILS.length && rows.length < count; ordinal += 1) {
    const at = (ordinal * 377) % all
    const onset = ONSETS[at % ONSETS.length] ?? ''
    const vowel = VOWELS[Math.floor(at / ONSETS.length) % VOWELS.length] ?? ''
    const coda = CODAS[Math.floor(at / (ONSETS.length * VOWELS.length))] ?? ''
    const tail = TAILS[(ordinal + Math.floor(ordinal / all)) % TAILS.length] ?? ''
    add(`${GIVEN[ordinal % GIVEN.length] ?? 'Ada'} ${onset}${vowel}${coda}${tail}`)
  }
  return rows
}

const surnameLetters = (name: string): string =>
  name
    .slice(name.indexOf(' ') + 1)
    .toUpperCase()
    .replace(/[^A-Z]/g, '')
    .slice(0, 3)

/** In golf, a code has the first letter of the first name and three letters of the last name: ADUM, BBRO. */
const initialAndSurname = (name: string): string =>
  name.charAt(0).toUpperCase() + surnameLetters(name)

const { nfl, nba, mlb, nhl, colleges, football, basketball } = LISTS.teams

const TEAMS: Readonly<Record<string, readonly SimTeam[]>> = {
  nfl: proTeams(nfl),
  nba: proTeams(nba),
  mlb: proTeams(mlb),
  nhl: proTeams(nhl),
  cfb: proTeams([...colleges, ...football]),
  cbb: proTeams([...colleges, ...basketball]),
  atp: players(LISTS.players.atp, 700, surnameLetters),
  wta: players(LISTS.players.wta, 700, surnameLetters),
  pga: players(LISTS.players.pga, 160, initialAndSurname),
}
