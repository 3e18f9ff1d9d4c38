// Routes of venue b for past and announced fee changes.

import type { World } from '../model.ts'
import { json, type RestServer } from '../rest.ts'
import { badRequest } from './errors.ts'
import { SeriesTable } from './events.ts'
import { eventChanges, hasOwnFees, seriesChanges } from './fees.ts'
import { pageOf, QueryReader } from './paging.ts'

/** Adds `/series/fee_changes` and `/events/fee_changes` under a prefix. */
export function addFeeRoutes(rest: RestServer, prefix: string, world: World): void {
  const series = new SeriesTable(world)
  rest.get(`${prefix}/series/fee_changes`, ({ query }) => {
    const reader = new QueryReader(query)
    const hasPast = reader.flag('show_historical')
    const only = reader.text('series_ticker')
    if (reader.problem !== null) return badRequest(reader.problem)
    const nowMs = world.nowMs()
    const tickers = [...series.all().keys()].filter((ticker) => only === null || ticker === only)
    const rows = tickers.flatMap((ticker) => seriesChanges(ticker, nowMs, hasPast))
    return json({ series_fee_change_arr: rows })
  })
  rest.get(`${prefix}/events/fee_changes`, ({ query }) => {
    const reader = new QueryReader(query)
    const hasPast = reader.flag('show_historical')
    const only = reader.text('event_ticker')
    const limit = reader.integer('limit', { min: 1, max: 1_000, fallback: 100 })
    if (reader.problem !== null) return badRequest(reader.problem)
    const nowMs = world.nowMs()
    const page = pageOf(world.events('b'), {
      cursor: reader.text('cursor'),
      limit,
      idOf: (event) => event.nativeId,
      isMatch: (event) => hasOwnFees(event) && (only === null || event.nativeId === only),
    })
    if (page === null) return badRequest('cursor must be a cursor of the previous page')
    const rows = page.rows.flatMap((event) => eventChanges(event, nowMs, hasPast))
    return json({ event_fee_changes: rows, cursor: page.cursor })
  })
}
