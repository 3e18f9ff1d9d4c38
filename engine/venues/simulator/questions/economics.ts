// Questions on the economy: monthly figures above a strike, central banks' decisions, weekly figures.
// Countries are real, their figures are not. Upholds SIMCAL4 and SIMCAL5.

import { hash32 } from '../../../random.ts'
import { DAY_MS } from '../../../units.ts'
import {
  aboveAnswers,
  choiceAnswers,
  GRID_TRAPS,
  numberOf,
  roundTo,
  strikesAround,
  underRules,
} from './answers.ts'
import { easternTime, longDate, monthName, shortDate, stampDay, stampMonth } from './eastern.ts'
import { gridSize } from './grid-size.ts'
import { pickAt } from './names.ts'
import { pathAt, type Wave } from './path.ts'
import type { Asked, Family, View, Words } from './question.ts'
import { everyDays, everyMonths } from './schedule.ts'
import { variantOf } from './variants.ts'

interface Figure {
  /** "annual inflation". */
  readonly name: string
  /** Kalshi's title of it: "Inflation". */
  readonly title: string
  readonly code: string
  readonly tag: string
  readonly base: number
  readonly step: number
  readonly unit: number
  readonly suffix: string
  readonly source: string
}

const WAVES: readonly Wave[] = [
  { amplitude: 5, scaleMs: 400 * DAY_MS },
  { amplitude: 1.5, scaleMs: 45 * DAY_MS },
]

/** "Inflation in Nov 2026?": strikes of one monthly figure. */
export const MONTHLY_FIGURE: Family = {
  name: 'monthly figure',
  topic: 'economics',
  share: 0.03,
  variant(ordinal, size) {
    // The first country's figures first, then the next country's.
    const country = COUNTRIES[Math.floor(ordinal / FIGURES.length)]
    if (country === undefined) return null
    const figure = pickAt(FIGURES, ordinal)
    const count = gridSize(size, { least: 3, most: 7 })
    return variantOf({
      key: `figure/${country.code}${figure.code}`,
      schedule: everyMonths({
        months: 1,
        monthPhase: 0,
        day: 3 + numberOf(22, country.name, figure.code, 'day'),
        minuteOfDay: 8 * 60 + 25 + numberOf(90, country.name, figure.code, 'minute'),
      }),
      lifeMs: 26 * DAY_MS,
      count,
      traps: GRID_TRAPS,
      interest: ordinal < FIGURES.length ? 1.2 : 0.4,
      ask: (view) => askFigure(view, country, figure, count),
    })
  },
}

/** "Fed decision in December?": one of four. */
export const RATE_DECISION: Family = {
  name: 'rate decision',
  topic: 'economics',
  share: 0.01,
  variant(ordinal) {
    const bank = BANKS[ordinal]
    if (bank === undefined) return null
    return variantOf({
      key: `rate/${bank.code}`,
      schedule: everyMonths({
        months: 2,
        monthPhase: ordinal % 2,
        day: 8 + numberOf(20, bank.name, 'day'),
        minuteOfDay: 14 * 60 - (ordinal % 7) * 55,
      }),
      lifeMs: 55 * DAY_MS,
      count: 4,
      traps: ['other_rules', 'other_date'],
      interest: ordinal === 0 ? 6 : 0.8,
      ask: (view) => askDecision(view, bank),
    })
  },
}

/** "Jobless claims for the week …?", "Gas prices on …?": strikes of a weekly figure. */
export const WEEKLY_FIGURE: Family = {
  name: 'weekly figure',
  topic: 'economics',
  share: 0.015,
  variant(ordinal, size) {
    const figure = WEEKLY[ordinal]
    if (figure === undefined) return null
    const count = gridSize(size, { least: 3, most: 7 })
    return variantOf({
      key: `weekly/${figure.code}`,
      schedule: everyDays({
        days: 7,
        dayPhase: ordinal % 7,
        minuteOfDay: 8 * 60 + 30 + ((ordinal * 95) % 600),
      }),
      lifeMs: 5 * DAY_MS,
      count,
      traps: GRID_TRAPS,
      interest: 0.7,
      ask: (view) => askFigure(view, null, figure, count),
    })
  },
}

