import { MINUTE_MS } from '../../../units.ts'
import type { SimVenue } from '../model.ts'
import {
  clockLower,
  clockUpper,
  type EasternTime,
  easternMs,
  easternTime,
  longDate,
  monthName,
  shortDate,
  stampDay,
  stampHour,
  stampMinute,
  stampMonth,
  zoneName,
} from './eastern.ts'
import { kalshiEvent } from './kalshi-style.ts'
import { polymarketEvent } from './polymarket-style.ts'
import {
  type Answer,
  copiesFor,
  type Family,
  gridSize,
  type QuestionSet,
  type SharedTexts,
  type View,
  type WorldSize,
} from './question.ts'
import { fill, templatesOf, termsOf } from './question-templates.ts'
import type { Schedule } from './schedule.ts'

export type Values = Readonly<Record<string, string>>

/** A kind of question, defined by a row of families.ts. Its texts are in words.json. */
export interface Kind {
  readonly name: string
  /** Null: there are no more questions. */
  readonly questionAt: (ordinal: number, size: WorldSize) => RecurringQuestion | null
}

interface RecurringQuestion {
  readonly key: string
  readonly schedule: Schedule
  readonly otherDateMs?: number
  readonly interest: number
  /** Number of answers in a small and in a large world. Default: one. */
  readonly grid?: { readonly least: number; readonly most: number }
  readonly values: Values
  readonly draw: (view: View, count: number) => Drawn
}

/** The drawn facts of one cycle: its answers, and values for its templates. */
export interface Drawn {
  readonly form: QuestionSet['form']
  readonly answers: readonly Answer[]
  readonly format?: (value: number) => string
  readonly unit?: number
  readonly isInclusive?: boolean
  /** The day that the question names. Default: the day of the close. */
  readonly at?: EasternTime
  readonly values?: Values
}

export function familyOf({ name, questionAt }: Kind): Family {
  const { topic, share, lifeMinutes, traps } = termsOf(name)
  return {
    name,
    topic,
    share,
    variant(ordinal, size) {
      const recurring = questionAt(ordinal, size)
      if (recurring === null) return null
      const { key, schedule, interest, otherDateMs = schedule.periodMs } = recurring
      const count = recurring.grid === undefined ? 1 : gridSize(size, recurring.grid)
      const counts = { a: count, b: count }
      const sizes = [count]
      const shared: { a: SharedTexts | null; b: SharedTexts | null } = { a: null, b: null }
      return {
        ...{ key, schedule, traps, otherDateMs, interest },
        copies: copiesFor(schedule.periodMs, lifeMinutes * MINUTE_MS),
        counts,
        questions: { a: count, b: count, shared: count },
        eventSizes: { a: sizes, b: sizes },
        sharedTexts(venue) {
          const texts = shared[venue] ?? sharedTextsOf(name, venue, recurring.values)
          shared[venue] = texts
          return texts
        },
        draftEvents(view) {
          const questionSet = questionSetOf(
            name,
            view,
            recurring.values,
            recurring.draw(view, count),
          )
          return [view.venue === 'a' ? polymarketEvent(questionSet) : kalshiEvent(questionSet)]
        },
      }
    },
  }
}

function sharedTextsOf(kind: string, venue: SimVenue, recurring: Values): SharedTexts {
  const { series, seriesTitle, category, tags } = templatesOf(kind, venue)
  // A title that contains a work differs in each cycle.
  const isShared = !series.includes('{work')
  return {
    ...(isShared ? { series: fill(series, recurring) } : {}),
    seriesTitle: fill(seriesTitle, recurring),
    category,
    tags: tags.map((tag) => fill(tag, recurring)),
    game: null,
  }
}

function questionSetOf(kind: string, view: View, recurring: Values, drawn: Drawn): QuestionSet {
  const { form, answers, format = String, unit = 1, isInclusive = false } = drawn
  const templates = templatesOf(kind, view.venue)
  const at = drawn.at ?? easternTime(view.closeMs)
  // "By the end of a day" is written as "before the next day".
  const { dayNumber } = easternTime(view.closeMs)
  const nextDate = shortDate(easternTime(easternMs({ dayNumber: dayNumber + 1, minuteOfDay: 0 })))
  const values = { ...datesOf(at), nextDate, ...recurring, ...drawn.values }
  const { negatedQuestion, negatedClause, remarks, otherRemarks = remarks } = templates
  const filled = (template: string) => fill(template, values)
  const filledWith = (template: string) => (phrase: string) => fill(template, { ...values, phrase })
  return {
    ...{ form, answers, format, unit, isInclusive },
    phrases: {
      series: filled(templates.series),
      seriesTitle: filled(templates.seriesTitle),
      stamp: filled(templates.stamp),
      title: filled(templates.title),
      subtitle: filled(templates.subtitle),
      category: templates.category,
      tags: templates.tags.map(filled),
      question: filledWith(templates.question),
      clause: filledWith(templates.clause),
      ...(negatedQuestion === undefined ? {} : { negatedQuestion: filledWith(negatedQuestion) }),
      ...(negatedClause === undefined ? {} : { negatedClause: filledWith(negatedClause) }),
      remarks: filled(view.trap === 'other_rules' ? otherRemarks : remarks),
    },
  }
}

const datesOf = (at: EasternTime): Values => ({
  longDate: longDate(at),
  shortDate: shortDate(at),
  month: monthName(at.month),
  mon: monthName(at.month).slice(0, 3),
  year: String(at.year),
  clock: clockUpper(at),
  clockB: clockLower(at),
  zone: zoneName(at),
  stampMonth: stampMonth(at),
  stampDay: stampDay(at),
  stampHour: stampHour(at),
  stampMinute: stampMinute(at),
})
