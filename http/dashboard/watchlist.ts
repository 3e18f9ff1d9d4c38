// Markets that the account watches. All tabs of the browser show the same list.

import { request } from './api.ts'
import { openTabChannel } from './browser.ts'
import { onReconnect } from './parts/states.ts'
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
  onReconnect(() => {
    if (user !== null && watchlist.value === null) void loadWatchlist()
  })
}

/** Never rejects. After an error, the page shows no watchlist. */
async function loadWatchlist(): Promise<void> {
  const requester = user
  try {
    put(await request<Watchlist>('/v1/watchlist'), requester)
  } catch {
    // The next change, reconnect or page load requests it again.
  }
}

/** Rejects with ApiError, such as 400 if the list is full. */
export async function setWatched(marketId: string, isWatched: boolean): Promise<void> {
  const requester = user
  if (isWatched) {
    put(
      await request<Watchlist>('/v1/watchlist', { method: 'POST', body: { market_id: marketId } }),
      requester,
    )
  } else {
    await request(`/v1/watchlist/${encodeURIComponent(marketId)}`, { method: 'DELETE' })
    const ids = watchlist.value?.filter((id) => id !== marketId)
    if (ids !== undefined) put({ market_ids: ids }, requester)
  }
  notifyTabs()
}

/** Ignores a response to a request of another account. */
function put({ market_ids: ids }: Pick<Watchlist, 'market_ids'>, requester: string | null): void {
  if (requester === user) watchlist.set(ids)
}
