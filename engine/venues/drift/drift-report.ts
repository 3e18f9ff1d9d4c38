import { SuspectAnswerError } from '../answer-checks.ts'
import type { Venue } from '../venue.ts'
import { driftLine } from './drift.ts'

export interface DriftReport {
  readonly lines: readonly string[]
  /** Whether users of the service lack data because of an entry. */
  readonly hasLoss: boolean
  /** Whether all probes succeeded and the catalogue was read to its end. If false, further drift may exist. */
  readonly isComplete: boolean
}

/** Runs the probes and reads the catalogue. Never rejects. `onMarkets` receives the number of markets so far. */
export async function readDrift(
  { catalog, drift }: Pick<Venue, 'catalog' | 'drift'>,
  name: string,
  onMarkets: (count: number) => void,
  signal: AbortSignal,
): Promise<DriftReport> {
  const failures = (await drift.probes.runAll(signal)).map((probe) => `${probe}: not answered`)
  let count = 0
  try {
    await catalog.crawl(({ markets }) => {
      count += markets.length
      onMarkets(count)
    }, signal)
  } catch (error) {
    if (error instanceof SuspectAnswerError)
      drift.note('answer', `${error.kind} ${error.reason}`, error.message)
    failures.push(`catalogue: ${error instanceof Error ? error.message : String(error)}`)
  }
  drift.checkShares()
  const entries = drift.entries()
  const lost = entries.filter(({ weight }) => weight === 'loss')
  const found = [
    ...entries.map((entry) => driftLine(name, entry)),
    ...failures.map((failure) => `drift ${name} failed ${failure}`),
  ]
  const sums = [
    `${entries.length} findings, ${lost.length} of them losses`,
    ...(failures.length === 0 ? [] : [`${failures.length} questions not answered`]),
  ]
  const summary = found.length === 0 ? 'none' : sums.join(', ')
  return {
    lines: [
      ...found,
      ...unreadLines(drift, name),
      `drift ${name}: ${summary}; ${count} markets read`,
    ],
    hasLoss: lost.length > 0,
    isComplete: failures.length === 0,
  }
}

const ROW_CHARACTERS_MAX = 100

function unreadLines({ shares }: Venue['drift'], name: string): readonly string[] {
  const counts = [...shares.unreadCounts]
  if (counts.length === 0) return []
  const rows = [...shares.unread].map(
    ([row, reason]) =>
      `drift ${name} unread ${reason} ${JSON.stringify(row.slice(0, ROW_CHARACTERS_MAX))}`,
  )
  const sums = counts.map(([reason, count]) => `${reason} ${count}`)
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  return [
    ...rows,
    `drift ${name}: ${total} rows not read (${sums.join(', ')}), ${rows.length} shown`,
  ]
}
