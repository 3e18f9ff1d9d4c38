// All kinds of questions: their subjects, closing times and answers. A world is filled in this order. The last kind
// fills the remainder.

import { hash32 } from '../../../random.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../../units.ts'
import {
  aboveAnswers,
  choiceAnswers,
  listAnswers,
  numberOf,
  rangeAnswers,
  singleAnswer,
  strikesAround,
  underRules,
} from './answer-chances.ts'
import {
  coinMeasured,
  decisions,
  dollars,
  drawBoxOffice,
  drawDeed,
  drawFigure,
  drawScore,
  drawUpOrDown,
  fieldAnswers,
  niceStep,
  questionDay,
  redrawn,
  temperatureAt,
  tournamentCode,
  uniqueCodes,
  workOf,
} from './draws.ts'
import { easternTime, longDate, monthName, shortDate, stampDay, stampMonth } from './eastern.ts'
import { GAMES } from './games.ts'
import { familyOf, type Kind, type Values } from './kinds.ts'
import { type City, type Coin, type Deed, type Figure, LISTS } from './lists.ts'
import {
  capitals,
  cityOf,
  coinOf,
  type Person,
  person,
  pickAt,
  townName,
  workTitle,
} from './names.ts'
import { pathAt, type Wave } from './path.ts'
import { type Family, isLarge } from './question.ts'
import { everyDays, everyMonths, everyPeriod } from './schedule.ts'

const APPROVAL_WAVES: readonly Wave[] = [
  { amplitude: 5, scaleMs: 150 * DAY_MS },
  { amplitude: 0.8, scaleMs: 8 * DAY_MS },
]

const daily = (minuteOfDay: number) => everyDays({ days: 1, dayPhase: 0, minuteOfDay })

const coinValues = ({ name, code }: Coin): Values => ({ coin: name, code })

const COIN_KINDS: readonly Kind[] = [
  {
    name: 'up or down',
    questionAt(ordinal) {
      const coin = coinOf(Math.floor(ordinal / 3))
      // Each coin has three variants, twenty minutes apart. Other coins use the minutes in between.
      const minute = ((ordinal % 3) * 20 + (Math.floor(ordinal / 3) % 4) * 5) % 60
      return {
        key: `updown/${coin.code}/${minute}`,
        schedule: everyPeriod(HOUR_MS, minute * MINUTE_MS),
        otherDateMs: 10 * MINUTE_MS,
        interest: 2,
        values: coinValues(coin),
        draw: (view) => drawUpOrDown(view, coin),
      }
    },
  },
  {
    name: 'coin range',
    questionAt(ordinal) {
      const coin = coinOf(ordinal)
      return {
        key: `range/${coin.code}`,
        schedule: daily(17 * 60),
        interest: 1,
        grid: { least: 4, most: 9 },
        values: coinValues(coin),
        draw(view, count) {
          const value = coinMeasured(view, coin)
          const step = niceStep(value.guess * 0.02)
          const unit = step >= 10 ? 0.01 : step / 1000
          const grid = { guess: value.guess, step, count: count - 1, shift: step / 2 }
          const answers = rangeAnswers(strikesAround(view, grid), unit, value)
          return { form: 'range', answers, format: dollars, unit }
        },
      }
    },
  },
  {
    name: 'coin above',
    questionAt(ordinal, size) {
      const coin = coinOf(Math.floor(ordinal / 6))
      const hour = [16, 12, 9, 20, 14, 18][ordinal % 6] ?? 16
      return {
        key: `above/${coin.code}/${hour}`,
        schedule: daily(hour * 60),
        otherDateMs: HOUR_MS,
        interest: 2,
        grid: size.marketsPerVenue < 100 ? { least: 1, most: 1 } : { least: 3, most: 11 },
        values: coinValues(coin),
        draw(view, count) {
          const value = coinMeasured(view, coin)
          const step = niceStep(value.guess * 0.008)
          const grid = { guess: value.guess, step, count, shift: step / 2 }
          const answers = aboveAnswers(view, strikesAround(view, grid), value)
          const unit = step >= 1 ? 0.01 : step / 100
          return { form: 'above', answers, format: dollars, unit, isInclusive: true }
        },
      }
    },
  },
]

