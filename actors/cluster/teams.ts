// Teams of the venues. Gateways need them to look up games by ticker.

import type { TeamListing } from '../../engine/team-listing.ts'
import type { LogItem } from '../../storage/records/log-items.ts'

const TEAMS_MAX = 40_000
/** An item may have up to twice as many bytes and must fit a batch. */
const ITEM_CHARACTERS = 65_536

export class Teams {
  readonly #listings = new Map<string, TeamListing>()

  take(listings: readonly TeamListing[]): Iterable<LogItem> {
    const added: TeamListing[] = []
    for (const listing of listings) {
      const key = JSON.stringify(Object.values(listing))
      if (this.#listings.has(key) || this.#listings.size >= TEAMS_MAX) continue
      this.#listings.set(key, listing)
      added.push(listing)
    }
    return itemsOf(added)
  }

  items(): Iterable<LogItem> {
    return itemsOf(this.#listings.values())
  }
}

function* itemsOf(listings: Iterable<TeamListing>): Iterable<LogItem> {
  let [part, characters]: [TeamListing[], number] = [[], 0]
  for (const listing of listings) {
    const { league, code, name, location, nickname } = listing
    const length = league.length + code.length + name.length + location.length + nickname.length
    if (part.length > 0 && characters + length > ITEM_CHARACTERS) {
      yield { kind: 'teams', listings: part }
      part = []
      characters = 0
    }
    part.push(listing)
    characters += length
  }
  if (part.length > 0) yield { kind: 'teams', listings: part }
}
