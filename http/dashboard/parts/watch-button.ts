import { html } from '../html.ts'
import { hrefOf } from '../route.ts'
import { useSignal } from '../signal.ts'
import { setWatched, watchlist } from '../watchlist.ts'
import { useAction } from './forms.ts'
import { Failure } from './states.ts'

/** Adds a market to the watchlist or removes it. Renders nothing before the watchlist has loaded. */
export function WatchButton({ marketId }: { readonly marketId: string }) {
  const ids = useSignal(watchlist)
  const { isRunning, error, run } = useAction()
  if (ids === null) return null
  const isWatched = ids.includes(marketId)
  return html`<button type="button" aria-pressed=${String(isWatched)} aria-disabled=${isRunning}
      onClick=${() => run(() => setWatched(marketId, !isWatched))}>${isWatched ? '★ Watched' : '☆ Watch'}</button>
    <${Failure} error=${error} />`
}

interface AlertLinkProps {
  /** Event types, separated by commas. */
  readonly events: string
  readonly filters: Readonly<Record<string, string>>
}

/** Opens the form of a new webhook with these events and filters. */
export const AlertLink = ({ events, filters }: AlertLinkProps) =>
  html`<a class="button" href=${hrefOf('webhooks', null, { events, ...filters })}>Alert me</a>`
