// Parses numbers in a question as ranges ("above 79,200", "52° to 53°", "10% or more", "20+", "<43.5%") and relates two
// ranges.

import type { Strike } from '../../subject.ts'

/** All x with low ≤ x ≤ high. An open end is excluded. */
export interface Quantity {
  readonly low: number
  readonly high: number
  readonly isLowOpen: boolean
  readonly isHighOpen: boolean
  /** 'up' or 'down' if touching the bound once suffices ("reach", "dip to"), otherwise ''. */
  readonly touch: '' | 'up' | 'down'
  /** `$`, `%`, `°`, `bps` or ''. */
  readonly unit: string
  /** Position in the folded text. Both are 0 if the range comes from strike fields. */
  readonly start: number
  readonly end: number
}

/** Both bounds as words. The tokenizer splits numbers at the decimal point: "4.4" becomes "4" and "4". */
export function boundWords({ low, high }: Quantity): readonly string[] {
  return [low, high].flatMap((end) => [String(end), ...String(end).split('.')])
}

const NUMBER = String.raw`[-+]?[$€£]?\d[\d,]*(?:\.\d+)?(?:(?:k|mm|m|bn|b|t)\b|\s?(?:million|billion|trillion|thousand)\b)?(?:\s?(?:%|percent\b|°\s?[fc]?\b|°|bps\b|basis points\b|degrees\b|¢|cents?\b))?`
const ABOVE =
  'above|over|greater than|more than|higher than|exceeds?|exceeding|surpass(?:es)?|tops?(?=\\s[$€£]|\\s[\\d.,]+\\s?(?:%|percent|[mbt]r?illion))|>'
const LEAST = 'at or above|at or over|at least|no less than|minimum of|≥|>=|=>'
const BELOW = 'below|under|less than|fewer than|lower than|<'
const MOST = 'at or below|at or under|at most|no more than|up to|≤|<=|=<'
/**
 * Groups of the match: 1 and 2 are the ends of a band; 3 is open above, 4 closed above, 5 open below, 6 closed below; 7
 * is a number and 8 its suffix; 9 is a touch and 10 its number.
 */
const RANGE = new RegExp(
  `(?:between |from )?(${NUMBER})\\s?(?:-|to|and)\\s?(${NUMBER})(?![\\d.])|(?:o/u|over/under) (${NUMBER})|(?<!at or )(?:${ABOVE})\\s?(?:by )?(${NUMBER})|(?:${LEAST})\\s?(${NUMBER})|(?<!at or )(?:${BELOW})\\s?(${NUMBER})|(?:${MOST})\\s?(${NUMBER})|(${NUMBER})\\s?(\\+(?:\\s?(?:%|bps\\b|basis points\\b))?|or (?:above|more|higher|greater|over|below|less|fewer|lower|under)|and (?:above|over|up))|(reach(?:es)?|hits?|touch(?:es)?|dips? to|drops? to|falls? to|dips? below) (${NUMBER})`,
  'g',
)
const COMPARATOR_CHARACTERS_MAX = 24
const RATE_STEP_BPS = 25
/** Factors of the words and letters after a number. */
export const SCALE: Readonly<Record<string, number>> = {
  k: 1e3,
  thousand: 1e3,
  m: 1e6,
  mm: 1e6,
  million: 1e6,
  b: 1e9,
  bn: 1e9,
  billion: 1e9,
  t: 1e12,
  trillion: 1e12,
}
const PARTS =
  /^([-+])?([$€£])?([\d,]+(?:\.\d+)?)\s?(k|mm|m|bn|b|t|million|billion|trillion|thousand)?\s?(%|percent|°\s?[fc]?|bps|basis points|degrees|¢|cents?)?$/