const cityValues = ({ name, code, station }: City): Values => {
  return { city: name, cityCode: code, station }
}

const WEATHER_KINDS: readonly Kind[] = [
  {
    name: 'temperature',
    questionAt(ordinal) {
      const city = cityOf(Math.floor(ordinal / 2))
      const isHigh = ordinal % 2 === 0
      const [extreme, Extreme, extremum, extremeCode] = isHigh
        ? (['highest', 'Highest', 'maximum', 'HIGH'] as const)
        : (['lowest', 'Lowest', 'minimum', 'LOWT'] as const)
      // 11:55 pm in the city, as a time in New York. The minute differs slightly between cities.
      const minute = 23 * 60 + 55 + city.hoursBehind * 60 - numberOf(9, city.name, 'minute') * 5
      return {
        key: `${isHigh ? 'high' : 'low'}/${city.code}`,
        schedule: daily(minute),
        interest: 0.8,
        grid: { least: 4, most: 6 },
        values: { ...cityValues(city), extreme, Extreme, extremum, extremeCode },
        draw(view, count) {
          const guess = temperatureAt(view, city, isHigh, view.plainCloseMs, 1.5)
          const result = underRules(view, temperatureAt(view, city, isHigh, view.closeMs, 0), 1.4)
          const edges = strikesAround(view, { guess, step: 2, count: count - 1, shift: 1 })
          const degrees = view.venue === 'a' ? '°F' : '°'
          return {
            form: 'range',
            answers: rangeAnswers(edges, 1, { guess, spread: 3, result }),
            format: (value) => `${value}${degrees}`,
            at: questionDay(view),
          }
        },
      }
    },
  },
  {
    name: 'rain',
    questionAt(ordinal) {
      const city = cityOf(ordinal)
      const minute = 23 * 60 + 50 + city.hoursBehind * 60 - numberOf(9, city.name, 'rain') * 5
      return {
        key: `rain/${city.code}`,
        schedule: daily(minute),
        interest: 0.5,
        values: cityValues(city),
        draw(view) {
          const label = view.trap === 'opposite_side' ? 'No rain' : 'Rain'
          const answer = singleAnswer(redrawn(view), { code: '', label }, 'rain')
          return { form: 'single', answers: [answer], at: questionDay(view) }
        },
      }
    },
  },
]

