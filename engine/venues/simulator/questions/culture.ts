// Questions on culture: charts, scores, box office, awards, and releases by a date. All works and
// artists are invented. Upholds SIMCAL4 and SIMCAL5.

import { DAY_MS } from '../../../units.ts'
import {
  aboveAnswers,
  choiceAnswers,
  GRID_TRAPS,
  numberOf,
  rangeAnswers,
  roundTo,
  singleAnswer,
  strikesAround,
  underRules,
} from './answers.ts'
import { easternTime, longDate, shortDate, stampDay } from './eastern.ts'
import { gridSize } from './grid-size.ts'
import { capitals, person, pickAt, workTitle } from './names.ts'
import { chanceOf } from './path.ts'
import type { Asked, Family, View } from './question.ts'
import { everyDays } from './schedule.ts'
import { variantOf } from './variants.ts'

/** "Top song on Spotify this week?", and a hundred other charts: one of some names. */
export const CHART: Family = {
  name: 'chart',
  topic: 'culture',
  share: 0.03,
  variant(ordinal, size) {
    const what = CHARTS[ordinal % CHARTS.length]
    const where = MARKETS[Math.floor(ordinal / CHARTS.length)]
    if (what === undefined || where === undefined) return null
    const count = gridSize(size, { least: 4, most: 10 })
    return variantOf({
      key: `chart/${what.code}${where.code}`,
      schedule: everyDays({
        days: 7,
        dayPhase: numberOf(7, ordinal, 'chart'),
        minuteOfDay: 9 * 60 + ((ordinal * 65) % 720),
      }),
      lifeMs: 5 * DAY_MS,
      count,
      traps: ['other_date', 'other_rules'],
      interest: ordinal < 2 ? 1.5 : 0.5,
      ask: (view) => askChart(view, what, where, count),
    })
  },
}

/** "Silent Harbor" Rotten Tomatoes score?: strikes. */
export const SCORE: Family = {
  name: 'score',
  topic: 'culture',
  share: 0.02,
  variant(ordinal, size) {
    const count = gridSize(size, { least: 3, most: 8 })
    return variantOf({
      key: `score/${ordinal}`,
      schedule: everyDays({
        days: 12 + (ordinal % 5),
        dayPhase: numberOf(12, ordinal, 'score'),
        minuteOfDay: 10 * 60 + ((ordinal * 25) % 300),
      }),
      lifeMs: 10 * DAY_MS,
      count,
      traps: GRID_TRAPS,
      otherDateMs: 4 * DAY_MS,
      interest: 0.8,
      ask: (view) => askScore(view, workOf(view, ordinal), count),
    })
  },
}

/** "Silent Harbor" opening weekend box office?: buckets. */
export const BOX_OFFICE: Family = {
  name: 'box office',
  topic: 'culture',
  share: 0.015,
  variant(ordinal, size) {
    const count = gridSize(size, { least: 4, most: 7 })
    return variantOf({
      key: `box/${ordinal}`,
      schedule: everyDays({
        days: 7,
        dayPhase: 4,
        minuteOfDay: 11 * 60 + ((ordinal * 40) % 660),
      }),
      lifeMs: 5 * DAY_MS,
      count,
      traps: ['other_rules', 'other_threshold'],
      interest: 0.6,
      ask: (view) => askBoxOffice(view, workOf(view, 50_000 + ordinal), count),
    })
  },
}

/** "Will Marford release an album by November 20?"; fills what is left. */
export const RELEASE: Family = {
  name: 'release',
  topic: 'culture',
  share: 0.03,
  variant(ordinal) {
    const artist = person(30_000 + ordinal)
    const deed = pickAt(DEEDS, ordinal)
    return variantOf({
      key: `release/${artist.code}`,
      schedule: everyDays({
        days: 18 + ((ordinal * 11) % 50),
        dayPhase: numberOf(68, artist.code, 'phase'),
        minuteOfDay: 10 * 60 + ((ordinal * 145) % 780),
      }),
      lifeMs: 18 * DAY_MS,
      count: 1,
      traps: ['other_date', 'opposite_side', 'other_rules'],
      otherDateMs: 9 * DAY_MS,
      interest: 0.6,
      ask: (view) => askRelease(view, artist, deed),
    })
  },
}

interface Named {
  readonly name: string
  readonly code: string
}

