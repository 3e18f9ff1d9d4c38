import { useState } from 'preact/hooks'
import type { BookView, Level } from '../../client/connect.ts'
import { request } from '../api.ts'
import { percentText, priceText, sizeText, usdText } from '../format.ts'
import { html } from '../html.ts'
import type { Market, Opportunity, OpportunityQuote } from '../records.ts'
import { hrefOf } from '../route.ts'
import { BOOK_STATE_LABELS, decimalsOf, ladder, ladderOf, useBook } from './book.ts'
import { Profit } from './figures.ts'
import { InputField } from './filters.ts'
import { MarketRules } from './market-facts.ts'
import { fetchMatchedMarket } from './matched-market.ts'
import type { OpportunityRow } from './opportunity-list.ts'
import { isComparable, MatchTags } from './pair.ts'
import { complementOf } from './quotes.ts'
import { Unanswered, useRequest } from './requests.ts'
import { Empty, Waiting } from './states.ts'
import { venueText } from './venues.ts'

type Leg = Opportunity['legs'][number]
type Sides = Pick<BookView, 'bids' | 'asks'>

/** Minimum levels on each side, and levels after the last level that the opportunity takes. */
const LEVELS = 8
const LEVELS_BEHIND = 2
/** Maximum books shown. An event may have dozens of outcomes. */
const BOOKS_MAX = 6

export const CLOSE_REASONS: Readonly<Record<string, string>> = {
  prices: 'the prices or fees leave nothing',
  stale: 'a book may be out of date',
  market_closed: 'a market no longer trades',
  match_changed: 'its markets no longer match',
  stopped: 'the service was stopped',
  restarted: 'the service was restarted',
}

const QUOTE_REASONS: Readonly<Record<NonNullable<OpportunityQuote['reason']>, string>> = {
  stale_book: 'A book may be out of date.',
  fee_unknown: 'A venue states no fee.',
  not_open: 'A market does not trade.',
  no_depth: 'A book offers fewer contracts.',
  not_identical: 'The markets no longer match.',
  no_profit: 'Less than a cent is left after fees.',
  below_minimum: 'A venue does not accept an order of this size.',
}
const SIZES = { min: 0.01, max: 1_000_000, step: 0.01 }
const QUOTE_MS = 10_000

/** Quotes `size` contracts of each leg; null: nothing. */
function useQuote({ id, legs }: Opportunity, size: number | null) {
  return useRequest(
    (signal) => {
      const outcomes = legs.map(({ market_id, outcome }) => ({ market_id, outcome }))
      const body = { legs: outcomes, contracts: size }
      return request<OpportunityQuote>('/v1/arbitrage/quote', { method: 'POST', body, signal })
    },
    [id, size],
    { periodMs: QUOTE_MS, isWanted: size !== null },
  )
}

function quoteText({ reason, min_contracts: least }: OpportunityQuote): string {
  if (reason === null) return 'The figures below are for your size.'
  const text = `Your size cannot be quoted. ${QUOTE_REASONS[reason]}`
  return least === null ? text : `${text} At least ${sizeText(least)} contracts are accepted.`
}

export function OpportunityDetail({
  row: { one: found, ended },
}: {
  readonly row: OpportunityRow
}) {
  const [size, setSize] = useState<number | null>(null)
  const quote = useQuote(found, size)
  const one = (size === null ? null : quote.answer?.opportunity) ?? found
  const { legs, kind, contracts } = one
  const { id } = found
  const isFound = one === found
  return html`<div class="stack opportunity" data-opportunity=${id}>
    ${
      ended === null
        ? null
        : html`<p class="state incomplete"><strong>It has ended:</strong> ${CLOSE_REASONS[ended] ?? ended}.${isFound ? ' Below is its last state.' : ''} The books stay live.</p>`
    }
    <div class="row own-size">
      <${InputField} label="Your size (contracts)" type="number" value=${size === null ? '' : String(size)} bounds=${SIZES}
        choose=${(text: string) => setSize(text === '' ? null : Number(text))} />
      ${
        size === null
          ? html`<p class="muted">Empty: the most profitable size, ${sizeText(found.contracts)} contracts.</p>`
          : html`<${Unanswered} result=${quote} what="the quote" />
            ${quote.answer === null ? null : html`<p role="status" data-quote=${quote.answer.reason ?? 'possible'}>${quoteText(quote.answer)}</p>`}
            ${isFound ? html`<p class="muted" data-other-size>The figures below are for ${sizeText(found.contracts)} contracts, not for your size.</p>` : null}`
      }
    </div>
    <div class="leg-books">
      ${legs.slice(0, BOOKS_MAX).map((leg) => html`<${LegBook} key=${leg.market_id} leg=${leg} name=${nameOf(kind, leg)} contracts=${isFound && ended !== null ? 0 : contracts} />`)}
    </div>
    ${legs.length > BOOKS_MAX ? html`<p class="muted">The books of the first ${BOOKS_MAX} of ${legs.length} outcomes.</p>` : null}
    ${costs(one)}
    ${kind === 'cross_venue' ? html`<${Rules} marketId=${legs[0]?.market_id ?? ''} />` : html`<p>${one.explanation}</p>`}
  </div>`
}

/** Legs within one venue are named by their question, since most have the same outcome. */
function nameOf(kind: Opportunity['kind'], { outcome, platform, question }: Leg): string {
  return kind === 'cross_venue' ? `${outcome} at ${venueText(platform)}` : `${outcome}: ${question}`
}

