// Families of markets whose rule texts were compared by hand, as notes that name the venues by their protocols ("One: …
// Other: …", "Both: …"): the two halves of a note go through the same comparison as rule texts do. A note that says
// nothing of one venue leaves nothing to recognise. Not for: single pairs (score.ts). Upholds SCORE9.

import { textOf } from '../../json-fields.ts'
import { isRecord } from '../../json-record.ts'
import type { VenueFacts } from '../../venue-table.ts'
import { type RuleDifference, ruleDifferences } from '../compare/rule-differences.ts'
import { lonelyTerms } from '../compare/rule-terms.ts'

/** The venues of a note, the one that the table lists first before the other. */
type Protocols = readonly [Pick<VenueFacts, 'protocol'>, Pick<VenueFacts, 'protocol'>]

/** A line a family that differs, and a summary. */
export function seriesReport(rows: readonly unknown[], venues: Protocols): readonly string[] {
  const lines: string[] = []
  const counts = { rejected: 0, recognised: 0, silent: 0, approved: 0, differing: 0 }
  for (const row of rows) {
    if (!isRecord(row)) continue
    const [series, status, note] = [
      textOf(row, `${venues[1].protocol}_series`),
      textOf(row, 'status'),
      textOf(row, 'note'),
    ]
    const { a, b } = halvesOf(note, venues)
    const found = [...ruleDifferences(a, b), ...termDifferences(a, b)]
    if (status === 'rejected') {
      counts.rejected += 1
      if (found.length > 0) counts.recognised += 1
      else if (a === '' || b === '') counts.silent += 1
    } else {
      counts.approved += 1
      if (found.length > 0) counts.differing += 1
    }
    if (found.length > 0 || status === 'rejected') {
      lines.push(
        `${status.padEnd(9)} ${series.padEnd(20)} ${found.map(say).join('; ') || '(not recognised)'}`,
      )
    }
  }
  lines.push(
    `rejected: ${counts.recognised} of ${counts.rejected} recognised, ${counts.silent} notes describe one venue only`,
    `approved: ${counts.differing} of ${counts.approved} differ in a class, as their caveats say`,
  )
  return lines
}

/** A note about one venue only says in what it departs from the plain reading. */
function termDifferences(a: string, b: string): readonly RuleDifference[] {
  return lonelyTerms(a, b).map(({ term, isOfA }) => {
    const [name = '', says = ''] = term.split(': ')
    return { name, a: isOfA ? says : 'plainly', b: isOfA ? 'plainly' : says }
  })
}

const say = ({ name, a, b }: RuleDifference): string => `${name}: ${b} against ${a}`

/** What a note says of each venue; what it says of both stands in both halves. */
export function halvesOf(
  note: string,
  venues: Protocols,
): { readonly a: string; readonly b: string } {
  const halves = { a: '', b: '' }
  const [a, b] = venues.map(({ protocol }) => `\\b${protocol}\\b`)
  const parts = new RegExp(`(?<=[.;])\\s+|(?<=:) (?=${b})|(?<=,) and (?=${a})|, (?=${a})`, 'i')
  const turn = new RegExp(`\\b(?:than|while|whereas|unlike) (?=${a}|${b})`, 'i')
  const [ofA, ofB] = [new RegExp(`${a}`, 'i'), new RegExp(`${b}`, 'i')]
  for (const part of note.split(parts)) {
    for (const piece of piecesOf(part, turn)) {
      const [isA, isB] = [ofA.test(piece), ofB.test(piece)]
      if (isA === isB) continue
      if (isA) halves.a += ` ${piece}`
      else halves.b += ` ${piece}`
    }
  }
  return { a: halves.a.trim(), b: halves.b.trim() }
}

/** "One's … is broader than the other's …" describes each in turn. */
function piecesOf(sentence: string, turn: RegExp): readonly string[] {
  const cut = turn.exec(sentence)
  return cut === null ? [sentence] : [sentence.slice(0, cut.index), sentence.slice(cut.index)]
}