const ECONOMY_KINDS: readonly Kind[] = [
  {
    name: 'rate decision',
    questionAt(ordinal) {
      const bank = LISTS.banks[ordinal]
      if (bank === undefined) return null
      const day = 8 + numberOf(20, bank.name, 'day')
      const minuteOfDay = 14 * 60 - (ordinal % 7) * 55
      return {
        key: `rate/${bank.code}`,
        schedule: everyMonths({ months: 2, monthPhase: ordinal % 2, day, minuteOfDay }),
        interest: ordinal === 0 ? 6 : 0.8,
        grid: { least: 4, most: 4 },
        values: { bank: bank.name, code: bank.code, short: bank.short },
        draw: (view) => ({ form: 'choice', answers: choiceAnswers(view, decisions(view, bank)) }),
      }
    },
  },
  {
    name: 'monthly figure',
    questionAt(ordinal) {
      // The first ordinals are the figures of the first country, the next ones those of the second, and so on.
      const country = LISTS.countries[Math.floor(ordinal / LISTS.monthlyFigures.length)]
      if (country === undefined) return null
      const figure = pickAt(LISTS.monthlyFigures, ordinal)
      const { name, code } = country
      const day = 3 + numberOf(22, name, figure.code, 'day')
      const minuteOfDay = 8 * 60 + 25 + numberOf(90, name, figure.code, 'minute')
      return {
        key: `figure/${code}${figure.code}`,
        schedule: everyMonths({ months: 1, monthPhase: 0, day, minuteOfDay }),
        interest: ordinal < LISTS.monthlyFigures.length ? 1.2 : 0.4,
        grid: { least: 3, most: 7 },
        values: {
          ...figureValues(figure),
          ...{ country: name, place: ` in ${name}`, countryA: code.toLowerCase() },
          countryB: code === 'US' ? '' : code,
        },
        draw(view, count) {
          const at = easternTime(view.closeMs)
          // A monthly figure concerns the month before its publication.
          const month = at.month === 1 ? 12 : at.month - 1
          const year = at.month === 1 ? at.year - 1 : at.year
          const monthText = view.venue === 'a' ? monthName(month) : monthName(month).slice(0, 3)
          const values = periodValues(`in ${monthText} ${year}`, stampMonth({ ...at, year, month }))
          return { ...drawFigure(view, figure, name, count), values }
        },
      }
    },
  },
  {
    name: 'weekly figure',
    questionAt(ordinal) {
      const figure = LISTS.weeklyFigures[ordinal]
      if (figure === undefined) return null
      const minuteOfDay = 8 * 60 + 30 + ((ordinal * 95) % 600)
      return {
        key: `weekly/${figure.code}`,
        schedule: everyDays({ days: 7, dayPhase: ordinal % 7, minuteOfDay }),
        interest: 0.7,
        grid: { least: 3, most: 7 },
        values: {
          ...figureValues(figure),
          ...{ country: 'United States', place: '', countryA: 'us', countryB: '' },
        },
        draw(view, count) {
          const at = easternTime(view.closeMs)
          const day = view.venue === 'a' ? longDate(at) : shortDate(at)
          const values = periodValues(`on ${day}`, stampDay(at))
          return { ...drawFigure(view, figure, '', count), values }
        },
      }
    },
  },
]

const figureValues = ({ name, title, code, tag, source }: Figure): Values => {
  return { figure: name, figureTitle: title, code, tag, source }
}

const periodValues = (period: string, periodStamp: string): Values => {
  return { period, periodStart: `${period.charAt(0).toUpperCase()}${period.slice(1)}`, periodStamp }
}

const personValues = ({ name, last, code }: Person): Values => ({ name, last, code })

const deedValues = ({ slug, code, verb, past, noun, tag }: Deed): Values => {
  return { slug, deedCode: code, verb, past, noun, tag }
}

