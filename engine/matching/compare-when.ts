// When two questions are decided, held against each other: equal days, deadlines that are one ("before Oct 2025",
// "by Sep 30"), periods, and closing times that only hint. Upholds MATCHDATE2, MATCHDATE3, VETO3, VETO7.

import type { Proposition, When } from './proposition.ts'

export interface WhenComparison {
  /** `same`: both say it and agree. `other`: both say it and differ. `hint`: one only closes then. */
  readonly verdict: 'same' | 'other' | 'hint' | 'unknown'
  /** Days between the two ends. */
  readonly gap: number
}

/** Ends that lie this far apart and no further are one for deadlines: "by Dec 31", "before Jan 1", "on Jan 1". */
const NEAR_DAYS = 1
/** A date before this day had no year: only month and day count. */
const YEARLESS = 7_300

/** Dates of two propositions; the best source of each side that says a day decides. */
export function compareWhens(a: Proposition, b: Proposition): WhenComparison {
  const [one, other] = [said(a), said(b)]
  if (one.length > 0 && other.length > 0) return compareSaid(one, other)
  const [hintA, hintB] = [one[0] ?? a.whens.at(-1), other[0] ?? b.whens.at(-1)]
  if (hintA === undefined || hintB === undefined) return { verdict: 'unknown', gap: 0 }
  const gap = Math.abs(hintA.last - hintB.last)
  // A closing time inside a period said is no difference.
  const isWithin = (at: When, period: When): boolean =>
    period.grain !== 'day' && at.last >= period.first && at.last <= period.last
  if (isWithin(hintA, hintB) || isWithin(hintB, hintA))
    return { verdict: 'hint', gap: Math.min(gap, 2) }
  return { verdict: 'hint', gap }
}

/** What is said of the date: days before months before years; closing times left out. */
function said({ whens }: Proposition): readonly When[] {
  const told = whens.filter(({ source }) => source !== 'close')
  const fine = told.filter(({ grain }) => grain === 'day' || grain === 'week')
  if (fine.length > 0) return fine
  const middle = told.filter(({ grain }) => grain !== 'year')
  return middle.length > 0 ? middle : told
}

function compareSaid(a: readonly When[], b: readonly When[]): WhenComparison {
  let best = Number.POSITIVE_INFINITY
  let isExact = false
  for (const one of a) {
    for (const other of b) {
      const gap = gapOf(one, other)
      if (gap < best) {
        best = gap
        isExact =
          one.role === 'on' && other.role === 'on' && one.grain === 'day' && other.grain === 'day'
      }
    }
  }
  const tolerance = isExact ? 0 : NEAR_DAYS
  return { verdict: best <= tolerance ? 'same' : 'other', gap: best }
}

/** Days between two ends; equal months and days where one has no year. */
function gapOf(one: When, other: When): number {
  if (one.last < YEARLESS || other.last < YEARLESS) {
    const [first, second] = [new Date(one.last * 86_400_000), new Date(other.last * 86_400_000)]
    const year = Date.UTC(2024, first.getUTCMonth(), first.getUTCDate())
    return Math.abs(year - Date.UTC(2024, second.getUTCMonth(), second.getUTCDate())) / 86_400_000
  }
  return Math.abs(one.last - other.last)
}