/** The first range in a folded text without dates. Null if there is none. */
export function quantityOf(folded: string): Quantity | null {
  const digit = folded.search(/\d/)
  if (digit < 0) return null
  // A comparator such as "above" is at most this many characters before its number.
  RANGE.lastIndex = Math.max(0, digit - COMPARATOR_CHARACTERS_MAX)
  for (let match = RANGE.exec(folded); match !== null; match = RANGE.exec(folded)) {
    const bounds = boundsOf(match)
    if (bounds !== null)
      return { ...bounds, start: match.index, end: match.index + match[0].length }
  }
  return null
}

type Bounds = Omit<Quantity, 'start' | 'end'>

function boundsOf(match: RegExpExecArray): Bounds | null {
  const [, from, to, line, above, least, below, most, number, suffix = '', touch, touched] = match
  if (from !== undefined && to !== undefined) return bandOf(from, to)
  if (line !== undefined || above !== undefined) return half(line ?? above, 'low', true)
  if (least !== undefined) return half(least, 'low', false)
  if (below !== undefined) return half(below, 'high', true)
  if (most !== undefined) return half(most, 'high', false)
  if (number !== undefined) {
    // In "50+ bps" the unit follows the sign.
    const unit = suffix.startsWith('+') ? suffix.slice(1) : ''
    const end = /below|less|fewer|lower|under/.test(suffix) ? 'high' : 'low'
    return half(number.trim() + unit, end, false)
  }
  const isDown = /^(?:dip|drop|fall)/.test(touch ?? '')
  const bound = half(touched, isDown ? 'high' : 'low', false)
  return bound === null ? null : { ...bound, touch: isDown ? 'down' : 'up' }
}

function half(text: string | undefined, end: 'low' | 'high', isOpen: boolean): Bounds | null {
  const read = readNumber(text ?? '')
  if (read === null) return null
  const isLow = end === 'low'
  // Policy rates change in steps of 25 bps, so more than 25 means 50 or more.
  const isStepped = isOpen && read.unit === 'bps' && read.value % RATE_STEP_BPS === 0
  const snapped = isLow && isOpen ? snapNines(read) : read.value
  const value = isStepped ? read.value + (isLow ? RATE_STEP_BPS : -RATE_STEP_BPS) : snapped
  return {
    low: isLow ? value : Number.NEGATIVE_INFINITY,
    high: isLow ? Number.POSITIVE_INFINITY : value,
    isLowOpen: isLow && isOpen && !isStepped && snapped === read.value,
    isHighOpen: !isLow && isOpen && !isStepped,
    touch: '',
    unit: read.unit,
  }
}

/** In "$120-139k" scale and unit of the second number also apply to the first. An end of 1,989.99 is rounded to 1,990. */
function bandOf(from: string, to: string): Bounds | null {
  const low = readNumber(from)
  const high = readNumber(to.replace(/^[-+]/, ''))
  if (low === null || high === null) return null
  const first =
    low.scale === 1 && low.value < high.value / high.scale + 1 ? low.value * high.scale : low.value
  const last = snapNines(high)
  if (first > last) return null
  return {
    low: first,
    high: last,
    isLowOpen: false,
    isHighOpen: last !== high.value,
    touch: '',
    unit: high.unit || low.unit,
  }
}

function readNumber(text: string) {
  const match = PARTS.exec(text.trim())
  if (match === null) return null
  const [, sign, money, digits = '', scaleWord = '', unitWord = ''] = match
  const isCents = /^(?:¢|cents?)$/.test(unitWord)
  const scale = isCents ? 0.01 : (SCALE[scaleWord] ?? 1)
  const value = Number(digits.replaceAll(',', '')) * scale * (sign === '-' ? -1 : 1)
  if (!Number.isFinite(value)) return null
  return { value, text: digits, scale, unit: isCents || money ? '$' : unitOf(unitWord) }
}

function unitOf(word: string): string {
  if (word === '') return ''
  if (word === '%' || word === 'percent') return '%'
  return word.startsWith('b') ? 'bps' : '°'
}

