// What a question on a price asks beside its level: which asset, at which hour of New York, up or down over how
// many minutes. A coin that the lexicon lacks is known by its code, which titles, rules and series share.
// Not for: levels and ranges (quantity.ts), days (dates.ts). Upholds PROP14, PROP15.

import type { HandleForm } from '../../ids.ts'
import { type DateMention, hourOf, windowOf } from './dates.ts'
import { meaningOf } from './lexicon.ts'
import type { Marks } from './marks.ts'
import { fold } from './words.ts'

const CRYPTO = new Set(
  'bitcoin ethereum solana xrp dogecoin hyperliquid cardano litecoin chainlink avalanche bnb shiba'.split(
    ' ',
  ),
)
/** Codes that are words of the language, and therefore no phrases of the lexicon. */
const CODES: Readonly<Record<string, string>> = { link: 'chainlink' }
/** "the Binance XLM/USDT close", "the CF Benchmarks XLM index", "XLM price up in next 15 mins?". */
const CODE_IN_RULES =
  /\b([A-Z][A-Z0-9]{1,9})\/USD[TC]?\b|\bCF Benchmarks(?:['’]s?)?(?: the)? ([A-Z][A-Z0-9]{1,9})\b/
const CODE_IN_TITLE = /^([A-Z][A-Z0-9]{1,9}) (?:price )?(?:up|down|Up|Down)\b/
const PRICED =
  /\b(?:price|above|below|between|reach|hit|dip|close|closes|settle|settles|up or down|high|low|greater|less|range)\b/
const DIRECTION = /\bup or down\b|\bprice (?:up|down) in (?:the )?next\b/
const DOWNWARDS = /\bprice down\b|^down$/
const NOON = 12
const LASTING = /\b(\d{1,3})[ -]?(?:minutes?|mins?)\b/

/** The texts that are read, folded but for the rules, and the title as sent. */
export interface PriceTexts {
  readonly handles: HandleForm
  readonly titleAsSent: string
  readonly rules: string
  readonly title: string
  readonly answer: string
  readonly context: string
  /** Days said, with their role. */
  readonly dates: readonly DateMention[]
  /** Hour in the ticker; null: none. */
  readonly tickerHour: number | null
}

/** A coin's identity by the code beside a question; null: no code. */
export function coinOfCode(title: string, rules: string): string | null {
  const match = CODE_IN_TITLE.exec(title) ?? CODE_IN_RULES.exec(rules)
  const code = (match?.[1] ?? match?.[2])?.toLowerCase()
  return code === undefined ? null : (CODES[code] ?? meaningOf(code) ?? code)
}

/** The asset of a question on a price: the one it names, else the coin of the code; null for two names or another question. */
export function assetOf(marks: Marks, texts: PriceTexts): string | null {
  const [asset, other] = marks.get('asset') ?? []
  if (other !== undefined) return null
  const isPriced = PRICED.test(texts.title) || /\bprice\b/.test(texts.context)
  if (asset !== undefined) return isPriced || texts.handles === 'ticker' ? asset : null
  return isPriced ? coinOfCode(texts.titleAsSent, texts.rules) : null
}

/** Whether a direction is asked rather than a level. */
export function asksDirection({ title, context }: PriceTexts): boolean {
  return DIRECTION.test(title) || DIRECTION.test(context)
}

/** Whether Yes means down. */
export function isDownwards({ title, answer }: PriceTexts): boolean {
  return DOWNWARDS.test(title) || DOWNWARDS.test(answer)
}

/** How long the price is watched, as a window or in words. Minutes; null: not said. */
export function minutesOf({ title, context }: PriceTexts): number | null {
  for (const text of [title, context]) {
    const window = windowOf(text)
    if (window !== null) return Math.round(((window.to - window.from + 24) % 24) * 60)
  }
  const said = LASTING.exec(title) ?? LASTING.exec(context)
  return said === null ? null : Number(said[1])
}

/** The hour of the texts, else of the ticker; else, for a coin beside a slug, the hour of its rules, or noon. */
export function hourFor(asset: string, minutes: number | null, texts: PriceTexts): number | null {
  const said = hourOf(texts.title) ?? hourOf(texts.context)
  if (said !== null) return said
  if (texts.handles === 'ticker') {
    // A ticker has the end of the window, titles its beginning.
    return texts.tickerHour === null ? null : texts.tickerHour - (minutes ?? 0) / 60
  }
  const isCoin = CRYPTO.has(asset) || coinOfCode('', texts.rules) !== null
  if (!isCoin || !texts.dates.some(({ role }) => role === 'on')) return null
  return hourOf(fold(texts.rules)) ?? (CRYPTO.has(asset) ? NOON : null)
}
