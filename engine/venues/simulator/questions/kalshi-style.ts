// Venue b's texts: event titles with subtitles, tickers with dates, strike types, and rules in two parts.

import {
  type Answer,
  answerOf,
  type EventDraft,
  eventOf,
  type MarketDraft,
  type QuestionSet,
} from './question.ts'

export function kalshiEvent(questionSet: QuestionSet): EventDraft {
  const { phrases } = questionSet
  const nativeId = `${phrases.series}-${phrases.stamp}`
  return {
    ...eventOf(questionSet),
    nativeId,
    title: phrases.title,
    description: '',
    markets: questionSet.answers.map((answer) => kalshiMarket(questionSet, answer, nativeId)),
  }
}

function kalshiMarket(questionSet: QuestionSet, answer: Answer, eventTicker: string): MarketDraft {
  const strike = strikeOf(questionSet, answer)
  const { clause, market } = answerOf(questionSet, answer, strike.phrase)
  return {
    ...market,
    slug: strike.code === '' ? eventTicker : `${eventTicker}-${strike.code}`,
    shortTitle: strike.label,
    noShortTitle: strike.label,
    rules: `If ${clause}, then the market resolves to Yes.`,
    rulesSecondary: questionSet.phrases.remarks,
    strike: strike.strike,
  }
}

interface StrikeTexts {
  readonly code: string
  readonly label: string
  /** The answer as in the rules: "above 3.1%", "between 46-47°". */
  readonly phrase: string
  readonly strike: MarketDraft['strike']
}

function strikeOf(questionSet: QuestionSet, answer: Answer): StrikeTexts {
  if (questionSet.form === 'above') return thresholdOf(questionSet, answer)
  if (questionSet.form === 'range') return bucketOf(questionSet, answer)
  const strike =
    questionSet.form === 'single' ? null : { type: 'structured' as const, floor: null, cap: null }
  return { code: answer.code, label: answer.label, phrase: answer.label, strike }
}

function thresholdOf(questionSet: QuestionSet, answer: Answer): StrikeTexts {
  const { format, isInclusive } = questionSet
  if (answer.cap !== null) {
    const cap = answer.cap
    return {
      code: `T${cap}`,
      label: `${format(cap)} or below`,
      phrase: `at or below ${format(cap)}`,
      strike: { type: 'less_or_equal', floor: null, cap },
    }
  }
  const floor = answer.floor ?? 0
  if (!isInclusive) {
    return {
      code: `T${floor}`,
      label: `Above ${format(floor)}`,
      phrase: `above ${format(floor)}`,
      strike: { type: 'greater', floor, cap: null },
    }
  }
  const less = Number((floor - questionSet.unit).toFixed(6))
  return {
    code: `T${less}`,
    label: `${format(floor)} or above`,
    phrase: `above ${less}`,
    strike: { type: 'greater', floor: less, cap: null },
  }
}

function bucketOf(questionSet: QuestionSet, answer: Answer): StrikeTexts {
  const { format, unit } = questionSet
  const { floor, cap } = answer
  if (floor === null) {
    const limit = Number(((cap ?? 0) + unit).toFixed(6))
    return {
      code: `T${limit}`,
      label: `${format(cap ?? 0)} or below`,
      phrase: `less than ${format(limit)}`,
      strike: { type: 'less', floor: null, cap: limit },
    }
  }
  if (cap === null) {
    const limit = Number((floor - unit).toFixed(6))
    return {
      code: `T${limit}`,
      label: `${format(floor)} or above`,
      phrase: `greater than ${format(limit)}`,
      strike: { type: 'greater', floor: limit, cap: null },
    }
  }
  return {
    code: `B${Number(((floor + cap) / 2).toFixed(6))}`,
    label: `${format(floor)} to ${format(cap)}`,
    phrase: `between ${format(floor)}-${format(cap)}`,
    strike: { type: 'between', floor, cap },
  }
}
