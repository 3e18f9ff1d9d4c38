const DASH = '–'

const number = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(undefined, options)
const usd = { style: 'currency', currency: 'USD' } as const
const dollars = number(usd)
const roundDollars = number({
  ...{ ...usd, notation: 'compact', minimumFractionDigits: 1, maximumFractionDigits: 1 },
})
const sizes = number({ maximumFractionDigits: 2 })
const sizesWithHundredths = number({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
const counts = number({ maximumFractionDigits: 0 })

const date = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat(undefined, { hourCycle: 'h23', ...options })
const monthDay = { month: 'short', day: 'numeric' } as const
const minutes = { hour: '2-digit', minute: '2-digit' } as const
const TIMES = {
  clock: date({ timeStyle: 'medium' }),
  exact: date({ ...minutes, second: '2-digit', fractionalSecondDigits: 3 }),
  day: date({ dateStyle: 'medium' }),
  past: date({ ...monthDay, ...minutes }),
  full: date({ dateStyle: 'medium', timeStyle: 'short' }),
} as const

type MaybeNumber = number | null | undefined

/**
 * Formats a price of 0 to 1 dollars as cents with at most two decimals: `53.25¢`. `decimals` is the minimum number of
 * decimals, from the market's price step ({@link stepDecimals}).
 */
export function priceText(price: MaybeNumber, decimals = 0): string {
  return price === null || price === undefined ? DASH : `${centsText(price, decimals)}¢`
}

function centsText(price: number, decimals: number): string {
  const text = (price * 100).toFixed(2)
  const short = Number(text).toString()
  const isSettled = price === 0 || price === 1
  return decimalsOf(short) < decimals && !isSettled ? Number(text).toFixed(decimals) : short
}

const decimalsOf = (figure: string): number => figure.split('.')[1]?.length ?? 0

/** Decimals, 0 to 2, that these prices in dollars need when shown in cents. */
export const priceDecimals = (prices: readonly number[]): number =>
  Math.max(0, ...prices.map((price) => decimalsOf(centsText(price, 0))))

/** Decimals in the result of {@link priceText}; null for an unknown price. */
export const writtenDecimals = (price: number | null, decimals: number): number | null =>
  price === null ? null : decimalsOf(centsText(price, decimals))

/** Decimals in cents for a market's price step in dollars; 0 for an unknown step. */
export const stepDecimals = (step: number | null): number =>
  step === null ? 0 : priceDecimals([step])

/** A price difference in dollars, with sign: `+1.5¢`. */
export function gapText(gap: MaybeNumber, decimals = 0): string {
  if (gap === null || gap === undefined) return DASH
  const text = centsText(Math.abs(gap), decimals)
  return `${Number(text) === 0 ? '' : gap > 0 ? '+' : '−'}${text}¢`
}

const INTEGER_SIZES_FROM = 1_000

/** `decimals`: decimals of the column ({@link sizeDecimals}). */
export function sizeText(size: MaybeNumber, decimals: 0 | 2 | null = null): string {
  if (size === null || size === undefined) return DASH
  if (decimals === 2) return sizesWithHundredths.format(size)
  return (decimals === 0 || size >= INTEGER_SIZES_FROM ? counts : sizes).format(size)
}

/** Decimals for a column of sizes: 0 if all are integers, else 2. */
export const sizeDecimals = (contracts: readonly number[]): 0 | 2 =>
  contracts.every((size) => Number.isInteger(size)) ? 0 : 2

export const usdText = (usd: MaybeNumber): string =>
  usd === null || usd === undefined ? DASH : dollars.format(usd).replace('-', '−')

export const signedUsdText = (usd: number): string => `${usd > 0 ? '+' : ''}${usdText(usd)}`

const ROUND_USD = 1_000

/** US dollars, abbreviated (`$12.3K`); exact to the cent below 1,000. */
export const roundUsdText = (usd: MaybeNumber): string =>
  usd === null || usd === undefined || Math.abs(usd) < ROUND_USD
    ? usdText(usd)
    : roundDollars.format(usd).replace('-', '−')

const roundCounts = number({ notation: 'compact', maximumFractionDigits: 1 })

/** A volume in its venue's unit: `$12.3K` traded, or `12.3K contracts`. */
export const volumeText = (volume: MaybeNumber, unit: 'usd_traded' | 'usd_notional'): string =>
  volume === null || volume === undefined || unit === 'usd_traded'
    ? roundUsdText(volume)
    : `${roundCounts.format(volume)} contracts`

export const countText = (count: MaybeNumber): string =>
  count === null || count === undefined ? DASH : counts.format(count)

export const percentText = (share: MaybeNumber): string =>
  share === null || share === undefined ? DASH : `${(share * 100).toFixed(1)} %`

/** Bytes, abbreviated: `1.5 MB`. */
export function bytesText(bytes: MaybeNumber): string {
  if (bytes === null || bytes === undefined) return DASH
  const units = [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
  ] as const
  const [size, unit] = units.find(([least]) => bytes >= least) ?? [1, 'B']
  return `${Number((bytes / size).toFixed(1))} ${unit}`
}

/** A duration, abbreviated: `350 ms`, `12 s`, `4 min`, `3 h`, `2 d`. */
export function durationText(ms: MaybeNumber): string {
  if (ms === null || ms === undefined) return DASH
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`
}

export type TimeStyle = keyof typeof TIMES

export const timeText = (atMs: number, style: TimeStyle): string => TIMES[style].format(atMs)

const utcDay = date({ dateStyle: 'medium', timeZone: 'UTC' })
const utcMonthDay = date({ ...monthDay, timeZone: 'UTC' })
const localMonthDay = date(monthDay)
const hour = date(minutes)

export const utcDayText = (atMs: number): string => utcDay.format(atMs)

export const monthDayText = (atMs: number, isUtc = false): string =>
  (isUtc ? utcMonthDay : localMonthDay).format(atMs)

export const hourText = (atMs: number): string => hour.format(atMs)

/** `Europe/Berlin (GMT+1)`, by default of the viewer. All aliases of UTC give `UTC`. */
export function zoneText(atMs: number, timeZone = hour.resolvedOptions().timeZone): string {
  if (/^(Etc\/)?(UTC|GMT|Universal|Zulu|UCT)$/.test(timeZone)) return 'UTC'
  const format = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'shortOffset' })
  const offset = format.formatToParts(atMs).find(({ type }) => type === 'timeZoneName')?.value
  return `${timeZone.replaceAll('_', ' ')} (${offset ?? ''})`
}

export const utcText = (atMs: number): string =>
  `${new Date(atMs).toISOString().replace('T', ' ').replace('Z', '')} UTC`

/** The first 8 and last 4 characters of a long id: `0x123456…abcd`. */
export const shortId = (id: string): string =>
  id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`

export function localDay(atMs: number): string {
  const at = new Date(atMs)
  const two = (count: number) => String(count).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

const EASTERN = { timeZone: 'America/New_York' }
const eastern = new Intl.DateTimeFormat('sv', EASTERN)
const easternTime = date({ ...monthDay, ...minutes, ...EASTERN })

/** The date in US Eastern time, as `2026-11-22`. Dates of games are in this zone. */
export const easternDay = (atMs: number): string => eastern.format(atMs)

export const easternTimeText = (atMs: number): string => `${easternTime.format(atMs)} US Eastern`

/** True for a valid date `YYYY-MM-DD`. */
export function isDay(text: string): boolean {
  const startMs = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(startMs) && new Date(startMs).toISOString().slice(0, 10) === text
}

const DAY_MS = 86_400_000

/** Returns an invalid date unchanged. */
export function dayAfter(day: string, days: number): string {
  const startMs = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(startMs) ? day : new Date(startMs + days * DAY_MS).toISOString().slice(0, 10)
}

export const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`