function askFigure(view: View, country: Country | null, figure: Figure, count: number): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  // A monthly figure is about the month before its release.
  const month = at.month === 1 ? 12 : at.month - 1
  const year = at.month === 1 ? at.year - 1 : at.year
  const figureAt = (ms: number): number =>
    figure.base +
    figure.step * pathAt(hash32(view.seed, 'figure', country?.name ?? '', figure.code), WAVES, ms)
  const guess = figureAt(view.plainCloseMs - 20 * DAY_MS)
  const result = underRules(view, figureAt(view.closeMs), figure.step * 0.4)
  const strikes = strikesAround(view, { guess, step: figure.step, count, shift: figure.step / 2 })
  const place = country === null ? '' : ` in ${country.name}`
  const period = country === null ? `on ${longDate(at)}` : `in ${monthName(month)} ${year}`
  const periodB =
    country === null ? `on ${shortDate(at)}` : `in ${monthName(month).slice(0, 3)} ${year}`
  const words: Words = {
    series: isA
      ? `${figure.code}-${country?.code ?? 'us'}`.toLowerCase()
      : `KX${country === null || country.code === 'US' ? '' : country.code}${figure.code}`,
    seriesTitle: `${figure.title}${place}`,
    stamp: country === null ? stampDay(at) : stampMonth({ ...at, year, month }),
    title: `${figure.title}${place} ${isA ? period : periodB}?`,
    subtitle: isA ? '' : `${periodB.charAt(0).toUpperCase()}${periodB.slice(1)}`,
    category: isA ? 'Economy' : 'Economics',
    tags: isA ? ['Economy', figure.tag, country?.name ?? 'United States'] : [figure.tag],
    question: (phrase) =>
      isA
        ? `Will ${figure.name}${place} be ${phrase} ${period}?`
        : `Will ${figure.name}${place} be ${phrase} ${periodB}?`,
    clause: (phrase) =>
      isA
        ? `${figure.name}${place} ${period} is reported to be ${phrase}`
        : `${figure.name}${place} is ${phrase} ${periodB}`,
    remarks: isA
      ? `The resolution source for this market is ${figure.source}. Resolution of this market will ` +
        `take place upon release of the data, scheduled for ${longDate(at)}.`
      : view.trap === 'other_rules'
        ? `The second release of the figure counts, not the first. The Source Agency is ${figure.source}.`
        : `Revisions made after Expiration will not be accounted for in determining the Expiration ` +
          `Value. The Source Agency is ${figure.source}.`,
  }
  return {
    form: 'above',
    answers: aboveAnswers(view, strikes, { guess, spread: figure.step * 1.3, result }),
    format: (value) => `${value}${figure.suffix}`,
    unit: figure.unit,
    isInclusive: false,
    words,
  }
}

function askDecision(view: View, bank: { name: string; code: string; short: string }): Asked {
  const isA = view.venue === 'a'
  const at = easternTime(view.closeMs)
  const when = `${monthName(at.month)} ${at.year}`
  const names = isA
    ? ['No change', '25 bps decrease', '50+ bps decrease', '25+ bps increase']
    : ['Fed maintains rate', 'Cut 25bps', 'Cut >25bps', 'Hike >0bps'].map((name) =>
        name.replace('Fed', bank.short),
      )
  const codes = ['H0', 'C25', 'C26', 'H25']
  const options = names.map((label, index) => ({ label, code: codes[index] ?? `X${index}` }))
  return {
    form: 'choice',
    answers: choiceAnswers(view, options),
    format: String,
    unit: 1,
    isInclusive: false,
    words: {
      series: isA ? `${bank.short.toLowerCase()}-interest-rates` : `KX${bank.code}DECISION`,
      seriesTitle: isA ? `${bank.short} Interest Rates` : `${bank.short} meeting`,
      stamp: stampMonth(at),
      title: isA
        ? `${bank.short} decision in ${when}?`
        : `${bank.short} decision in ${monthName(at.month).slice(0, 3)} ${at.year}?`,
      subtitle: isA ? '' : `On ${shortDate(at)}`,
      category: isA ? 'Economy' : 'Economics',
      tags: isA ? ['Economy', bank.short, 'Rates'] : [bank.short],
      question: (name) =>
        isA
          ? `${bank.short} decision: ${name} after the ${when} meeting?`
          : `Will the ${bank.name} decide "${name}" at its ${when} meeting?`,
      clause: (name) =>
        `the ${bank.name}'s target rate after its meeting ending ${longDate(at)} amounts to "${name}"`,
      remarks: isA
        ? `The resolution source for this market is the statement of the ${bank.name} after its ` +
          'meeting. Changes are rounded up to the nearest 25 basis points.'
        : view.trap === 'other_rules'
          ? 'Moves between meetings in the two weeks before count as part of the decision.'
          : `The Source Agency is the ${bank.name}. If the meeting is rescheduled, the market will ` +
            'remain open until the decision.',
    },
  }
}

