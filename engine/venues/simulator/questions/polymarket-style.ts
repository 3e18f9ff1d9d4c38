// Venue a's texts: questions, slugs, groupItemTitles and "This market will resolve to …".

import {
  type Answer,
  answerOf,
  type EventDraft,
  eventOf,
  type MarketDraft,
  type QuestionSet,
} from './question.ts'

export function polymarketEvent(questionSet: QuestionSet): EventDraft {
  const { phrases } = questionSet
  const markets = questionSet.answers.map((answer) => polymarketMarket(questionSet, answer))
  const only = questionSet.form === 'single' ? markets[0] : undefined
  return {
    ...eventOf(questionSet),
    nativeId: only?.slug ?? slugOf(phrases.title),
    title: only?.question ?? phrases.title,
    description: markets[0]?.rules ?? phrases.remarks,
    markets,
  }
}

/**
 * Converts text to a slug as Polymarket does: lower case, "pt" for a decimal point, "neg" for a minus, hyphens between
 * words.
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

function polymarketMarket(questionSet: QuestionSet, answer: Answer): MarketDraft {
  const { clause, market } = answerOf(questionSet, answer, phraseOf(questionSet, answer))
  return {
    ...market,
    slug: slugOf(market.question),
    shortTitle: shortTitleOf(questionSet, answer),
    noShortTitle: '',
    rules:
      `This market will resolve to "Yes" if ${clause}. Otherwise, this market will resolve ` +
      `to "No".\n\n${questionSet.phrases.remarks}`,
    rulesSecondary: '',
    strike: null,
  }
}

function phraseOf(questionSet: QuestionSet, answer: Answer): string {
  if (questionSet.form === 'above') {
    return answer.cap === null
      ? `above ${questionSet.format(answer.floor ?? 0)}`
      : `${questionSet.format(answer.cap)} or below`
  }
  if (questionSet.form !== 'range') return answer.label
  const title = shortTitleOf(questionSet, answer)
  return answer.floor !== null && answer.cap !== null ? `between ${title}` : title
}

/** Examples: "$90,000", "67-68°F", "66°F or below", or a name. */
function shortTitleOf(questionSet: QuestionSet, answer: Answer): string {
  const { floor, cap } = answer
  const { format } = questionSet
  if (questionSet.form === 'single') return ''
  if (questionSet.form === 'above') return format(floor ?? cap ?? 0)
  if (questionSet.form !== 'range') return answer.label
  if (floor === null) return `${format(cap ?? 0)} or below`
  if (cap === null) return `${format(floor)} or higher`
  if (floor === cap) return format(floor)
  return floor < 0
    ? `${format(floor)} to ${format(cap)}`
    : `${bareNumber(format(floor))}-${format(cap)}`
}

/** "67" from "67°F", so that a bucket becomes "67-68°F". "$1.2M" stays unchanged. */
function bareNumber(text: string): string {
  return text.replace(/(?:°[FC]?|%)$/, '')
}
