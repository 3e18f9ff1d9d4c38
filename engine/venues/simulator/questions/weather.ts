// Questions on the weather: the highest and lowest temperature of a city's day, in buckets, and rain.
// Known cities first, then invented ones. Upholds SIMCAL4 and SIMCAL5.

import { hash32 } from '../../../random.ts'
import { DAY_MS } from '../../../units.ts'
import { numberOf, rangeAnswers, singleAnswer, strikesAround, underRules } from './answers.ts'
import {
  type EasternTime,
  easternMs,
  easternTime,
  longDate,
  shortDate,
  stampDay,
} from './eastern.ts'
import { gridSize } from './grid-size.ts'
import { capitals, place } from './names.ts'
import { pathAt, type Wave } from './path.ts'
import type { Asked, Family, View } from './question.ts'
import { everyDays } from './schedule.ts'
import { variantOf } from './variants.ts'

interface City {
  readonly name: string
  /** Kalshi's: NY, CHI. */
  readonly code: string
  readonly station: string
  /** Hours behind Eastern; negative is ahead. */
  readonly hoursBehind: number
  /** The year's mean of daily highs, °F, and half the swing of the seasons. */
  readonly mean: number
  readonly swing: number
}

const WAVES: readonly Wave[] = [
  { amplitude: 7, scaleMs: 6 * DAY_MS },
  { amplitude: 5, scaleMs: 1.5 * DAY_MS },
]

/** "Highest temperature in NYC on Nov 20?", each day, to the city's midnight. */
export const TEMPERATURE: Family = {
  name: 'temperature',
  topic: 'weather',
  share: 0.1,
  variant(ordinal, size) {
    const city = cityOf(Math.floor(ordinal / 2))
    const isHigh = ordinal % 2 === 0
    const count = gridSize(size, { least: 4, most: 6 })
    return variantOf({
      key: `${isHigh ? 'high' : 'low'}/${city.code}`,
      // 11:55 pm in the city, which in New York is another hour, some minutes apart by city.
      schedule: everyDays({
        days: 1,
        dayPhase: 0,
        minuteOfDay: 23 * 60 + 55 + city.hoursBehind * 60 - numberOf(9, city.name, 'minute') * 5,
      }),
      lifeMs: 3 * DAY_MS,
      count,
      traps: ['other_rules', 'other_threshold', 'other_date'],
      interest: 0.8,
      ask: (view) => askTemperature(view, city, isHigh, count),
    })
  },
}

/** "Will it rain in NYC on Nov 20?" */
export const RAIN: Family = {
  name: 'rain',
  topic: 'weather',
  share: 0.01,
  variant(ordinal) {
    const city = cityOf(ordinal)
    return variantOf({
      key: `rain/${city.code}`,
      schedule: everyDays({
        days: 1,
        dayPhase: 0,
        minuteOfDay: 23 * 60 + 50 + city.hoursBehind * 60 - numberOf(9, city.name, 'rain') * 5,
      }),
      lifeMs: 2 * DAY_MS,
      count: 1,
      traps: ['other_rules', 'other_date', 'opposite_side'],
      interest: 0.5,
      ask: (view) => askRain(view, city),
    })
  },
}

function askTemperature(view: View, city: City, isHigh: boolean, count: number): Asked {
  const isA = view.venue === 'a'
  const at = dayAskedAbout(view)
  const guess = temperatureAt(view, city, isHigh, view.plainCloseMs, 1.5)
  const result = underRules(view, temperatureAt(view, city, isHigh, view.closeMs, 0), 1.4)
  const edges = strikesAround(view, { guess, step: 2, count: count - 1, shift: 1 })
  const extreme = isHigh ? 'highest' : 'lowest'
  const Extreme = isHigh ? 'Highest' : 'Lowest'
  const series = `KX${isHigh ? 'HIGH' : 'LOWT'}${city.code}`
  return {
    form: 'range',
    answers: rangeAnswers(edges, 1, { guess, spread: 3, result }),
    format: (value) => (isA ? `${value}°F` : `${value}°`),
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? `${capitals(city.name).toLowerCase()}-daily-weather` : series,
      seriesTitle: isA ? `${city.name} Daily Weather` : `${Extreme} temperature in ${city.name}`,
      stamp: stampDay(at),
      title: isA
        ? `${Extreme} temperature in ${city.name} on ${longDate(at)}?`
        : `${Extreme} temperature in ${city.name} on ${shortDate(at)}?`,
      subtitle: isA ? '' : `On ${shortDate(at)}`,
      category: isA ? 'Weather' : 'Climate and Weather',
      tags: isA ? ['Weather', 'Daily Temperature', city.name] : ['Daily temperature'],
      question: (phrase) =>
        isA
          ? `Will the ${extreme} temperature in ${city.name} be ${phrase} on ${longDate(at)}?`
          : `Will the ${extreme} temperature in ${city.name} be ${phrase} on ${shortDate(at)}?`,
      clause: (phrase) =>
        isA
          ? `the ${extreme} temperature recorded at the ${city.station} is ${phrase} on ${longDate(at)}`
          : `the ${isHigh ? 'maximum' : 'minimum'} temperature recorded in ${city.name} for ` +
            `${shortDate(at)}, is ${phrase} according to the National Weather Service's ` +
            'Climatological Report (Daily)',
      remarks: isA
        ? `The resolution source for this market will be information from Wunderground for the ` +
          `${city.station}, to whole degrees Fahrenheit. This market can not resolve to "Yes" until ` +
          'all data for this date has been finalized.'
        : view.trap === 'other_rules'
          ? `The value is taken at the harbor station of ${city.name}, not at the airport, and hourly ` +
            'readings count, not the daily summary.'
          : 'Not all weather data is the same. While checking a source like AccuWeather or Google ' +
            'Weather may help guide your decision, the official and final value used to determine ' +
            'this market is the value as reported by the NWS.',
    },
  }
}

