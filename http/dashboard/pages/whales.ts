// Live list of large trades on both venues, newest first, filtered by value, venue and side.

import { request } from '../api.ts'
import { countText, shortId, sizeText, usdText } from '../format.ts'
import { html } from '../html.ts'
import { Price, Time, TradedText, tradedOf } from '../parts/figures.ts'
import {
  ChoiceField,
  changeQuery,
  chosen,
  chosenNumber,
  InputField,
  numberField,
} from '../parts/filters.ts'
import { useLiveList } from '../parts/requests.ts'
import { Empty, Failure, Waiting } from '../parts/states.ts'
import { fullVenueText, useVenues, venueText } from '../parts/venues.ts'
import { hrefOf, type PageProps } from '../route.ts'

/** The server stores large trades from 1,000 dollars and streams those from 5,000 dollars. */
const STORED_USD_MIN = 1_000
const STREAMED_USD_MIN = 5_000
const VALUES = { min: STORED_USD_MIN, max: Number.MAX_SAFE_INTEGER, otherwise: STREAMED_USD_MIN }
const SIDES = ['', 'buy', 'sell'] as const
const SIDE_LABELS = {
  '': 'All',
  buy: 'For Yes: bought Yes or sold No',
  sell: 'For No: bought No or sold Yes',
} as const