const POLITICS_KINDS: readonly Kind[] = [
  {
    name: 'election',
    questionAt(ordinal) {
      const office = pickAt(LISTS.offices, ordinal)
      const dayPhase = numberOf(90, ordinal, 'election')
      const minuteOfDay = 19 * 60 + ((ordinal * 35) % 240)
      return {
        key: `election/${ordinal}`,
        schedule: everyDays({ days: 40 + (ordinal % 6) * 10, dayPhase, minuteOfDay }),
        otherDateMs: 14 * DAY_MS,
        interest: ordinal < 3 ? 5 : 0.8,
        grid: { least: 3 + (ordinal % 2), most: 6 },
        values: { office: office.name, officeCode: office.code, where: townName(ordinal) },
        draw(view, count) {
          // Candidates of one contest have consecutive ordinals, which gives them different surnames.
          const base = numberOf(39_000, ordinal, view.cycle, 'field')
          const names = Array.from({ length: count }, (_, index) => person(base + index)).map(
            ({ name, first, code }) => ({
              label: name,
              code: `${code.slice(0, 4)}${first.charAt(0)}${code.length}`,
            }),
          )
          return { form: 'choice', answers: choiceAnswers(view, uniqueCodes(names)) }
        },
      }
    },
  },
  {
    name: 'approval',
    questionAt(ordinal) {
      const leader = person(5000 + ordinal)
      const minuteOfDay = 10 * 60 + ((ordinal * 55) % 480)
      return {
        key: `approval/${leader.code}`,
        schedule: everyDays({ days: 7, dayPhase: ordinal % 7, minuteOfDay }),
        interest: ordinal === 0 ? 2 : 0.5,
        grid: { least: 4, most: 8 },
        values: personValues(leader),
        draw(view, count) {
          const seed = hash32(view.seed, 'approval', leader.code)
          const guess = 43 + pathAt(seed, APPROVAL_WAVES, view.plainCloseMs - 5 * DAY_MS)
          const result = underRules(view, 43 + pathAt(seed, APPROVAL_WAVES, view.closeMs), 0.6)
          const edges = strikesAround(view, { guess, step: 0.5, count: count - 1, shift: 0.2 })
          return {
            form: 'range',
            answers: rangeAnswers(edges, 0.1, { guess, spread: 0.7, result }),
            format: (value) => `${value.toFixed(1)}%`,
            unit: 0.1,
          }
        },
      }
    },
  },
  {
    name: 'mention',
    questionAt(ordinal) {
      const speaker = person(5000 + ordinal)
      const dayPhase = numberOf(7, ordinal, 'mention')
      const minuteOfDay = 11 * 60 + ((ordinal * 85) % 660)
      return {
        key: `mention/${speaker.code}`,
        schedule: everyDays({ days: 5 + (ordinal % 3), dayPhase, minuteOfDay }),
        otherDateMs: 2 * DAY_MS,
        interest: 0.6,
        grid: { least: 3, most: 14 },
        values: personValues(speaker),
        draw(view, count) {
          const start = numberOf(LISTS.terms.length, view.key, 'terms')
          const terms = Array.from({ length: count }, (_, index) =>
            pickAt(LISTS.terms, start + index),
          )
          const names = terms.map((term) => ({ label: term, code: capitals(term).slice(0, 9) }))
          return { form: 'list', answers: listAnswers(redrawn(view), names) }
        },
      }
    },
  },
]

const BY_DATE: Kind = {
  name: 'by date',
  questionAt(ordinal, size) {
    const subject = person(10_000 + ordinal)
    const deed = pickAt(LISTS.deeds, ordinal + Math.floor(ordinal / LISTS.deeds.length))
    const dayPhase = numberOf(80, subject.code, 'phase')
    const minuteOfDay = 9 * 60 + ((ordinal * 115) % 840)
    // In a large world each question has several dates at once. Otherwise each market would have its own series.
    const days = isLarge(size) ? 2 + ((ordinal * 7) % 5) : 20 + ((ordinal * 7) % 60)
    return {
      key: `deed/${subject.code}`,
      schedule: everyDays({ days, dayPhase, minuteOfDay }),
      otherDateMs: isLarge(size) ? days * DAY_MS : 11 * DAY_MS,
      interest: 0.7,
      values: { ...personValues(subject), ...deedValues(deed) },
      draw: (view) => drawDeed(view, 'After'),
    }
  },
}

const RELEASE: Kind = {
  name: 'release',
  questionAt(ordinal, size) {
    const artist = person(30_000 + ordinal)
    const dayPhase = numberOf(68, artist.code, 'phase')
    const minuteOfDay = 10 * 60 + ((ordinal * 145) % 780)
    const days = isLarge(size) ? 2 + ((ordinal * 11) % 5) : 18 + ((ordinal * 11) % 50)
    return {
      key: `release/${artist.code}`,
      schedule: everyDays({ days, dayPhase, minuteOfDay }),
      otherDateMs: isLarge(size) ? days * DAY_MS : 9 * DAY_MS,
      interest: 0.6,
      values: { ...personValues(artist), ...deedValues(pickAt(LISTS.releases, ordinal)) },
      draw: (view) => drawDeed(view, 'Not before'),
    }
  },
}