/** Rounds up values slightly below a round number, such as 1,989.99 and 1.7199. */
function snapNines({ value, text, scale }: NonNullable<ReturnType<typeof readNumber>>): number {
  const decimals = text.split('.')[1] ?? ''
  if (decimals.length < 2 || !decimals.endsWith('99')) return value
  const step = scale / 10 ** decimals.length
  return Number((value + step).toPrecision(12))
}

/** A range with closed ends that does not come from a text. */
export function rangeOf(low: number, high: number, unit = ''): Quantity {
  const closed = { isLowOpen: false, isHighOpen: false, touch: '' } as const
  return { low, high, unit, start: 0, end: 0, ...closed }
}

/** The range in a venue's strike fields. Null if they do not state one. */
export function quantityOfStrike(strike: Strike | null): Quantity | null {
  if (strike === null || strike.kind === 'custom' || strike.kind === 'functional') return null
  const { floor, cap, kind } = strike
  return {
    ...rangeOf(floor ?? Number.NEGATIVE_INFINITY, cap ?? Number.POSITIVE_INFINITY),
    ...{ isLowOpen: kind === 'greater', isHighOpen: kind === 'less' },
  }
}

/**
 * Relation of two ranges. `boundary`: they differ only in whether a bound is included. `complement`: one begins where
 * the other ends, so Yes of one is No of the other.
 */
export type RangeRelation =
  | 'same'
  | 'boundary'
  | 'complement'
  | 'inside'
  | 'around'
  | 'overlap'
  | 'apart'

export function relateRanges(one: Quantity, other: Quantity): RangeRelation {
  if (isEqual(one.low, other.low) && isEqual(one.high, other.high)) {
    const isEndEqual = one.isLowOpen === other.isLowOpen && one.isHighOpen === other.isHighOpen
    return isEndEqual ? 'same' : 'boundary'
  }
  const areIntegers = [one, other].every(isIntegerRange)
  const [a, b] = areIntegers ? [closed(one), closed(other)] : [one, other]
  const isLowEqual = isEqual(a.low, b.low)
  const isHighEqual = isEqual(a.high, b.high)
  if (isLowEqual && isHighEqual) return 'same'
  // Two integer ranges are adjacent if one begins with the integer after the end of the other.
  const step = areIntegers ? 1 : 0
  const isTouching = [
    [one.high, other.low],
    [other.high, one.low],
    [a.high + step, b.low],
    [b.high + step, a.low],
  ].some(([end = 0, begin = 0]) => isEqual(end, begin))
  const isHalf = (range: Quantity): boolean =>
    range.low === Number.NEGATIVE_INFINITY || range.high === Number.POSITIVE_INFINITY
  if (isTouching && isHalf(a) && isHalf(b)) return 'complement'
  if (a.low > b.high || b.low > a.high || isTouching) return 'apart'
  if ((isLowEqual || a.low > b.low) && (isHighEqual || a.high < b.high)) return 'inside'
  if ((isLowEqual || a.low < b.low) && (isHighEqual || a.high > b.high)) return 'around'
  return 'overlap'
}

/** Whether the values are integers, as counts and degrees are. "Above 84" and "over 84.5" then equal "at least 85". */
function isIntegerRange({ low, high, unit }: Quantity): boolean {
  if (unit !== '' && unit !== '°') return false
  return [low, high].every((end) => !Number.isFinite(end) || Number.isInteger(2 * end))
}

function closed(range: Quantity): Quantity {
  return {
    ...range,
    low: range.isLowOpen ? Math.floor(range.low) + 1 : Math.ceil(range.low),
    high: range.isHighOpen ? Math.ceil(range.high) - 1 : Math.floor(range.high),
    isLowOpen: false,
    isHighOpen: false,
  }
}

function isEqual(one: number, other: number): boolean {
  if (one === other) return true
  if (!Number.isFinite(one) || !Number.isFinite(other)) return false
  return Math.abs(one - other) <= 1e-9 * Math.max(Math.abs(one), Math.abs(other))
}
