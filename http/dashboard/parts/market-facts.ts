import { useId, useState } from 'preact/hooks'
import { nowMs } from '../browser.ts'
import { countText, durationText, priceText, volumeText } from '../format.ts'
import { html } from '../html.ts'
import type { Market } from '../records.ts'
import { hrefOf } from '../route.ts'
import { useSignal } from '../signal.ts'
import { feeds, streamState } from '../stream.ts'
import { ChangingPrice, Time } from './figures.ts'
import { priceOfOutcome, useLivePrice, useLivePrices } from './quotes.ts'
import { fullVenueText } from './venues.ts'
import { AlertLink, WatchButton } from './watch-button.ts'

export function MarketTitle({ market }: { readonly market: Market }) {
  const {
    question,
    status,
    category,
    platforms,
    event_slug: event,
    resolution_status: resolution,
  } = market
  const [own] = platforms
  const link = safeLink(own?.url ?? null)
  const end = endText(market)
  const result = resultText(market)
  return html`<header class="stack market-title">
    <h1>${question}</h1>
    ${end === null ? null : html`<p class="notice" data-end=${status}><strong>${end}</strong></p>`}
    ${result === null ? null : html`<p class="notice" data-resolution=${resolution}><strong>${result}</strong></p>`}
    <p class="row">
      <span class=${`tag status ${status}`}>${status}</span>
      ${category === null ? null : html`<span class="tag">${category}</span>`}
      ${
        link === null
          ? html`<span>${fullVenueText(own?.platform)}</span>`
          : html`<a href=${link} target="_blank" rel="noopener noreferrer">${fullVenueText(own?.platform)} ↗</a>`
      }
      <${WatchButton} marketId=${market.id} />
      ${event === null ? null : html`<a href=${hrefOf('event', event)}>Event</a>`}
      ${status === 'resolved' ? null : html`<${AlertLink} events="price.changed,market.resolved" filters=${{ market_ids: market.id }} />`}
      ${status === 'open' ? html`<${FeedStatus} platform=${own?.platform ?? ''} />` : null}
    </p>
  </header>`
}

function FeedStatus({ platform }: { readonly platform: string }) {
  const lastFeed = useSignal(feeds).get(platform)
  // Ignores a feed state from before a disconnect.
  const isConnected = ['live', 'catching_up'].includes(useSignal(streamState).state)
  const feed = isConnected ? lastFeed : undefined
  const lag = feed?.lag_ms ?? null
  return html`<span class="muted" data-feed=${feed?.state ?? 'unknown'}>
    feed ${feed?.state ?? 'not known'}${lag === null ? '' : `, ${durationText(lag)} behind the venue`}
  </span>`
}

/** True after the market's close time. */
export const isOver = ({ close_time: atSeconds }: Market): boolean =>
  atSeconds !== null && atSeconds * 1_000 <= nowMs()

/** A venue may keep a market open after its scheduled close. */
function closeLabel(market: Market): string {
  if (!isOver(market)) return 'Closes'
  return market.status === 'open' ? 'Scheduled close' : 'Closed'
}

/** Null if the market is open. */
export function endText(market: Market): string | null {
  const { status, outcomes } = market
  if (status === 'open') return null
  if (status === 'closed')
    return isOver(market)
      ? 'Trading has ended. There is no final result yet.'
      : 'This market does not trade now.'
  if (market.settlement_price === null) return 'Resolved. The payout is not known yet.'
  const winner = outcomes.find(({ price }) => price === 1)
  if (winner !== undefined) return `Settled: ${winner.label}`
  return `Settled: ${outcomes.map(({ label, price }) => `${label} ${priceText(price)}`).join(', ')}`
}

/** Text for a proposed or disputed result; null if there is none. */
export function resultText({ status, resolution_status: resolution }: Market): string | null {
  if (status === 'resolved') return null
  if (resolution === 'proposed') return 'A result is proposed. It may still be disputed.'
  return resolution === 'disputed' ? 'The proposed result is disputed.' : null
}

const VOLUME_UNIT_LABELS = {
  usd_traded: 'dollars paid',
  usd_notional: 'contracts of $1',
} as const

export function MarketOutcomes({
  market,
  decimals,
}: {
  readonly market: Market
  /** Minimum decimals of a price in cents. */
  readonly decimals: number
}) {
  const live = useLivePrice(useLivePrices([market.id]), market.id)
  // A resolved market shows its settlement price from REST. The last streamed price is that of a trade.
  const trading = market.status === 'resolved' ? null : (live?.price ?? null)
  const first = trading ?? market.outcomes[0]?.price ?? null
  return html`<section class="card" aria-labelledby="outcomes-title">
    <h2 id="outcomes-title">Outcomes</h2>
    <ul class="row outcomes-large">
      ${market.outcomes.map(
        ({ label, price }, index) => html`<li key=${index}>
          <span class="label">${label}</span>
          <${ChangingPrice} price=${index < 2 && first !== null ? priceOfOutcome(first, index) : price} decimals=${decimals} />
        </li>`,
      )}
    </ul>
    <dl class="market-facts">
      <div><dt>Volume 24 h</dt> <dd>${volumeText(market.volume_24h, market.volume_unit)}</dd></div>
      <div><dt>Total volume</dt> <dd>${volumeText(market.volume_total, market.volume_unit)}</dd></div>
      <div><dt>Volume counts</dt> <dd>${VOLUME_UNIT_LABELS[market.volume_unit]}</dd></div>
      <div><dt>Open interest</dt> <dd>${countText(market.open_interest)}</dd></div>
      <div><dt>Opened</dt> <dd><${Time} seconds=${market.created_at} /></dd></div>
      <div><dt>${closeLabel(market)}</dt> <dd><${Time} seconds=${market.close_time} /></dd></div>
    </dl>
  </section>`
}

const RULES_SHOWN = 600

export function MarketRules({
  market,
  title = 'Rules',
}: {
  readonly market: Market
  readonly title?: string
}) {
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const text = market.description?.trim() ?? ''
  const isLong = text.length > RULES_SHOWN
  return html`<section class="card rules" aria-labelledby=${id}>
    <h2 id=${id}>${title}</h2>
    ${
      text === ''
        ? html`<p class="muted">The venue publishes none.</p>`
        : html`<p class="as-written">${isLong && !isOpen ? foldedText(text) : text}</p>`
    }
    ${
      isLong
        ? html`<button type="button" class="quiet" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
            ${isOpen ? 'Collapse the rules' : 'Show all rules'}
          </button>`
        : null
    }
  </section>`
}

/** Cuts a long text after a complete word. */
export function foldedText(text: string): string {
  const beginning = text.slice(0, RULES_SHOWN)
  const end = beginning.search(/\s\S*$/)
  return `${end <= 0 ? beginning : beginning.slice(0, end)} …`
}

/** Null unless the URL uses https. */
export function safeLink(address: string | null): string | null {
  if (address === null || !URL.canParse(address)) return null
  const url = new URL(address)
  return url.protocol === 'https:' ? url.href : null
}
