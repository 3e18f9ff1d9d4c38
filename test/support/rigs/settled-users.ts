import { setTimeout as pause } from 'node:timers/promises'
import type { SimulatedUsers, SimulatedUsersReport } from '../clients/simulated-users.ts'
import type { TrueTrade } from '../reference/client-ledger.ts'
import { type ServiceLocations, truthOfTrades } from './full-service.ts'

const settleSeconds = Number(process.env.KILL_SETTLE_SECONDS ?? 180)

/** Polls until every client has all data or the time is over. */
export async function settled(
  crowd: SimulatedUsers,
  locations: ServiceLocations,
  logLine: (line: string) => void,
) {
  const startedMs = performance.now()
  for (;;) {
    await pause(3_000)
    const truth = [...(await truthOfTrades(locations))].map(([name, atMs]): TrueTrade => {
      const [market = '', id = ''] = name.split(' ')
      return { market, id, offset: null, seq: null, atMs }
    })
    const report = await crowd.ask({ kind: 'check', trades: truth })
    const seconds = (performance.now() - startedMs) / 1_000
    const wrong = report.books.wrong.length + report.trades.missing.length
    if (seconds > settleSeconds || (wrong === 0 && report.live === report.clients)) {
      logLine(`right ${seconds.toFixed(0)} s after the pause`)
      return { report, truth }
    }
    logLine(
      `${seconds.toFixed(0)} s after the pause: ${JSON.stringify(report.states)}, ${report.books.wrong.length} books (${report.books.wrong[0]}), ${report.trades.missing.length} trades (${report.trades.missing[0]})`,
    )
  }
}

export function reportText(
  { trades, books, ...report }: SimulatedUsersReport,
  truth: readonly TrueTrade[],
  logLine: (line: string) => void,
): void {
  logLine(`${report.clients} clients, ${report.live} live: ${JSON.stringify(report.counts)}`)
  logLine(
    `${truth.length} true trades; ${trades.due} due over all clients, ${trades.handed} handed once, ${trades.announced} announced as lost, ${trades.missing.length} missing, ${trades.extra.length} extra`,
  )
  logLine(
    `${books.compared} books compared, ${books.wrong.length} wrong; announced gaps: ${JSON.stringify(report.gaps)}; ${report.faults.length} faults`,
  )
}
