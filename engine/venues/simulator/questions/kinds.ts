// A kind of question and how it becomes a family: what it is about, one asking of it drawn, and its templates filled for a
// venue.

import type { SimPairKind, SimTopic } from '../model.ts'
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
  zoneWord,
} from './eastern.ts'
import { kalshiEvent } from './kalshi-style.ts'
import { polymarketEvent } from './polymarket-style.ts'
import {
  type Answer,
  type Asked,
  copiesFor,
  type Family,
  gridSize,
  type View,
  type WorldSize,
} from './question.ts'
import type { Schedule } from './schedule.ts'
import { fill, templatesOf } from './words.ts'

export type Values = Readonly<Record<string, string>>

/** A kind of question: a row of the table below. */
export interface Kind {
  readonly name: string
  readonly topic: SimTopic
  readonly share: number
  /** How long a cycle is listed before it closes, about; two days more than a few hours. */
  readonly lifeMs: number
  readonly traps: readonly SimPairKind[]
  /** What is asked at that ordinal; null when there are no more. */
  readonly pose: (ordinal: number, size: WorldSize) => Posed | null
}

/** One question that is asked again and again. */
interface Posed {
  readonly key: string
  readonly schedule: Schedule
  readonly otherDateMs?: number
  readonly interest: number
  /** Answers in a small and in a large world; one without. */
  readonly grid?: { readonly least: number; readonly most: number }
  readonly values: Values
  readonly draw: (view: View, count: number) => Drawn
}

/** One asking: its answers, and the values that only it has. */
export interface Drawn {
  readonly form: Asked['form']
  readonly answers: readonly Answer[]
  readonly format?: (value: number) => string
  readonly unit?: number
  readonly isInclusive?: boolean
  /** The day asked about; the close where it is not given. */
  readonly at?: EasternTime
  readonly values?: Values
}

export function familyOf({ name, topic, share, lifeMs, traps, pose }: Kind): Family {
  return {
    name,
    topic,
    share,
    variant(ordinal, size) {
      const posed = pose(ordinal, size)
      if (posed === null) return null
      const { key, schedule, interest, otherDateMs = schedule.periodMs } = posed
      const count = posed.grid === undefined ? 1 : gridSize(size, posed.grid)
      return {
        ...{ key, schedule, traps, otherDateMs, interest },
        copies: copiesFor(schedule.periodMs, lifeMs),
        counts: { a: count, b: count },
        questions: { a: count, b: count, shared: count },
        ask(view) {
          const asked = askedOf(name, view, posed.values, posed.draw(view, count))
          return [view.venue === 'a' ? polymarketEvent(asked) : kalshiEvent(asked)]
        },
      }
    },
  }
}

function askedOf(kind: string, view: View, posed: Values, drawn: Drawn): Asked {
  const { form, answers, format = String, unit = 1, isInclusive = false } = drawn
  const templates = templatesOf(kind, view.venue)
  const at = drawn.at ?? easternTime(view.closeMs)
  // What happens by the end of a day happens before the next.
  const { dayNumber } = easternTime(view.closeMs)
  const nextDate = shortDate(easternTime(easternMs({ dayNumber: dayNumber + 1, minuteOfDay: 0 })))
  const values = { ...datesOf(at), nextDate, ...posed, ...drawn.values }
  const { negatedQuestion, negatedClause, remarks, otherRemarks = remarks } = templates
  const said = (template: string) => fill(template, values)
  const about = (template: string) => (phrase: string) => fill(template, { ...values, phrase })
  return {
    ...{ form, answers, format, unit, isInclusive },
    words: {
      series: said(templates.series),
      seriesTitle: said(templates.seriesTitle),
      stamp: said(templates.stamp),
      title: said(templates.title),
      subtitle: said(templates.subtitle),
      category: templates.category,
      tags: templates.tags.map(said),
      question: about(templates.question),
      clause: about(templates.clause),
      ...(negatedQuestion === undefined ? {} : { negatedQuestion: about(negatedQuestion) }),
      ...(negatedClause === undefined ? {} : { negatedClause: about(negatedClause) }),
      remarks: said(view.trap === 'other_rules' ? otherRemarks : remarks),
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
  zone: zoneWord(at),
  stampMonth: stampMonth(at),
  stampDay: stampDay(at),
  stampHour: stampHour(at),
  stampMinute: stampMinute(at),
})