export function WhalesPage({ route }: PageProps) {
  const usdMin = chosenNumber(route, 'usd', VALUES)
  const platform = route.query.get('venue') ?? ''
  const side = chosen(route, 'side', SIDES)
  const venues = useVenues()
  const { kind, error, rows, again } = useWhales({ usdMin, platform, side })
  return html`
    <h1>Whales</h1>
    <form class="row view-filters" onSubmit=${(event: Event) => event.preventDefault()}>
      <${InputField} label="Minimum value (USD)" ...${numberField(route, 'usd', VALUES)}
        choose=${(usd: string) => changeQuery(route, { usd })} />
      <${ChoiceField} label="Venue" value=${platform}
        choices=${[['', 'All'], ...venues.map((name) => [name, fullVenueText(name)])]}
        choose=${(venue: string) => changeQuery(route, { venue })} />
      <${ChoiceField} label="Side" value=${side}
        choices=${SIDES.map((value) => [value, SIDE_LABELS[value]])}
        choose=${(value: string) => changeQuery(route, { side: value })} />
    </form>
    <p class="muted">${
      usdMin < STREAMED_USD_MIN
        ? html`New trades appear by themselves from ${usdText(STREAMED_USD_MIN)} on; smaller ones when you${' '}
            <button type="button" class="inline" onClick=${again}>ask again</button>.`
        : 'New trades appear by themselves.'
    }</p>
    ${kind === 'waiting' && rows.length === 0 ? html`<${Waiting} what="large trades" />` : null}
    ${kind === 'failed' ? html`<${Failure} error=${error} retry=${again} />` : null}
    ${
      kind === 'answered' && rows.length === 0
        ? html`<${Empty}>No trade of ${usdText(usdMin)} or more yet: lower the amount, or wait for the next one.<//>`
        : null
    }
    ${rows.length === 0 ? null : tape(rows)}
  `
}

function tape(rows: readonly WhaleRow[]) {
  return html`<div class="card"><div class="scroll-x"><table class="list stacked whales">
    <caption class="muted">The newest ${countText(rows.length)}${rows.length === WHALE_ROWS_MAX ? '; older ones are left out' : ''}</caption>
    <thead><tr>
      <th scope="col">Time</th><th scope="col">Market</th><th scope="col">Trade</th>
      <th scope="col" class="num">Price</th><th scope="col" class="num">Contracts</th>
      <th scope="col" class="num">Value</th><th scope="col">Wallet</th>
    </tr></thead>
    <tbody>${rows.map((row) => html`<${Row} key=${row.id} row=${row} />`)}</tbody>
  </table></div></div>`
}

function Row({ row }: { readonly row: WhaleRow }) {
  const { marketId, question, wallet } = row
  const done = tradedOf(row, null)
  return html`<tr class=${row.isLive ? 'fresh' : ''} data-whale=${row.id}>
    <td class="when" data-label="Time"><${Time} atMs=${row.atMs} style="clock" /></td>
    <td class="question"><a href=${hrefOf('market', marketId)}>${question}</a>
      <span class="muted below">${venueText(row.platform)}</span></td>
    <td class="what wide"><${TradedText} of=${done} /></td>
    <td class="num price" data-label="Price"><${Price} price=${done.price} /></td>
    <td class="num size" data-label="Contracts">${sizeText(row.size)}</td>
    <td class="num usd" data-label="Value">${usdText(row.usd)}</td>
    <td class="when wallet" data-label="Wallet">${
      wallet === null
        ? html`<span class="muted">not disclosed</span>`
        : html`<a href=${hrefOf('wallet', wallet)} title=${wallet}>${shortId(wallet)}</a>`
    }</td>
  </tr>`
}

// Live list of large trades, merged from REST and the stream without duplicates, newest first, with a bounded
// length.

/** A large trade. Price and side are in terms of the market's first outcome (parts/traded.ts converts them). */
export interface WhaleRow {
  readonly id: string
  readonly marketId: string
  readonly platform: string
  readonly question: string
  readonly side: string
  /** In dollars, 0 to 1. */
  readonly price: number
  /** Contracts. */
  readonly size: number
  readonly usd: number
  /** The traded outcome; null: unknown. */
  readonly outcome: string | null
  /** The taker's wallet; null: unknown. */
  readonly wallet: string | null
  readonly atMs: number
  /** Received from the stream while the page was shown. */
  readonly isLive: boolean
}

/** An empty string matches all. */
interface WhaleFilter {
  readonly usdMin: number
  readonly platform: string
  readonly side: string
}

export const WHALE_ROWS_MAX = 200

interface Answer {
  readonly trades: readonly Readonly<Record<string, unknown>>[]
}

const NO_ROWS: readonly WhaleRow[] = []
const PAGE_ROWS = 100

/** Large trades that match the filter; `again` reloads. */
export function useWhales(filter: WhaleFilter) {
  const { usdMin, platform, side } = filter
  return useLiveList(
    {
      channel: 'whales',
      none: NO_ROWS,
      load: (signal) => fetchWhales(filter, signal),
      applyMessage: (rows, message) => {
        const row = message.type === 'whale' ? whaleRow(message.data, true) : null
        return row === null || !passes(row, filter) ? rows : merged([row], rows)
      },
      join: merged,
    },
    [usdMin, platform, side],
  )
}

async function fetchWhales(
  { usdMin, platform, side }: WhaleFilter,
  signal: AbortSignal,
): Promise<readonly WhaleRow[]> {
  const query = {
    min_usd: usdMin,
    platform: platform === '' ? null : platform,
    side: side === '' ? null : side,
    limit: PAGE_ROWS,
  }
  const { trades } = await request<Answer>('/v1/whales', { query, signal })
  return trades.flatMap((record) => whaleRow(record, false) ?? [])
}

/** Converts a record to a row; null if it is invalid. */
export function whaleRow(
  record: Readonly<Record<string, unknown>>,
  isLive: boolean,
): WhaleRow | null {
  const { id, market_id, platform, question, side, price, size, size_usd, timestamp_ms } = record
  const texts = [id, market_id, platform, question, side]
  const numbers = [price, size, size_usd, timestamp_ms]
  if (!texts.every((value) => typeof value === 'string')) return null
  if (!numbers.every((value) => typeof value === 'number')) return null
  return {
    id: String(id),
    marketId: String(market_id),
    platform: String(platform),
    question: String(question),
    side: String(side),
    price: Number(price),
    size: Number(size),
    usd: Number(size_usd),
    outcome: textOrNull(record.outcome),
    wallet: textOrNull(record.wallet),
    atMs: Number(timestamp_ms),
    isLive,
  }
}

export const passes = (row: WhaleRow, { usdMin, platform, side }: WhaleFilter): boolean =>
  row.usd >= usdMin &&
  (platform === '' || row.platform === platform) &&
  (side === '' || row.side === side)

/** Merges two lists without duplicates, newest first, up to the maximum length. */
export function merged(one: readonly WhaleRow[], other: readonly WhaleRow[]): readonly WhaleRow[] {
  const byId = new Map([...other, ...one].map((row) => [row.id, row]))
  return [...byId.values()].sort((a, b) => b.atMs - a.atMs).slice(0, WHALE_ROWS_MAX)
}

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
