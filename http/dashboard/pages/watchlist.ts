// The watchlist on the first page.

import { useState } from 'preact/hooks'
import { ApiError, request } from '../api.ts'
import { countText } from '../format.ts'
import { html } from '../html.ts'
import { useAction } from '../parts/forms.ts'
import { useLivePrices } from '../parts/quotes.ts'
import { Unanswered, useRequest } from '../parts/requests.ts'
import { Failure } from '../parts/states.ts'
import { type Column, table } from '../parts/tables.ts'
import type { Market } from '../records.ts'
import { useSignal } from '../signal.ts'
import { setWatched, watchlist } from '../watchlist.ts'
import { columnsOf } from './markets.ts'

/** Rows before "Show more". Each needs a request. */
const ROWS = 20
const RELOAD_MS = 60_000

/** Renders nothing if the list is empty. */
export function WatchlistSection() {
  const ids = useSignal(watchlist) ?? []
  const [count, setCount] = useState(ROWS)
  // Newest first.
  const shown = ids.toReversed().slice(0, count)
  const result = useRequest((signal) => fetchMarkets(shown, signal), [shown.join()], {
    periodMs: RELOAD_MS,
    isWanted: shown.length > 0,
  })
  const live = useLivePrices(shown)
  if (ids.length === 0) return null
  const rows = (result.answer ?? result.latest ?? []).filter(({ id }) => shown.includes(id))
  const columns: readonly Column<Market>[] = [
    ...columnsOf(live),
    ['Remove', 'actions', (market) => html`<${Remove} market=${market} />`],
  ]
  const missing = result.kind === 'answered' ? shown.length - rows.length : 0
  return html`<section class="card stack markets" aria-labelledby="watchlist">
    <h2 id="watchlist">Watchlist</h2>
    <${Unanswered} result=${result} what="your watchlist" hasRows=${rows.length > 0} />
    ${
      rows.length === 0
        ? null
        : table({
            ...{
              list: 'watchlist',
              kind: 'stacked market-list',
              caption: 'Watched markets, live prices',
            },
            ...{ rows, columns, inputs: [live] },
            keyOf: ({ id }) => id,
            marks: ({ id }) => ({ 'data-watched': id }),
          })
    }
    ${missing === 0 ? null : html`<p class="muted">${countText(missing)} of them ${missing === 1 ? 'is' : 'are'} no longer listed by the venue.</p>`}
    ${
      ids.length <= count
        ? null
        : html`<p><button type="button" class="more" onClick=${() => setCount(count + ROWS)}>Show more</button></p>`
    }
  </section>`
}

/** Omits markets that the venue no longer lists. */
async function fetchMarkets(
  ids: readonly string[],
  signal: AbortSignal,
): Promise<readonly Market[]> {
  const found = await Promise.all(
    ids.map((id) =>
      request<Market>(`/v1/markets/${encodeURIComponent(id)}`, { signal }).catch(
        (error: unknown) => {
          if (error instanceof ApiError && error.status === 404) return null
          throw error
        },
      ),
    ),
  )
  return found.filter((market) => market !== null)
}

function Remove({ market: { id, question } }: { readonly market: Market }) {
  const { isRunning, error, run } = useAction()
  return html`<button type="button" class="quiet" aria-disabled=${isRunning}
      aria-label=${`Remove ${question} from the watchlist`} onClick=${() => run(() => setWatched(id, false))}>Remove</button>
    <${Failure} error=${error} />`
}