function askChart(view: View, what: Named, where: Named, count: number): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const base = numberOf(550, view.key, 'works')
  const names = Array.from({ length: count }, (_, index) => workTitle(base + index)).map(
    (name) => ({
      label: name,
      code: capitals(name).slice(0, 12),
    }),
  )
  return {
    form: 'choice',
    answers: choiceAnswers(view, names),
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? `${what.code}-${where.code}`.toLowerCase() : `KX${what.code}${where.code}`,
      seriesTitle: `${what.name} ${where.name}`,
      stamp: stampDay(at),
      title: isA
        ? `#1 ${what.name} ${where.name} on ${longDate(at)}?`
        : `Top ${what.name} ${where.name} on ${shortDate(at)}?`,
      subtitle: isA ? '' : `The chart published on ${shortDate(at)}`,
      category: isA ? 'Culture' : 'Entertainment',
      tags: isA ? ['Culture', 'Music & Charts'] : ['Music charts'],
      question: (name) =>
        isA
          ? `Will "${name}" be the #1 ${what.name} ${where.name} on ${longDate(at)}?`
          : `Will ${name} be the top ${what.name} ${where.name} on ${shortDate(at)}?`,
      clause: (name) =>
        isA
          ? `"${name}" is ranked #1 among the ${what.name} ${where.name} chart dated ${longDate(at)}`
          : `${name} is the top ${what.name} ${where.name} on the chart of ${shortDate(at)}`,
      remarks:
        view.trap === 'other_rules'
          ? 'The chart counts paid streams only.'
          : 'The resolution source is the official chart as first published.',
    },
  }
}

function askScore(view: View, work: string, count: number): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const guess = 45 + numberOf(45, view.key, 'score')
  const drift = (4 * chanceOf(view.seed, view.key, 'drift') - 2) * 3
  const later =
    view.trap === 'other_date' ? 2 * chanceOf(view.seed, view.resultKey, 'later') - 1 : 0
  const result = Math.min(100, underRules(view, guess + drift + later, 2)) + 0.01
  const strikes = strikesAround(view, { guess, step: 5, count, shift: 2 })
  return {
    form: 'above',
    answers: aboveAnswers(view, strikes, { guess, spread: 5, result }),
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? 'rotten-tomatoes' : `KXRT${capitals(work)}`,
      seriesTitle: 'Rotten Tomatoes score',
      stamp: stampDay(at),
      title: isA
        ? `"${work}" Rotten Tomatoes score on ${longDate(at)}?`
        : `"${work}" Rotten Tomatoes score?`,
      subtitle: isA ? '' : `${work}, on ${shortDate(at)}`,
      category: isA ? 'Culture' : 'Entertainment',
      tags: isA ? ['Culture', 'Movies', 'Rotten Tomatoes'] : ['Movies', 'Rotten Tomatoes'],
      question: (phrase) =>
        isA
          ? `Will the Rotten Tomatoes score of "${work}" be ${phrase} on ${longDate(at)}?`
          : `"${work}" Rotten Tomatoes score?`,
      clause: (phrase) =>
        isA
          ? `the Tomatometer "All Critics" score of "${work}" is ${phrase} on ${longDate(at)}`
          : `${work} has a Tomatometer score ${phrase} on ${shortDate(at)}`,
      remarks:
        view.trap === 'other_rules'
          ? 'The Top Critics score is used, not that of all critics.'
          : 'If the source is unavailable, it will be checked every 6 hours until it is available.',
    },
  }
}

function askBoxOffice(view: View, work: string, count: number): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const guess = 6 + numberOf(90, view.key, 'gross')
  const error = (2 * chanceOf(view.seed, view.resultKey, 'gross') - 1) * guess * 0.15
  const result = underRules(view, guess + error, guess * 0.04)
  const step = guess > 40 ? 5 : guess > 15 ? 2 : 1
  const edges = strikesAround(view, { guess, step, count: count - 1, shift: step / 2 })
  return {
    form: 'range',
    answers: rangeAnswers(edges, 0.01, { guess, spread: guess * 0.08, result }),
    format: (value) => `$${roundTo(value, 0.01)}M`,
    unit: 0.01,
    isInclusive: false,
    words: {
      series: isA ? 'opening-weekend' : `KXBOX${capitals(work)}`,
      seriesTitle: 'Opening weekend box office',
      stamp: stampDay(at),
      title: isA
        ? `"${work}" Opening Weekend Box Office, ${longDate(at)}`
        : `"${work}" domestic opening weekend?`,
      subtitle: isA ? '' : `The weekend ending ${shortDate(at)}`,
      category: isA ? 'Culture' : 'Entertainment',
      tags: isA ? ['Culture', 'Movies', 'Box Office'] : ['Movies'],
      question: (phrase) =>
        isA
          ? `Will "${work}" Opening Weekend Box Office be ${phrase} on ${longDate(at)}?`
          : `"${work}" domestic opening weekend?`,
      clause: (phrase) =>
        `the domestic gross of "${work}" in its 3-day opening weekend ending ${longDate(at)} is ${phrase}`,
      remarks: isA
        ? 'The "Daily Box Office Performance" figures of The Numbers will be used once final, not ' +
          'studio estimates.'
        : view.trap === 'other_rules'
          ? 'The four-day weekend counts, Monday included. The Source Agency is Box Office Mojo.'
          : 'The Source Agency is Box Office Mojo. Estimates count if no final figure is published ' +
            'within a week.',
    },
  }
}

