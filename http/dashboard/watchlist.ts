// Markets that the account watches. All tabs of the browser show the same list.

import { request } from './api.ts'
import { openTabChannel } from './browser.ts'
import type { Watchlist } from './records.ts'
import { session } from './session.ts'
import { Signal } from './signal.ts'

/** Ids, oldest first; null before the first response and without a session. */
export const watchlist = new Signal<readonly string[] | null>(null)

let notifyTabs: () => void = () => undefined
let user: string | null = null

export function followWatchlist(): void {
  notifyTabs = openTabChannel('twinbook.watchlist', () => void loadWatchlist())
  session.subscribe(() => {
    const { value: who } = session
    const next = who.kind === 'in' ? who.user.id : null
    if (next === user) return
    user = next
    watchlist.set(null)
    if (next !== null) void loadWatchlist()
  })
}

/** Never rejects. After an error, the page shows no watchlist. */
async function loadWatchlist(): Promise<void> {
  try {
    put(await request<Watchlist>('/v1/watchlist'))
  } catch {
    // The next change or the next page load requests it again.
  }
}

/** Rejects with ApiError, such as 400 if the list is full. */
export async function setWatched(marketId: string, isWatched: boolean): Promise<void> {
  if (isWatched) {
    put(
      await request<Watchlist>('/v1/watchlist', { method: 'POST', body: { market_id: marketId } }),
    )
  } else {
    await request(`/v1/watchlist/${encodeURIComponent(marketId)}`, { method: 'DELETE' })
    watchlist.set(watchlist.value?.filter((id) => id !== marketId) ?? null)
  }
  notifyTabs()
}

const put = ({ market_ids: ids }: Watchlist): void => watchlist.set(ids)
