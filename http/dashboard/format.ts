// Numbers and times as the page writes them: in the viewer's own language and time zone, aligned, and never guessed:
// what is not known is a dash; and days of the calendar as texts. Upholds DASH8, DASH61.

const DASH = '–'

const dollars = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD' })
const roundDollars = new Intl.NumberFormat(undefined, {
  style: 'currency',
  currency: 'USD',
  notation: 'compact',
  maximumFractionDigits: 1,
})
const sizes = new Intl.NumberFormat(undefined, { maximumFractionDigits: 2 })
const fullSizes = new Intl.NumberFormat(undefined, {
  minimumFractionDigits: 2,
  maximumFractionDigits: 2,
})
const counts = new Intl.NumberFormat()
const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const dayTime = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })

type Known = number | null | undefined

/**
 * A probability in dollars, 0 to 1, as cents with up to two decimals: `53.25¢`. With `decimals`, never fewer, so that
 * the figures of a column stand under each other.
 */
export function priceText(price: Known, decimals = 0): string {
  if (price === null || price === undefined) return DASH
  const text = (price * 100).toFixed(2)
  const short = Number(text).toString()
  return `${decimalsOf(short) < decimals ? Number(text).toFixed(decimals) : short}¢`
}

/** Decimals that a figure is written with. */
const decimalsOf = (figure: string): number => figure.split('.')[1]?.length ?? 0

/** Decimals that the longest of these prices in dollars needs, 0 to 2. */
export const priceDecimals = (prices: readonly number[]): number =>
  Math.max(0, ...prices.map((price) => decimalsOf(priceText(price).slice(0, -1))))

/** A difference of prices in dollars, with its sign: `+1.5¢`. */
export function gapText(gap: Known): string {
  if (gap === null || gap === undefined) return DASH
  const cents = Number((gap * 100).toFixed(2))
  return `${cents > 0 ? '+' : cents < 0 ? '−' : ''}${Math.abs(cents)}¢`
}

/** Contracts. */
export const sizeText = (size: Known): string =>
  size === null || size === undefined ? DASH : sizes.format(size)

/** Contracts with both decimals, for columns: a venue's sizes may have them. */
export const fullSizeText = (size: number): string => fullSizes.format(size)

/** US dollars to the cent. */
export const usdText = (usd: Known): string =>
  usd === null || usd === undefined ? DASH : dollars.format(usd)

/** US dollars for a glance: `$12.3K`. */
export const roundUsdText = (usd: Known): string =>
  usd === null || usd === undefined ? DASH : roundDollars.format(usd)

export const countText = (count: Known): string =>
  count === null || count === undefined ? DASH : counts.format(count)

/** A share of one as a percentage. */
export const percentText = (share: Known): string =>
  share === null || share === undefined ? DASH : `${Number((share * 100).toFixed(1))} %`

/** A number of bytes for a glance: `1.5 MB`. */
export function bytesText(bytes: Known): string {
  if (bytes === null || bytes === undefined) return DASH
  const steps = [
    [1e9, 'GB'],
    [1e6, 'MB'],
    [1e3, 'kB'],
  ] as const
  const [size, unit] = steps.find(([least]) => bytes >= least) ?? [1, 'B']
  return `${Number((bytes / size).toFixed(1))} ${unit}`
}

/** A length of time for a glance: `350 ms`, `12 s`, `4 min`, `3 h`, `2 d`. */
export function durationText(ms: Known): string {
  if (ms === null || ms === undefined) return DASH
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`
  if (ms < 120_000) return `${Math.round(ms / 1_000)} s`
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`
  return ms < 172_800_000 ? `${Math.round(ms / 3_600_000)} h` : `${Math.round(ms / 86_400_000)} d`
}

/** How a time is shown: the hour, the day, or both. */
export type TimeStyle = 'clock' | 'day' | 'full'

/** In the viewer's zone. */
export function timeText(atMs: number, style: TimeStyle): string {
  const format = { clock: clockTime, day, full: dayTime }[style]
  return format.format(atMs)
}

/** In UTC, to the millisecond, shown while the pointer is over a time. */
export const utcText = (atMs: number): string =>
  `${new Date(atMs).toISOString().replace('T', ' ').replace('Z', '')} UTC`

/** The first and last characters of what is long and meaningless: `0x1234…abcd`. */
export const shortId = (id: string): string =>
  id.length <= 14 ? id : `${id.slice(0, 8)}…${id.slice(-4)}`

/** The day of a moment in the viewer's zone, as `2026-11-22`. */
export function localDay(atMs: number): string {
  const at = new Date(atMs)
  const two = (count: number) => String(count).padStart(2, '0')
  return `${String(at.getFullYear()).padStart(4, '0')}-${two(at.getMonth() + 1)}-${two(at.getDate())}`
}

/** Whether a text is a day that the calendar has. */
export function isDay(text: string): boolean {
  const startMs = Date.parse(`${text}T00:00:00Z`)
  return !Number.isNaN(startMs) && new Date(startMs).toISOString().slice(0, 10) === text
}

const DAY_MS = 86_400_000

/** The day so many days later; the same text back when it names no day. */
export function dayAfter(day: string, days: number): string {
  const startMs = Date.parse(`${day}T00:00:00Z`)
  return Number.isNaN(startMs) ? day : new Date(startMs + days * DAY_MS).toISOString().slice(0, 10)
}
