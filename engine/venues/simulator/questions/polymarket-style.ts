// Venue a's style: natural questions, slugs, groupItemTitles and "This market will resolve to …".

import {
  type Answer,
  type Asked,
  answerOf,
  type EventDraft,
  eventOf,
  type MarketDraft,
} from './question.ts'

/** A question set as venue a lists it. */
export function polymarketEvent(asked: Asked): EventDraft {
  const { words } = asked
  const markets = asked.answers.map((answer) => polymarketMarket(asked, answer))
  const only = asked.form === 'single' ? markets[0] : undefined
  return {
    ...eventOf(asked),
    nativeId: only?.slug ?? slugOf(words.title),
    title: only?.question ?? words.title,
    description: markets[0]?.rules ?? words.remarks,
    markets,
  }
}

/**
 * Words to a slug as Polymarket makes them: lower case, "pt" for a decimal point, "neg" for a minus,
 * hyphens between words.
 */
export function slugOf(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/(^|[\s(])-(?=\d)/g, '$1neg')
    .replace(/(\d)\.(?=\d)/g, '$1pt')
    .replace(/(\d),(?=\d)/g, '$1')
    .replace(/\p{M}|["'’“”.,$%°?()&]/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function polymarketMarket(asked: Asked, answer: Answer): MarketDraft {
  const { clause, market } = answerOf(asked, answer, phraseOf(asked, answer))
  return {
    ...market,
    slug: slugOf(market.question),
    shortTitle: shortTitleOf(asked, answer),
    noShortTitle: '',
    rules:
      `This market will resolve to "Yes" if ${clause}. Otherwise, this market will resolve ` +
      `to "No".\n\n${asked.words.remarks}`,
    rulesSecondary: '',
    strike: null,
  }
}

function phraseOf(asked: Asked, answer: Answer): string {
  if (asked.form === 'above') {
    return answer.cap === null
      ? `above ${asked.format(answer.floor ?? 0)}`
      : `${asked.format(answer.cap)} or below`
  }
  if (asked.form !== 'range') return answer.label
  const title = shortTitleOf(asked, answer)
  return answer.floor !== null && answer.cap !== null ? `between ${title}` : title
}

/** "$90,000"; "67-68°F", "66°F or below"; a name. */
function shortTitleOf(asked: Asked, answer: Answer): string {
  const { floor, cap } = answer
  const { format } = asked
  if (asked.form === 'single') return ''
  if (asked.form === 'above') return format(floor ?? cap ?? 0)
  if (asked.form !== 'range') return answer.label
  if (floor === null) return `${format(cap ?? 0)} or below`
  if (cap === null) return `${format(floor)} or higher`
  if (floor === cap) return format(floor)
  return floor < 0
    ? `${format(floor)} to ${format(cap)}`
    : `${bareNumber(format(floor))}-${format(cap)}`
}

/** "67" of "67°F", so that a bucket reads "67-68°F"; "$1.2M" stays whole. */
function bareNumber(text: string): string {
  return text.replace(/(?:°[FC]?|%)$/, '')
}
