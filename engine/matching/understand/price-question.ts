// Parses the parts of a price question other than its level: the asset, the hour in New York, and the direction and
// window. A coin that is not in the lexicon is identified by its code in the title, rules or series.

import { hourOf, windowOf } from './dates.ts'
import { meaningOf } from './lexicon.ts'
import type { Texts } from './listing-texts.ts'
import type { Marks } from './marks.ts'
import { wordSet } from './phrases.ts'
import { fold } from './text-normalization.ts'

const CRYPTO = wordSet(
  'bitcoin ethereum solana xrp dogecoin hyperliquid cardano litecoin chainlink avalanche bnb shiba',
)
/** Names of coins whose codes are also English words. The lexicon does not contain these codes. */
const CODES: Readonly<Record<string, string>> = { link: 'chainlink' }
/** Matches the code in "the Binance XLM/USDT close", "the CF Benchmarks XLM index" or "XLM price up in next 15 mins?". */
const CODE_IN_RULES =
  /\b([A-Z][A-Z0-9]{1,9})\/USD[TC]?\b|\bCF Benchmarks(?:['’]s?)?(?: the)? ([A-Z][A-Z0-9]{1,9})\b/
const CODE_IN_TITLE = /^([A-Z][A-Z0-9]{1,9}) (?:price )?(?:up|down|Up|Down)\b/
const PRICED =
  /\b(?:price|above|below|between|reach|hit|dip|close|closes|settle|settles|up or down|high|low|greater|less|range)\b/
const DIRECTION = /\bup or down\b|\bprice (?:up|down) in (?:the )?next\b/
const DOWNWARDS = /\bprice down\b|^down$/
const NOON = 12
const LASTING = /\b(\d{1,3})[ -]?(?:minutes?|mins?)\b/

/** Identity of a coin by its code in the title or the rules. Null if there is no code. */
export function coinOfCode(title: string, rules: string): string | null {
  const match = CODE_IN_TITLE.exec(title) ?? CODE_IN_RULES.exec(rules)
  const code = (match?.[1] ?? match?.[2])?.toLowerCase()
  return code === undefined ? null : (CODES[code] ?? meaningOf(code) ?? code)
}

interface PriceQuestion {
  readonly asset: string | null
  /** Whether the question asks for a direction instead of a level. */
  readonly isUpDown: boolean
  readonly isDown: boolean
  /** Length of the window of a direction question. Null: not stated. */
  readonly minutes: number | null
  readonly hour: number | null
}

export function priceOf(texts: Texts, marks: Marks): PriceQuestion {
  const foldedTexts = [texts.title.folded, texts.context.folded]
  const asset = assetOf(texts, marks)
  const isUpDown = foldedTexts.some((text) => DIRECTION.test(text))
  const isDown = [texts.title, texts.answer].some(({ folded }) => DOWNWARDS.test(folded))
  const minutes = isUpDown ? minutesOf(foldedTexts) : null
  const hour = asset === null ? null : hourFor(asset, minutes, texts)
  return { asset, isUpDown, isDown, minutes, hour }
}

/** The asset in the question, else that of the code. Null if there are two assets or it is no price question. */
function assetOf({ listed, title, context }: Texts, marks: Marks): string | null {
  const [asset, other] = marks.get('asset') ?? []
  if (other !== undefined || title.words.includes('sayx')) return null
  const isPriced = PRICED.test(title.folded) || /\bprice\b/.test(context.folded)
  if (asset !== undefined) return isPriced || listed.handles === 'ticker' ? asset : null
  return isPriced ? coinOfCode(listed.title, listed.rules) : null
}

/** Length of the window in minutes, stated as two hours or in words. Null: not stated. */
function minutesOf(foldedTexts: readonly string[]): number | null {
  for (const text of foldedTexts) {
    const window = windowOf(text)
    if (window !== null) return Math.round(((window.to - window.from + 24) % 24) * 60)
  }
  const lasting = foldedTexts.map((text) => LASTING.exec(text)).find((match) => match !== null)
  return lasting === undefined ? null : Number(lasting[1])
}

/** The hour in the texts, else in the ticker. Else, for a coin with a slug, the hour in its rules, or noon. */
function hourFor(asset: string, minutes: number | null, texts: Texts): number | null {
  const { listed, title, context, ticker } = texts
  const statedHour = hourOf(title.folded) ?? hourOf(context.folded)
  if (statedHour !== null) return statedHour
  // A ticker states the end of the window, titles state its start.
  const clock = ticker?.hour ?? null
  if (listed.handles === 'ticker') return clock === null ? null : clock - (minutes ?? 0) / 60
  const isCoin = CRYPTO.has(asset) || coinOfCode('', listed.rules) !== null
  if (!isCoin || ![...title.dates, ...context.dates].some(({ role }) => role === 'on')) return null
  return hourOf(fold(listed.rules)) ?? (CRYPTO.has(asset) ? NOON : null)
}