function askRain(view: View, city: City): Asked {
  const isA = view.venue === 'a'
  const at = dayAskedAbout(view)
  const name = { code: '', label: view.trap === 'opposite_side' ? 'No rain' : 'Rain' }
  // Rain is not cumulative: another day is another draw.
  const draw = view.trap === 'other_date' ? { ...view, key: view.resultKey } : view
  return {
    form: 'single',
    answers: [singleAnswer(draw, name, 'rain')],
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? 'daily-rain' : `KXRAIN${city.code}`,
      seriesTitle: isA ? 'Daily Rain' : `Rain in ${city.name}`,
      stamp: stampDay(at),
      title: `${city.name} rain on ${shortDate(at)}?`,
      subtitle: isA ? '' : `On ${shortDate(at)}`,
      category: isA ? 'Weather' : 'Climate and Weather',
      tags: isA ? ['Weather', city.name] : ['Snow and rain'],
      question: () =>
        isA
          ? `Will it rain in ${city.name} on ${longDate(at)}?`
          : `Will it rain in ${city.name} on ${shortDate(at)}?`,
      clause: () =>
        `the measured precipitation in ${city.name} on ${longDate(at)} is above 0 inches`,
      negatedQuestion: () => `Will ${city.name} stay dry on ${shortDate(at)}?`,
      negatedClause: () => `no precipitation is measured in ${city.name} on ${longDate(at)}`,
      remarks: isA
        ? `The resolution source is Wunderground's daily observations at the ${city.station}. Trace ` +
          'amounts do not count.'
        : view.trap === 'other_rules'
          ? 'The outcome is determined by the NWS hourly observations. A trace (T) resolves to Yes.'
          : 'The outcome is determined by the NWS Climatological Report (Daily). A trace (T) ' +
            'resolves to No.',
    },
  }
}

/** The day on the city's clock: cycles count days, whatever New York's clock shows at the close. */
function dayAskedAbout(view: View): EasternTime {
  const dayNumber = view.cycle + (view.trap === 'other_date' ? 1 : 0)
  return easternTime(easternMs({ dayNumber, minuteOfDay: 12 * 60 }))
}

/** Season and weather; the forecast errs by `errorDegrees` at most. */
function temperatureAt(
  view: View,
  city: City,
  isHigh: boolean,
  atMs: number,
  errorDegrees: number,
): number {
  const yearPart = ((atMs / DAY_MS) % 365.25) / 365.25
  const season = -Math.cos(2 * Math.PI * (yearPart - 0.055)) * city.swing
  const weather = pathAt(hash32(view.seed, 'weather', city.name), WAVES, atMs)
  const error = errorDegrees * (numberOf(2001, view.key, 'forecast') / 1000 - 1)
  return city.mean + season + weather + error - (isHigh ? 0 : 15)
}

const KNOWN_CITIES = (
  'NYC NY 0 62 22,Chicago CHI 1 59 25,Miami MIA 0 84 6,Austin AUS 1 80 17,Denver DEN 2 65 21,' +
  'Philadelphia PHIL 0 65 22,Los_Angeles LAX 3 75 8,Houston HOU 1 80 14,Atlanta ATL 0 72 17,' +
  'Seattle SEA 3 61 14,San_Francisco SFO 3 66 6,Dallas DAL 1 77 19,Boston BOS 0 59 22,' +
  'Phoenix PHX 2 87 19,Las_Vegas LV 3 80 20,Minneapolis MIN 1 55 30,New_Orleans NOLA 1 79 13,' +
  'Washington_DC DC 0 67 21,London LDN -5 60 12,Toronto TOR 0 55 23,Seoul SEL -14 63 24,' +
  'Paris PAR -6 61 15,Tokyo TYO -14 68 16,Buenos_Aires BUE -2 74 -12,Wellington WLG -18 61 -7'
)
  .split(',')
  .map((row) => row.split(' '))

function cityOf(rank: number): City {
  const known = KNOWN_CITIES[rank]
  if (known !== undefined) {
    const [word = '', code = '', hours = '0', mean = '60', swing = '20'] = known
    const name = word.replaceAll('_', ' ')
    return {
      name,
      code,
      station: `${name} International Airport Station`,
      hoursBehind: Number(hours),
      mean: Number(mean),
      swing: Number(swing),
    }
  }
  const name = place(rank - KNOWN_CITIES.length)
  return {
    name,
    code: capitals(name),
    station: `${name} Regional Airport Station`,
    hoursBehind: numberOf(24, name, 'zone') - 12,
    mean: 50 + numberOf(35, name, 'mean'),
    swing: 5 + numberOf(22, name, 'swing'),
  }
}
