// Subjects of questions: coins, cities, figures, banks, offices, deeds, charts, tours, as rows of lists.json. Coins and
// cities beyond the listed ones are generated.

import { readFileSync } from 'node:fs'
import { numberOf, roundTo } from './answer-chances.ts'
import { capitals, coinName, townName } from './names.ts'

/** The lists in the file: rows of `name|code|…`, or plain names. */
interface Lists {
  readonly coins: readonly string[]
  readonly cities: readonly string[]
  readonly countries: readonly string[]
  readonly monthlyFigures: readonly string[]
  readonly weeklyFigures: readonly string[]
  readonly banks: readonly string[]
  readonly offices: readonly string[]
  readonly deeds: readonly string[]
  readonly releases: readonly string[]
  readonly terms: readonly string[]
  readonly charts: readonly string[]
  readonly chartMarkets: readonly string[]
  readonly tours: readonly string[]
  readonly placings: readonly string[]
  readonly cups: readonly string[]
  readonly leagues: readonly string[]
  readonly teams: Readonly<
    Record<
      'nfl' | 'nba' | 'mlb' | 'nhl' | 'colleges' | 'football' | 'basketball',
      readonly string[]
    >
  >
  readonly players: Readonly<Record<'atp' | 'wta' | 'pga', readonly string[]>>
}

export const LISTS: Lists = JSON.parse(
  readFileSync(new URL('./lists.json', import.meta.url), 'utf8'),
)

interface Named {
  readonly name: string
  readonly code: string
}

const named = (row: string): Named => {
  const [name = '', code = ''] = row.split('|')
  return { name, code }
}

/** A coin and its usual price in dollars. */
export interface Coin extends Named {
  readonly basePrice: number
}

export interface City extends Named {
  readonly station: string
  /** Hours behind Eastern; negative is ahead. */
  readonly hoursBehind: number
  /** Annual mean of daily highs, °F, and half of the seasonal swing. */
  readonly mean: number
  readonly swing: number
}

/** An economic figure. */
export interface Figure {
  /** "annual inflation". */
  readonly name: string
  /** Kalshi's title of the figure: "Inflation". */
  readonly title: string
  readonly code: string
  readonly tag: string
  readonly base: number
  readonly step: number
  readonly unit: number
  readonly suffix: string
  readonly source: string
}

/** An action that a person does or does not do by a date. */
export interface Deed {
  readonly slug: string
  readonly code: string
  readonly verb: string
  readonly past: string
  readonly noun: string
  readonly tag: string
}

/** The coin of a rank; generated beyond the listed ones. */
export function coinOf(rank: number): Coin {
  const listed = LISTS.coins[rank]
  if (listed !== undefined) {
    const [name = '', code = '', price = '1'] = listed.split('|')
    return { name, code, basePrice: Number(price) }
  }
  const { name, code } = coinName(rank - LISTS.coins.length)
  return { name, code, basePrice: 10 ** (numberOf(50, name, 'price') / 10 - 1.5) }
}

/** The city of a rank; generated beyond the listed ones. */
export function cityOf(rank: number): City {
  const listed = LISTS.cities[rank]
  if (listed !== undefined) {
    const [name = '', code = '', hours = '0', mean = '60', swing = '20'] = listed.split('|')
    const weather = { hoursBehind: Number(hours), mean: Number(mean), swing: Number(swing) }
    return { name, code, station: `${name} International Airport Station`, ...weather }
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

const figureRow = (row: string): Figure => {
  const [
    name = '',
    title = '',
    code = '',
    tag = '',
    base = '0',
    step = '1',
    suffix = '',
    source = '',
  ] = row.split('|')
  const unit = Number(step) >= 1 ? 1 : roundTo(Number(step) / 2, 0.001)
  return { name, title, code, tag, base: Number(base), step: Number(step), unit, suffix, source }
}

const deedRow = (row: string): Deed => {
  const [slug = '', code = '', verb = '', past = '', noun = '', tag = ''] = row.split('|')
  return { slug, code, verb, past, noun, tag }
}

export const COUNTRIES = LISTS.countries.map(named)
export const MONTHLY_FIGURES = LISTS.monthlyFigures.map(figureRow)
export const WEEKLY_FIGURES = LISTS.weeklyFigures.map(figureRow)
export const BANKS = LISTS.banks.map((row) => {
  return { ...named(row), short: row.split('|')[2] ?? '' }
})
export const OFFICES = LISTS.offices.map(named)
/** Deeds of politicians. */
export const DEEDS = LISTS.deeds.map(deedRow)
/** Deeds of artists. */
export const RELEASES = LISTS.releases.map(deedRow)
export const CHARTS = LISTS.charts.map(named)
export const CHART_MARKETS = LISTS.chartMarkets.map(named)
export const TOURS = LISTS.tours.map(named)
/** What a golfer may reach, and how many golfers do. */
export const PLACINGS = LISTS.placings.map((row) => {
  const [title = '', code = '', places = '1', deed = ''] = row.split('|')
  return { title, code, places: Number(places), deed }
})