const CULTURE_KINDS: readonly Kind[] = [
  {
    name: 'chart',
    questionAt(ordinal) {
      const what = pickAt(LISTS.charts, ordinal)
      const where = LISTS.chartMarkets[Math.floor(ordinal / LISTS.charts.length)]
      if (where === undefined) return null
      const dayPhase = numberOf(7, ordinal, 'chart')
      const minuteOfDay = 9 * 60 + ((ordinal * 65) % 720)
      return {
        key: `chart/${what.code}${where.code}`,
        schedule: everyDays({ days: 7, dayPhase, minuteOfDay }),
        interest: ordinal < 2 ? 1.5 : 0.5,
        grid: { least: 4, most: 10 },
        values: {
          ...{ what: what.name, whatCode: what.code },
          ...{ where: where.name, whereCode: where.code },
        },
        draw(view, count) {
          const base = numberOf(550, view.key, 'works')
          const works = Array.from({ length: count }, (_, index) => workTitle(base + index))
          const names = works.map((work) => ({ label: work, code: capitals(work).slice(0, 12) }))
          return { form: 'choice', answers: choiceAnswers(view, names) }
        },
      }
    },
  },
  {
    name: 'score',
    questionAt(ordinal) {
      const dayPhase = numberOf(12, ordinal, 'score')
      const minuteOfDay = 10 * 60 + ((ordinal * 25) % 300)
      return {
        key: `score/${ordinal}`,
        schedule: everyDays({ days: 12 + (ordinal % 5), dayPhase, minuteOfDay }),
        otherDateMs: 4 * DAY_MS,
        interest: 0.8,
        grid: { least: 3, most: 8 },
        values: {},
        draw: (view, count) => drawScore(view, workOf(view, ordinal), count),
      }
    },
  },
  {
    name: 'box office',
    questionAt(ordinal) {
      const minuteOfDay = 11 * 60 + ((ordinal * 40) % 660)
      return {
        key: `box/${ordinal}`,
        schedule: everyDays({ days: 7, dayPhase: 4, minuteOfDay }),
        interest: 0.6,
        grid: { least: 4, most: 7 },
        values: {},
        draw: (view, count) => drawBoxOffice(view, workOf(view, 50_000 + ordinal), count),
      }
    },
  },
]

const GOLF: Kind = {
  name: 'golf',
  questionAt(ordinal) {
    const tour = LISTS.tours[Math.floor(ordinal / LISTS.placings.length)]
    if (tour === undefined) return null
    const placing = pickAt(LISTS.placings, ordinal)
    const minuteOfDay = 18 * 60 + ((ordinal * 25) % 180)
    return {
      key: `golf/${tour.code}${placing.code}`,
      // 1970-01-04, day 3 of the epoch, was a Sunday.
      schedule: everyDays({ days: 7, dayPhase: 3, minuteOfDay }),
      interest: ordinal === 0 ? 2 : 0.5,
      grid: { least: 12, most: 60 },
      values: {
        ...{ tour: tour.name, tourCode: tour.code, deed: placing.deed },
        ...{ placing: placing.title, placingCode: placing.code },
      },
      draw(view, count) {
        // All markets of a tour's week concern one tournament. Keys of its draws therefore do not contain the placing.
        const week = view.cycle + (view.trap === 'other_date' ? 1 : 0)
        const tournament = `${townName(numberOf(600, tour.code, week))} ${pickAt(LISTS.cups, week)}`
        const code = tournamentCode(tournament, week, easternTime(view.closeMs))
        return {
          form: placing.places === 1 ? 'choice' : 'list',
          answers: fieldAnswers(view, { week, tour: tour.code, places: placing.places, count }),
          values: { tournament, tournamentCode: code },
        }
      },
    }
  },
}

export const FAMILIES: readonly Family[] = [
  ...COIN_KINDS.map(familyOf),
  ...GAMES,
  ...[GOLF, ...WEATHER_KINDS, ...ECONOMY_KINDS, ...POLITICS_KINDS, ...CULTURE_KINDS].map(familyOf),
  ...[BY_DATE, RELEASE].map(familyOf),
]
