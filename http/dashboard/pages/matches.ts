import { request } from '../api.ts'
import { countText } from '../format.ts'
import { html } from '../html.ts'
import { allRows, CsvButton } from '../parts/csv-button.ts'
import {
  ChoiceField,
  changeQuery,
  chosen,
  chosenNumber,
  InputField,
  numberField,
  stay,
} from '../parts/filters.ts'
import { MatchCard, pairsOf, RELATION_LABELS } from '../parts/pair.ts'
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
const STATES = ['open', 'closed', 'resolved', 'all'] as const
const STATE_LABELS = {
  ...{ open: 'Trading', closed: 'Ended, not settled', resolved: 'Settled', all: 'All' },
} as const
const RELATIONS = ['identical', 'any', 'subset', 'superset', 'overlap', 'different'] as const
const HEADINGS = {
  ...RELATION_LABELS,
  identical: 'Same question on both venues',
  any: 'Same and similar questions',
} as const
/** Prices are compared from this score on. */
const SAME_SCORE_MIN = 80

const scoresOf = (isIdentical: boolean) =>
  ({ min: 0, max: 100, otherwise: isIdentical ? SAME_SCORE_MIN : 0 }) as const

export function MatchesPage({ route }: PageProps) {
  const confidence = chosen(route, 'confidence', CONFIDENCES)
  const relation = chosen(route, 'relation', RELATIONS)
  const status = chosen(route, 'state', STATES)
  const isIdentical = relation === 'identical'
  const scores = scoresOf(isIdentical)
  const scoreMin = chosenNumber(route, 'score', scores)
  const search = route.query.get('q') ?? ''
  const isPriced = status === 'open' && isIdentical && scoreMin >= SAME_SCORE_MIN
  const order = isPriced ? chosen(route, 'sort', ORDERS) : 'score'
  const fetchPage = (cursor: string | null, limit: number, signal?: AbortSignal) => {
    const relations = { relation: relation === 'any' ? null : relation, status }
    const filters = { confidence: confidence || null, search: search || null, ...relations }
    const sorting = { min_score: scoreMin, sort_by: order, limit, cursor }
    const query = { ...filters, ...sorting }
    return request<MatchList>('/v1/matching-markets', { query, signal })
  }
  const paged = usePages(
    async (cursor, signal) => {
      const [venues, list] = await Promise.all([
        fetchVenues(signal),
        fetchPage(cursor, PAGE_PAIRS, signal),
      ])
      const { total, cursor: next } = list
      return { pairs: pairsOf(list.matches, venues), venues, total, cursor: next }
    },
    [confidence, relation, status, scoreMin, search, order],
  )
  const isNarrowed =
    confidence !== '' ||
    status !== 'open' ||
    !['identical', 'any'].includes(relation) ||
    scoreMin !== scores.otherwise ||
    search !== ''
  const pairs = paged.pages.flatMap((page) => page.pairs)
  const live = useQuotes(pairs.flatMap(({ a, b }) => [a.id, b.id]))
  const [first] = paged.pages
  return html`
    <h1>Matches: ${HEADINGS[relation].toLowerCase()}</h1>
    <p class="muted">The score is the probability, in percent, that both markets settle the same way: read the
      explanation and any warnings before you trade on a match. Prices are compared only for the same question with a
      score of at least ${SAME_SCORE_MIN}.</p>
    <form class="row view-filters" role="search" onSubmit=${stay}>
      <${InputField} label="Search" type="search" value=${search} choose=${(q: string) => changeQuery(route, { q })} />
      <${ChoiceField} label="Confidence" value=${confidence}
        choices=${CONFIDENCES.map((value) => [value, value === '' ? 'Any' : value])}
        choose=${(value: string) => changeQuery(route, { confidence: value })} />
      <${ChoiceField} label="Questions" value=${relation}
        choices=${RELATIONS.map((value) => [value, value === 'any' ? 'Same and similar' : RELATION_LABELS[value]])}
        choose=${(value: string) => changeQuery(route, { relation: value })} />
      <${ChoiceField} label="State" value=${status}
        choices=${STATES.map((value) => [value, STATE_LABELS[value]])}
        choose=${(state: string) => changeQuery(route, { state })} />
      <${ChoiceField} label="Sort by" value=${order}
        choices=${(isPriced ? ORDERS : ORDERS.slice(0, 1)).map((value) => [value, ORDER_LABELS[value]])}
        choose=${(sort: string) => changeQuery(route, { sort })} />
      <${InputField} label="Minimum score" ...${numberField(route, 'score', scores)}
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
                ? 'No pair passes these filters: lower the score, or choose any confidence, state or similar questions.'
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
      <${CsvButton} name="matches" rows=${() => allRows(fetchPage, ({ matches }) => matches)} />
      <${More} paged=${paged} />`
    }
  `
}
