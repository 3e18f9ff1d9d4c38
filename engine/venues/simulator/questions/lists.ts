// Subjects of questions, and words for generated names, from lists.json.

import { readFileSync } from 'node:fs'
import type { SimSport } from '../model.ts'

interface Named {
  readonly name: string
  readonly code: string
}

/** `basePrice`: usual price in dollars. */
export interface Coin extends Named {
  readonly basePrice: number
}

interface ListedCity extends Named {
  /** Hours that the city is behind Eastern time. Negative: ahead. */
  readonly hoursBehind: number
  /** Annual mean of daily highs in °F, and half of the difference between the seasons. */
  readonly mean: number
  readonly swing: number
}

export interface City extends ListedCity {
  readonly station: string
}

/** An economic figure. `name` is "annual inflation", Kalshi's `title` is "Inflation". */
export interface Figure extends Named {
  readonly title: string
  readonly tag: string
  readonly base: number
  readonly step: number
  readonly suffix: string
  readonly source: string
}

export interface Deed {
  readonly slug: string
  readonly code: string
  readonly verb: string
  readonly past: string
  readonly noun: string
  readonly tag: string
}

export interface League {
  readonly sport: SimSport
  /** Venue a's slug. */
  readonly league: string
  readonly title: string
  /** Venue b's series of winners. Series of lines have SPREAD or TOTAL instead of GAME. */
  readonly series: string
  /** "professional football". Venue b's texts use the phrase instead of the league's name. */
  readonly phrase: string
  readonly competition: string
  readonly tag: string
  readonly points: string
  /** Usual total score, and spread of the final margin. */
  readonly total: number
  readonly margin: number
  readonly durationMinutes: number
}

type Rows<Row> = readonly Row[]

interface Lists {
  readonly coins: Rows<Coin>
  readonly cities: Rows<ListedCity>
  readonly countries: Rows<Named>
  readonly monthlyFigures: Rows<Figure>
  readonly weeklyFigures: Rows<Figure>
  readonly banks: Rows<Named & { readonly short: string }>
  readonly offices: Rows<Named>
  /** Names of politicians. */
  readonly deeds: Rows<Deed>
  /** Names of artists. */
  readonly releases: Rows<Deed>
  readonly terms: Rows<string>
  readonly charts: Rows<Named>
  readonly chartMarkets: Rows<Named>
  readonly tours: Rows<Named>
  /** A placing that golfers may reach, and the number of golfers who reach it. */
  readonly placings: Rows<Record<'title' | 'code' | 'deed', string> & { readonly places: number }>
  readonly cups: Rows<string>
  readonly leagues: Rows<League>
  readonly teams: Record<
    'nfl' | 'nba' | 'mlb' | 'nhl' | 'colleges' | 'football' | 'basketball',
    Rows<string>
  >
  readonly players: Record<'atp' | 'wta' | 'pga', Rows<string>>
  readonly words: Record<WordList, string>
}

type WordList =
  | 'firstNames'
  | `${'surname' | 'town' | 'coin' | 'title'}${'Heads' | 'Tails'}`
  | `player${'Onsets' | 'Vowels' | 'Codas' | 'Tails' | 'FirstNames'}`
  | 'walletManners'
  | 'walletThings'

export const LISTS: Lists = JSON.parse(
  readFileSync(new URL('./lists.json', import.meta.url), 'utf8'),
)

export const wordsOf = (list: WordList): readonly string[] => LISTS.words[list].split(' ')