function askRelease(
  view: View,
  artist: { name: string; last: string; code: string },
  deed: { verb: string; noun: string; code: string },
): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const label =
    view.trap === 'opposite_side' ? `Not before ${longDate(at)}` : `Before ${longDate(at)}`
  return {
    form: 'single',
    answers: [singleAnswer(view, { label, code: '' })],
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? deed.noun.replaceAll(' ', '-') : `KX${deed.code}${artist.code}`,
      seriesTitle: `${artist.name} ${deed.noun}`,
      stamp: stampDay(at),
      title: isA
        ? `${artist.name} ${deed.noun} by ${longDate(at)}?`
        : `${artist.name} ${deed.noun} before ${shortDate(at)}?`,
      subtitle: isA ? '' : `Before ${shortDate(at)}`,
      category: isA ? 'Culture' : 'Entertainment',
      tags: isA ? ['Culture', 'Celebrities'] : ['Music'],
      question: () =>
        isA
          ? `Will ${artist.name} ${deed.verb} by ${longDate(at)}?`
          : `Will ${artist.name} ${deed.verb} before ${shortDate(at)}?`,
      clause: () =>
        isA
          ? `it is confirmed that ${artist.name} did ${deed.verb} by ${longDate(at)}, 11:59 PM ET`
          : `${artist.name} is confirmed to ${deed.verb} before ${shortDate(at)}`,
      negatedQuestion: () => `Will ${artist.name} not ${deed.verb} before ${shortDate(at)}?`,
      negatedClause: () => `${artist.name} does not ${deed.verb} before ${shortDate(at)}`,
      remarks:
        view.trap === 'other_rules'
          ? 'A rumour or an unofficial leak also counts.'
          : 'Official confirmation is needed; rumours do not count.',
    },
  }
}

const workOf = (view: View, ordinal: number): string =>
  // Cycles of one slot and the other slots never name the same work within a run.
  workTitle(ordinal * 97 + (view.cycle % 97) + Math.floor(view.cycle / 97) * 10_000_019)

const CHARTS: readonly Named[] = [
  { name: 'song on Spotify', code: 'SPOTIFY' },
  { name: 'movie on Netflix', code: 'NETFLIXMOVIE' },
  { name: 'show on Netflix', code: 'NETFLIXSHOW' },
  { name: 'album on Apple Music', code: 'APPLEALBUM' },
  { name: 'free app on the App Store', code: 'APPRANK' },
  { name: 'video on YouTube', code: 'YOUTUBETREND' },
]

const MARKETS: readonly Named[] = (
  'in the US:US,worldwide:GLOBAL,in the UK:UK,in Canada:CA,in Germany:DE,in France:FR,in Japan:JP,' +
  'in Brazil:BR,in Mexico:MX,in India:IN,in Australia:AU,in Spain:ES,in Italy:IT,in Korea:KR,' +
  'in Sweden:SE,in Poland:PL,in the Netherlands:NL,in Turkey:TR,in Argentina:AR,in Norway:NO'
)
  .split(',')
  .map((row) => {
    const [name = '', code = ''] = row.split(':')
    return { name, code }
  })

const DEEDS = [
  { verb: 'release a new album', noun: 'new album', code: 'ALBUM' },
  { verb: 'announce a tour', noun: 'tour', code: 'TOUR' },
  { verb: 'get engaged', noun: 'engagement', code: 'ENGAGED' },
  { verb: 'host the late show', noun: 'late show', code: 'HOSTSHOW' },
  { verb: 'join a new film', noun: 'film role', code: 'FILMROLE' },
  { verb: 'appear on a magazine cover', noun: 'magazine cover', code: 'COVER' },
]
