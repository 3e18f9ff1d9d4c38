// Families of markets that somebody held against each other by their rule texts: which classes of difference
// (station, source, boundary, tie, window, scope) a reader's note names. Not for: single pairs (score.ts).
// Upholds SCORE9.

import { isRow, textOf } from './row-fields.ts'
import { ruleClassesOf } from './rule-differences.ts'

/** A line a family and a summary: which of the rejected are recognised as different, and by which class. */
export function seriesReport(rows: readonly unknown[]): readonly string[] {
  const lines: string[] = []
  let rejected = 0
  let recognised = 0
  let approved = 0
  let kept = 0
  for (const row of rows) {
    if (!isRow(row)) continue
    const [series, status, note] = [
      textOf(row, 'kalshi_series'),
      textOf(row, 'status'),
      textOf(row, 'note'),
    ]
    const { classes, isDifferent } = ruleClassesOf(note)
    if (status === 'rejected') {
      rejected += 1
      if (isDifferent) recognised += 1
    } else {
      approved += 1
      if (!isDifferent) kept += 1
    }
    lines.push(
      `${status.padEnd(9)} ${series.padEnd(24)} ${isDifferent ? 'differs' : 'agrees '} ${classes.join(', ')}`,
    )
  }
  lines.push(
    `rejected families recognised: ${recognised} of ${rejected}; approved kept: ${kept} of ${approved}`,
  )
  return lines
}
