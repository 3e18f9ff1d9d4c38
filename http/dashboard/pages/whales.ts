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
  stay,
} from '../parts/filters.ts'
import { mergedByTime, Unanswered, useLiveList } from '../parts/requests.ts'
import { Empty } from '../parts/states.ts'
import { table } from '../parts/tables.ts'
import { fullVenueText, useVenues, venueText } from '../parts/venues.ts'
import { hrefOf, type PageProps } from '../route.ts'

/** In dollars. The server stores trades from the first value and streams trades from the second. */
const STORED_USD_MIN = 1_000
const STREAMED_USD_MIN = 5_000
const VALUES = { min: STORED_USD_MIN, max: Number.MAX_SAFE_INTEGER, otherwise: STREAMED_USD_MIN }
const SIDES = ['', 'buy', 'sell'] as const
const SIDE_LABELS = {
  '': 'All',
  buy: 'For Yes: bought Yes or sold No',
  sell: 'For No: bought No or sold Yes',
} as const
export const WHALE_ROWS_MAX = 200
const PAGE_ROWS = 100

export function WhalesPage({ route }: PageProps) {
  const usdMin = chosenNumber(route, 'usd', VALUES)
  const platform = route.query.get('venue') ?? ''
  const side = chosen(route, 'side', SIDES)
  const venues = useVenues()
  const list = useWhales({ usdMin, platform, side })
  const { kind, rows, isCurrent, again } = list
  return html`
    <h1>Whales</h1>
    <form class="row view-filters" onSubmit=${stay}>
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
        ? html`New trades from ${usdText(STREAMED_USD_MIN)} appear automatically. Smaller ones appear when you${' '}
            <button type="button" class="inline" onClick=${again}>reload</button>.`
        : 'New trades appear automatically.'
    }</p>
    <${Unanswered} result=${list} what="large trades" hasRows=${rows.length > 0} />
    ${
      kind === 'answered' && rows.length === 0
        ? html`<${Empty}>No trade of ${usdText(usdMin)} or more yet: lower the amount, or wait for the next one.<//>`
        : null
    }
    ${rows.length === 0 ? null : html`<div class="card">${whaleTable(rows, isCurrent)}</div>`}
  `
}

const whaleTable = (rows: readonly WhaleRow[], isCurrent: boolean) =>
  table({
    ...{ list: 'large trades', kind: isCurrent ? 'stacked whales' : 'stacked whales aging', rows },
    exported: () => rows.map(recordOf),
    caption: html`<caption class="muted">The newest ${countText(rows.length)}${rows.length === WHALE_ROWS_MAX ? '; older ones are not shown' : ''}</caption>`,
    keyOf: ({ id }) => id,
    marks: ({ id, isLive }) => ({ class: isLive ? 'fresh' : '', 'data-whale': id }),
    columns: [
      ['Time', 'when', ({ timestamp_ms: ms }) => html`<${Time} atMs=${ms} style="clock" />`],
      [
        'Market',
        'question',
        ({ market_id: id, question, platform }) =>
          html`<a href=${hrefOf('market', id)}>${question}</a>
          <span class="muted below">${venueText(platform)}</span>`,
      ],
      ['Trade', 'what wide', (row) => html`<${TradedText} of=${tradedOf(row, null)} />`],
      ['Price', 'num price', (row) => html`<${Price} price=${tradedOf(row, null).price} />`],
      ['Contracts', 'num size', ({ size }) => sizeText(size)],
      ['Value', 'num usd', ({ size_usd: usd }) => usdText(usd)],
      [
        'Wallet',
        'when wallet',
        ({ wallet }) =>
          wallet === null
            ? html`<span class="muted">not disclosed</span>`
            : html`<a href=${hrefOf('wallet', wallet)} title=${wallet}>${shortId(wallet)}</a>`,
      ],
    ],
  })

export interface WhaleRow {
  readonly id: string
  readonly market_id: string
  readonly platform: string
  readonly question: string
  readonly side: string
  /** In dollars, 0 to 1, of the market's first outcome. */
  readonly price: number
  readonly size: number
  readonly size_usd: number
  /** The traded outcome's label; null: unknown. */
  readonly outcome: string | null
  /** The taker's wallet; null: unknown. */
  readonly wallet: string | null
  readonly timestamp_ms: number
  /** True if the stream delivered the trade while the page was shown. */
  readonly isLive: boolean
}

/** Columns of the export. */
const recordOf = ({ isLive: _, ...record }: WhaleRow) => record

interface WhaleFilter {
  readonly usdMin: number
  readonly platform: string
  readonly side: string
}

function useWhales(filter: WhaleFilter) {
  const { usdMin, platform, side } = filter
  return useLiveList<readonly WhaleRow[]>(
    {
      ...{ channel: 'whales', none: [] },
      load: async (signal) => {
        const query = {
          ...{ min_usd: usdMin, limit: PAGE_ROWS },
          ...{ platform: platform || null, side: side || null },
        }
        const options = { query, signal }
        const { trades } = await request<{ readonly trades: readonly object[] }>(
          '/v1/whales',
          options,
        )
        return trades.flatMap((record) => whaleRow({ ...record }, false) ?? [])
      },
      applyMessage: (rows, message) => {
        const row = message.type === 'whale' ? whaleRow(message.data, true) : null
        return row === null || !passes(row, filter)
          ? rows
          : mergedByTime([row], rows, WHALE_ROWS_MAX)
      },
      join: (rows, answer) => mergedByTime(rows, answer, WHALE_ROWS_MAX),
    },
    [usdMin, platform, side],
  )
}

/** Null if the record is invalid. */
export function whaleRow(
  record: Readonly<Record<string, unknown>>,
  isLive: boolean,
): WhaleRow | null {
  if (!isWhale(record)) return null
  const { id, market_id, platform, question, side, price, size, size_usd, timestamp_ms } = record
  return {
    ...{ id, market_id, platform, question, side, price, size, size_usd, timestamp_ms, isLive },
    ...{ outcome: textOrNull(record.outcome), wallet: textOrNull(record.wallet) },
  }
}

type Whale = Omit<WhaleRow, 'outcome' | 'wallet' | 'isLive'>
const TEXTS = ['id', 'market_id', 'platform', 'question', 'side']
const NUMBERS = ['price', 'size', 'size_usd', 'timestamp_ms']

const isWhale = (
  record: Readonly<Record<string, unknown>>,
): record is Whale & Readonly<Record<string, unknown>> =>
  TEXTS.every((name) => typeof record[name] === 'string') &&
  NUMBERS.every((name) => typeof record[name] === 'number')

export const passes = (row: WhaleRow, { usdMin, platform, side }: WhaleFilter): boolean =>
  row.size_usd >= usdMin &&
  (platform === '' || row.platform === platform) &&
  (side === '' || row.side === side)

const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null)
