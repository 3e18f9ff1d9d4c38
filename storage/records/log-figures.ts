// Log items about the engine as a whole: database figures, and the teams that venues list. Part of log-items.ts, which
// defines their codes.

import { VENUE_KEYS, type VenueKey } from '../../engine/ids.ts'
import type { TeamListing } from '../../engine/team-listing.ts'
import { type TimeMs, timeMs } from '../../engine/units.ts'
import { FieldReader } from './records.ts'

export interface EngineFigures {
  readonly trades: number
  readonly snapshots: number
  readonly databaseBytes: number
  /** Wallets that were ever requested. */
  readonly wallets: number
  /** Times of the oldest and newest trade; null: there is none. */
  readonly coverage: Readonly<
    Partial<Record<VenueKey, { readonly oldestMs: TimeMs; readonly newestMs: TimeMs } | null>>
  >
}

export function figureFields(figures: EngineFigures): readonly unknown[] {
  const { trades, snapshots, databaseBytes, wallets, coverage } = figures
  const covered = VENUE_KEYS.flatMap((venue) => {
    const extent = coverage[venue]
    if (extent === undefined) return []
    return [[venue, extent?.oldestMs ?? null, extent?.newestMs ?? null]]
  })
  return [trades, snapshots, databaseBytes, wallets, covered]
}

export function readFigures(fields: FieldReader): EngineFigures {
  const [trades, snapshots] = [fields.number(), fields.number()]
  const [databaseBytes, wallets] = [fields.number(), fields.number()]
  const coverage: Partial<Record<VenueKey, { oldestMs: TimeMs; newestMs: TimeMs } | null>> = {}
  for (const row of fields.lists()) {
    const of = new FieldReader(row)
    const venue = of.choice(VENUE_KEYS)
    const [oldestMs, newestMs] = [of.orNull(timeMs), of.orNull(timeMs)]
    coverage[venue] = oldestMs === null || newestMs === null ? null : { oldestMs, newestMs }
  }
  return { trades, snapshots, databaseBytes, wallets, coverage }
}

const TEAM_FIELDS = 6

/** All texts in sequence. */
export function teamFields(listings: readonly TeamListing[]): readonly string[] {
  return listings.flatMap(({ venue, league, code, name, location, nickname }) => [
    ...[venue, league, code, name, location, nickname],
  ])
}

export function readTeams(fields: FieldReader): readonly TeamListing[] | null {
  const texts = fields.texts()
  if (texts.length % TEAM_FIELDS !== 0) return null
  const listings: TeamListing[] = []
  for (let index = 0; index < texts.length; index += TEAM_FIELDS) {
    const [letter, league = '', code = '', name = '', location = '', nickname = ''] = texts.slice(
      index,
      index + TEAM_FIELDS,
    )
    const venue = VENUE_KEYS.find((key) => key === letter)
    if (venue === undefined) return null
    listings.push({ venue, league, code, name, location, nickname })
  }
  return listings
}
