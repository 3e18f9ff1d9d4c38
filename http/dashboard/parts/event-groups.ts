// Groups of a market list by event. Events of both venues whose markets are matched share a group.

import { countText, volumeText } from '../format.ts'
import type { EventPage, Market } from '../records.ts'

export type EventHead = Omit<EventPage['events'][number], 'markets'>

export interface EventGroup {
  /** At most one event of each venue, in the order of the list. */
  readonly events: readonly EventHead[]
  readonly markets: readonly Market[]
}

/** `2 markets, $1.2M in 24 h`. */
export const eventFactsText = ({
  market_count: count,
  total_volume_24h: volume,
  volume_unit: unit,
}: EventHead): string =>
  `${countText(count)} ${count === 1 ? 'market' : 'markets'}, ${volumeText(volume, unit)} in 24 h`

interface GroupedPage {
  readonly markets: readonly Market[]
  /** Event of each market by market id. */
  readonly events: ReadonlyMap<string, EventHead>
}

/**
 * Groups for each page. An event with a matched market joins the group of the matched market's event, also on an earlier page.
 * A page without events is one group.
 */
export function groupsOf(pages: readonly GroupedPage[]): readonly (readonly EventGroup[])[] {
  const groupOf = new Map<string, { events: EventHead[]; markets: Market[] }>()
  return pages.map(({ markets, events }) => {
    if (events.size === 0) return [{ events: [], markets }]
    const groups: EventGroup[] = []
    for (const [event, own] of eventsOf(markets, events)) {
      const group = own
        .flatMap(({ platforms: [, other] }) =>
          other === undefined ? [] : (groupOf.get(`${other.platform}_${other.native_id}`) ?? []),
        )
        .find(
          ({ events: joined }) =>
            !joined.some(({ platforms: [name] }) => name === event.platforms[0]),
        )
      const chosen = group ?? { events: [], markets: [] }
      chosen.events.push(event)
      chosen.markets.push(...own)
      for (const { id } of own) groupOf.set(id, chosen)
      if (group === undefined) groups.push(chosen)
    }
    return groups
  })
}

function eventsOf(markets: readonly Market[], events: GroupedPage['events']) {
  const found = new Map<EventHead, Market[]>()
  for (const market of markets) {
    const event = events.get(market.id)
    if (event === undefined) continue
    const own = found.get(event)
    if (own === undefined) found.set(event, [market])
    else own.push(market)
  }
  return found
}