interface Country {
  readonly name: string
  readonly code: string
}

const COUNTRIES: readonly Country[] = (
  'the United States:US,the United Kingdom:UK,the Eurozone:EU,Canada:CA,Japan:JP,Germany:DE,' +
  'France:FR,Italy:IT,Spain:ES,Mexico:MX,Brazil:BR,India:IN,China:CN,South Korea:KR,Australia:AU,' +
  'Turkey:TR,Argentina:AR,Poland:PL,Sweden:SE,Norway:NO,Switzerland:CH,Chile:CL,Colombia:CO,' +
  'Israel:IL,South Africa:ZA,Egypt:EG,Nigeria:NG,Kenya:KE,Indonesia:ID,Thailand:TH,Vietnam:VN,' +
  'the Philippines:PH,Malaysia:MY,New Zealand:NZ,Ireland:IE,Portugal:PT,Greece:GR,Hungary:HU,' +
  'the Czech Republic:CZ,Romania:RO'
)
  .split(',')
  .map((row) => {
    const [name = '', code = ''] = row.split(':')
    return { name, code }
  })

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

const FIGURES: readonly Figure[] = [
  'annual inflation|Inflation|CPIYOY|Inflation|3|0.1|%|the Consumer Price Index release',
  'the unemployment rate|Unemployment|U3|Employment|4.4|0.1|%|the Employment Situation report',
  'monthly core inflation|Core CPI|CPICORE|Inflation|0.9|0.1|%|the Consumer Price Index release',
  'job growth|Jobs numbers|PAYROLLS|Employment|160|25| thousand|the Employment Situation report',
  'monthly retail sales growth|Retail sales|RETAIL|Growth|2|0.2|%|the Retail Trade report',
  'the manufacturing index|Manufacturing PMI|PMI|Growth|51|0.5||the Purchasing Managers survey',
  'house price growth|Home prices|HOMEPRICE|Housing|6|0.5|%|the House Price Index',
  'quarterly GDP growth|GDP growth|GDPNOW|Growth|3|0.2|%|the national accounts release',
].map(figureRow)

const WEEKLY: readonly Figure[] = [
  'initial jobless claims|Initial jobless claims|JOBLESSCLAIMS|Employment|225|5| thousand|the Department of Labor',
  'the price of regular gas|US gas prices|AAAGASW|Oil and energy|3.3|0.02| dollars|AAA',
  'the 30-year mortgage rate|Mortgage rates|MORTGAGERATE|Housing|6.5|0.05|%|Freddie Mac',
  'the price of WTI oil|WTI oil price|WTIW|Oil and energy|70|1| dollars|the front-month settlement',
  'the price of a dozen eggs|Egg prices|EGGSW|Inflation|3.9|0.05| dollars|the weekly egg report',
  'the price of gold|Gold price|GOLDW|Metals|3900|20| dollars|the London gold fixing',
  'the 10-year Treasury yield|10-year yield|TNOTEW|Treasuries|4.5|0.05|%|the Treasury',
  'the EUR/USD exchange rate|EUR/USD|EURUSDW|EUR/USD|1.2|0.005||the closing spot rate',
].map(figureRow)

const BANKS = [
  { name: 'Federal Reserve', code: 'FED', short: 'Fed' },
  { name: 'European Central Bank', code: 'ECB', short: 'ECB' },
  { name: 'Bank of England', code: 'BOE', short: 'BoE' },
  { name: 'Bank of Canada', code: 'BOC', short: 'BoC' },
  { name: 'Bank of Japan', code: 'BOJ', short: 'BoJ' },
  { name: 'Reserve Bank of Australia', code: 'RBA', short: 'RBA' },
  { name: 'Bank of Mexico', code: 'BANXICO', short: 'Banxico' },
  { name: 'Central Bank of Brazil', code: 'BCB', short: 'BCB' },
]