function LegBook({
  leg,
  name,
  contracts,
}: {
  readonly leg: Leg
  readonly name: string
  readonly contracts: number
}) {
  const { market_id: id, platform } = leg
  const { book, state } = useBook(id, platform)
  return html`<section class="book" data-leg=${id} data-state=${state} data-seq=${book?.seq ?? null}>
    <div class="row panel-head">
      <h2><a href=${hrefOf('market', id)}>${name}</a></h2>
      <span class=${`tag book-state ${state}`}>${BOOK_STATE_LABELS[state]}</span>
    </div>
    ${book === null ? html`<${Waiting} what="the book" />` : marked(book, leg, contracts)}
  </section>`
}

function marked(book: BookView, { is_first_outcome: isFirst }: Leg, contracts: number) {
  const { bids, asks } = isFirst ? book : invertBook(book)
  const taken = takenOf(asks, contracts)
  const takenLevels = taken.filter((size) => size > 0).length
  const levels = takenLevels === 0 ? LEVELS : Math.max(LEVELS, takenLevels + LEVELS_BEHIND)
  const best = { bids: bids.slice(0, LEVELS), asks: asks.slice(0, levels) }
  const { spread, midPrice } = book
  const middle = midPrice === null || isFirst ? midPrice : complementOf(midPrice)
  return ladder(ladderOf(best), { spread, midPrice: middle }, decimalsOf(best), taken)
}

/** The book of the other outcome. An ask for one outcome is a bid for the other outcome. */
export function invertBook({ bids, asks }: Sides): Sides {
  const other = ({ price, size }: Level): Level => ({ price: complementOf(price), size })
  return { bids: asks.map(other), asks: bids.map(other) }
}

/** Contracts taken from each ask, cheapest first. Sizes are rounded down to hundredths. */
export function takenOf(asks: readonly Level[], contracts: number): readonly number[] {
  let left = hundredths(contracts)
  return asks.map(({ size }) => {
    const taken = Math.min(left, hundredths(size))
    left -= taken
    return taken / 100
  })
}

/**
 * Rounds down to hundredths. Rounding to millionths first removes floating-point errors, since sizes are multiples of a
 * millionth.
 */
const hundredths = (size: number): number => Math.floor(Math.round(size * 1e6) / 1e4)

function costs(one: Opportunity) {
  const { legs, contracts } = one
  return html`<div class="scroll-x"><table class="list leg-costs">
      <caption>Cost of ${sizeText(contracts)} contracts of each outcome. The fee is the most that the venue may charge. The venues accept ${sizeText(one.min_contracts)} contracts or more.</caption>
      <thead><tr>
        <th scope="col">Buy</th><th scope="col" class="num">Average price</th>
        <th scope="col" class="num">Cost before fees</th><th scope="col" class="num">Fee</th>
      </tr></thead>
      <tbody>
        ${legs.map(
          (leg) => html`<tr key=${leg.market_id} data-fee-of=${leg.market_id}>
            <th scope="row"><a href=${hrefOf('market', leg.market_id)}>${nameOf(one.kind, leg)}</a></th>
            <td class="num">${priceText(leg.avg_price)}</td>
            <td class="num">${usdText(leg.cost_usd)}</td>
            <td class="num fee">${usdText(leg.fee_usd)}</td>
          </tr>`,
        )}
        <tr>
          <th scope="row">Total</th>
          <td class="num">${priceText(one.cost_usd / contracts)}</td>
          <td class="num">${usdText(one.cost_usd)}</td>
          <td class="num">${usdText(one.fees_usd)}</td>
        </tr>
      </tbody>
    </table></div>
    <dl class="figures">
      <div><dt>${one.payout_note === null ? 'Payout, whatever the result' : 'Payout, if the result is an outcome'}</dt> <dd>${usdText(one.payout_usd)}</dd></div>
      <div data-figure="profit"><dt>Profit after fees</dt> <dd><${Profit} usd=${one.profit_usd} /></dd></div>
      <div><dt>Profit per contract</dt> <dd>${priceText(one.edge)}</dd></div>
      <div><dt>Return on cost</dt> <dd>${percentText(one.return)}</dd></div>
      <div><dt>Annualized, to the last close</dt> <dd>${percentText(one.annualised)}</dd></div>
    </dl>
    ${one.payout_note === null ? null : html`<p class="state incomplete" data-payout-note>${one.payout_note}</p>`}`
}

function Rules({ marketId }: { readonly marketId: string }) {
  // Loaded on demand, because the first page must not wait for the chart library.
  const chart = useRequest(async () => (await import('../charts/pair-chart.ts')).PairChart, [])
  const result = useRequest(
    async (signal) => {
      const path = `/v1/markets/${encodeURIComponent(marketId)}`
      const market = await request<Market>(path, { signal })
      return { market, ...(await fetchMatchedMarket(market, signal)) }
    },
    [marketId],
  )
  if (result.answer === null) return html`<${Unanswered} result=${result} what="the rules" />`
  const { market, matchedMarket } = result.answer
  if (matchedMarket === null) return html`<${Empty}>The markets no longer match.<//>`
  const { match } = matchedMarket
  return html`<section class="stack rules-apart" aria-label="Where the rules may differ">
    <${MatchTags} match=${match} />
    <p>${match.explanation}${match.vetoes.length === 0 ? ' No difference was found. The rules of the venues decide:' : ''}</p>
    ${
      isComparable(match) && chart.answer !== null
        ? html`<${chart.answer} market=${market} matchedMarket=${matchedMarket.market} isInverted=${match.inverted === true} />`
        : null
    }
    <div class="leg-books">
      ${[market, matchedMarket.market].map(
        (each) =>
          html`<${MarketRules} key=${each.id} market=${each} title=${`${venueText(each.platforms[0]?.platform)}: ${each.question}`} />`,
      )}
    </div>
  </section>`
}
