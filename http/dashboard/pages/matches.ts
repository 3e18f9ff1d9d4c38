import { request } from '../api.ts'
import { countText } from '../format.ts'
import { html } from '../html.ts'
import {
  ChoiceField,
  changeQuery,
  chosen,
  chosenNumber,
  InputField,
  numberField,
  stay,
} from '../parts/filters.ts'
import { MatchCard, pairsOf } from '../parts/pair.ts'
import { useQuotes } from '../parts/quotes.ts'
import { More, Unanswered, usePages } from '../parts/requests.ts'
import { Empty } from '../parts/states.ts'
import { fetchVenues } from '../parts/venues.ts'
import type { MatchList } from '../records.ts'
import type { PageProps } from '../route.ts'

const PAGE_PAIRS = 20
const CONFIDENCES = ['', 'high', 'medium', 'low'] as const
const ORDERS = ['score', 'price_gap'] as const
const ORDER_LABELS = { score: 'Score', price_gap: 'Price gap' } as const
const SCORES = { min: 0, max: 100, otherwise: 0 }

export function MatchesPage({ route }: PageProps) {
  const confidence = chosen(route, 'confidence', CONFIDENCES)
  const scoreMin = chosenNumber(route, 'score', SCORES)
  const search = route.query.get('q') ?? ''
  const order = chosen(route, 'sort', ORDERS)
  const paged = usePages(
    async (cursor, signal) => {
      const filters = { confidence: confidence || null, search: search || null }
      const sorting = { min_score: scoreMin, sort_by: order, limit: PAGE_PAIRS, cursor }
      const query = { ...filters, ...sorting }
      const [venues, list] = await Promise.all([
        fetchVenues(signal),
        request<MatchList>('/v1/matching-markets', { query, signal }),
      ])
      const { total, cursor: next } = list
      return { pairs: pairsOf(list.matches, venues), venues, total, cursor: next }
    },
    [confidence, scoreMin, search, order],
  )
  const isNarrowed = confidence !== '' || scoreMin > 0 || search !== ''
  const pairs = paged.pages.flatMap((page) => page.pairs)
  const live = useQuotes(pairs.flatMap(({ a, b }) => [a.id, b.id]))
  const [first] = paged.pages
  return html`
    <h1>Matches</h1>
    <p class="muted">The same question on both venues. The score is the probability, in percent, that both settle
      the same way: read the explanation and any warnings before you trade on a match.</p>
    <form class="row view-filters" role="search" onSubmit=${stay}>
      <${InputField} label="Search" type="search" value=${search} choose=${(q: string) => changeQuery(route, { q })} />
      <${ChoiceField} label="Confidence" value=${confidence}
        choices=${CONFIDENCES.map((value) => [value, value === '' ? 'Any' : value])}
        choose=${(value: string) => changeQuery(route, { confidence: value })} />
      <${ChoiceField} label="Sort by" value=${order} choices=${ORDERS.map((value) => [value, ORDER_LABELS[value]])}
        choose=${(sort: string) => changeQuery(route, { sort })} />
      <${InputField} label="Minimum score" ...${numberField(route, 'score', SCORES)}
        choose=${(score: string) => changeQuery(route, { score })} />
    </form>
    <${Unanswered} result=${paged} what="matches" hasRows=${pairs.length > 0} />
    ${
      first === undefined
        ? null
        : html`
      ${
        first.total === 0 && paged.kind === 'answered'
          ? html`<${Empty} again=${paged.again}>${
              isNarrowed
                ? 'No pair passes these filters: lower the score or choose any confidence.'
                : 'No pairs yet: the catalogues are being loaded and compared.'
            }<//>`
          : null
      }
      ${first.total > 0 ? html`<p class="muted" role="status">${countText(pairs.length)} of ${countText(first.total)} pairs</p>` : null}
      <div class=${paged.isCurrent ? 'pairs' : 'pairs aging'}>
        ${pairs.map(
          (pair) =>
            html`<${MatchCard} key=${pair.a.id} pair=${pair} venues=${first.venues} live=${live} />`,
        )}
      </div>
      <${More} paged=${paged} />`
    }
  `
}
