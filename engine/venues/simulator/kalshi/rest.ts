// REST routes of venue b for series, events, markets, books, trades and games.

import type { TimeMs } from '../../../units.ts'
import type { SimEvent, SimMarket, World } from '../model.ts'
import { json, jsonText, type RestAnswer, type RestRequest, type RestServer } from '../rest.ts'
import type { ListedMarket, ListedTrade } from './combos.ts'
import { badRequest, notFound } from './errors.ts'
import {
  renderEvent,
  renderEventMetadata,
  renderSeries,
  renderSportFilters,
  renderTags,
  SeriesTable,
} from './events.ts'
import { eventFees } from './fees.ts'
import { eventFilter, marketFilter, tradeFilter } from './filters.ts'
import { pageOf, QueryReader, type Rows } from './paging.ts'
import { bookText, renderCombo, renderMarket, renderTrade } from './render.ts'
import { milestoneFilter, milestonesOf, renderMilestone, targetsOf } from './sports.ts'
import type { SimKalshiStream } from './stream.ts'
import { tradeIdOf } from './terms.ts'

const BAD_CURSOR = 'cursor must be a cursor of the previous page'

/** Handlers over one world. `add` registers them; no state between requests. */
export class KalshiRest {
  readonly #world: World
  readonly #stream: SimKalshiStream
  readonly #series: SeriesTable

  constructor(parts: { world: World; stream: SimKalshiStream }) {
    this.#world = parts.world
    this.#stream = parts.stream
    this.#series = new SeriesTable(parts.world)
  }

  add(rest: RestServer, prefix: string): void {
    rest.get(`${prefix}/series`, (request) => this.#listSeries(request))
    rest.get(`${prefix}/series/{ticker}`, (request) => this.#oneSeries(request))
    rest.get(`${prefix}/events`, (request) => this.#listEvents(request))
    rest.get(`${prefix}/events/{ticker}`, (request) => this.#oneEvent(request))
    rest.get(`${prefix}/events/{ticker}/metadata`, ({ params }) => {
      const event = this.#world.event('b', params.ticker ?? '')
      return event === null ? notFound() : json(renderEventMetadata(event))
    })
    rest.get(`${prefix}/markets`, (request) => this.#listMarkets(request))
    rest.get(`${prefix}/markets/trades`, (request) => this.#listTrades(request))
    rest.get(`${prefix}/markets/orderbooks`, (request) => this.#books(request))
    rest.get(`${prefix}/markets/{ticker}`, ({ params }) => {
      const ticker = params.ticker ?? ''
      const combo = this.#stream.combos.tradeOf(ticker)?.market
      if (combo !== undefined) {
        return json({
          market: this.#marketRow({ market: combo, combo: ticker }, this.#world.nowMs()),
        })
      }
      const market = this.#world.market('b', ticker)
      // The venue's REST API lags behind its stream: a just announced market is not there yet.
      if (market === null || this.#stream.isHidden(market)) return notFound()
      return json({ market: this.#market(market, this.#world.nowMs()) })
    })
    rest.get(`${prefix}/markets/{ticker}/orderbook`, (request) => this.#book(request))
    rest.get(`${prefix}/milestones`, (request) => this.#listMilestones(request))
    rest.get(`${prefix}/milestones/{id}`, ({ params }) => {
      const found = milestonesOf(this.#world.events('b')).find(({ id }) => id === params.id)
      if (found === undefined) return notFound()
      return json({ milestone: renderMilestone(found, this.#world.nowMs()) })
    })
    rest.get(`${prefix}/structured_targets`, (request) => this.#listTargets(request))
    rest.get(`${prefix}/structured_targets/{id}`, ({ params }) => {
      const found = targetsOf(this.#world).find(({ id }) => id === params.id)
      return found === undefined ? notFound() : json({ structured_target: found.json })
    })
    rest.get(`${prefix}/search/tags_by_categories`, () => json(renderTags(this.#world.events('b'))))
    rest.get(`${prefix}/search/filters_by_sport`, () =>
      json(renderSportFilters(this.#world.events('b'))),
    )
  }

  #listSeries({ query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const category = reader.text('category')
    const tags = reader.commaSeparated('tags')
    const minUpdated = reader.seconds('min_updated_ts')
    const options = {
      hasVolume: reader.flag('include_volume'),
      hasMetadata: reader.flag('include_product_metadata'),
      nowMs: this.#world.nowMs(),
    }
    if (reader.problem !== null) return badRequest(reader.problem)
    const series: unknown[] = []
    for (const [ticker, events] of this.#series.all()) {
      if (category !== null && events.every((event) => event.category !== category)) continue
      if (tags !== null && !events.some((event) => event.tags.some((tag) => tags.has(tag))))
        continue
      const updatedMs = events.at(-1)?.createdMs ?? 0
      if (minUpdated !== null && updatedMs / 1000 < minUpdated) continue
      series.push(renderSeries(ticker, events, options))
    }
    return json({ series })
  }

  #oneSeries({ params, query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const hasVolume = reader.flag('include_volume')
    if (reader.problem !== null) return badRequest(reader.problem)
    const ticker = params.ticker ?? ''
    const events = this.#series.all().get(ticker)
    if (events === undefined) return notFound()
    return json({
      series: renderSeries(ticker, events, {
        hasVolume,
        hasMetadata: true,
        nowMs: this.#world.nowMs(),
      }),
    })
  }

  #listEvents({ query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const isMatch = eventFilter(reader, (market) => this.#stream.metadataMs(market))
    const limit = reader.integer('limit', { min: 1, max: 200, fallback: 200 })
    const isNested = reader.flag('with_nested_markets')
    const hasMilestones = reader.flag('with_milestones')
    if (reader.problem !== null) return badRequest(reader.problem)
    const cursor = reader.text('cursor')
    const idOf = (event: SimEvent) => event.nativeId
    const page = pageOf(this.#world.events('b'), { cursor, limit, idOf, isMatch })
    if (page === null) return badRequest(BAD_CURSOR)
    const nowMs = this.#world.nowMs()
    const milestones = hasMilestones
      ? milestonesOf(page.rows).map((milestone) => renderMilestone(milestone, nowMs))
      : []
    return json({
      events: page.rows.map((event) => this.#event(event, { isNested, nowMs })),
      milestones,
      cursor: page.cursor,
    })
  }

  #oneEvent({ params, query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const isNested = reader.flag('with_nested_markets')
    if (reader.problem !== null) return badRequest(reader.problem)
    const event = this.#world.event('b', params.ticker ?? '')
    if (event === null) return notFound()
    const nowMs = this.#world.nowMs()
    const rendered = this.#event(event, { isNested, nowMs })
    const markets = isNested ? [] : event.markets.map((market) => this.#market(market, nowMs))
    return json({ event: rendered, markets })
  }

  #listMarkets({ query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const isMatch = marketFilter(reader, (market) => this.#stream.metadataMs(market))
    const limit = reader.integer('limit', { min: 1, max: 1000, fallback: 100 })
    if (reader.problem !== null) return badRequest(reader.problem)
    const cursor = reader.text('cursor')
    const idOf = ({ market, combo }: ListedMarket) => combo ?? market.listing.nativeId
    const all = this.#stream.combos.behind(this.#world.markets('b'))
    const page = pageOf(all, { cursor, limit, idOf, isMatch })
    if (page === null) return badRequest(BAD_CURSOR)
    const nowMs = this.#world.nowMs()
    const markets = page.rows.map((listed) => this.#marketRow(listed, nowMs))
    return json({ markets, cursor: page.cursor })
  }

  #marketRow({ market, combo }: ListedMarket, nowMs: TimeMs): Record<string, unknown> {
    if (combo === null) return this.#market(market, nowMs)
    return renderCombo(combo, market, { nowMs, metadataMs: this.#stream.metadataMs(market) })
  }

  #listTrades({ query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const filter = tradeFilter(reader)
    const limit = reader.integer('limit', { min: 1, max: 1000, fallback: 100 })
    if (reader.problem !== null) return badRequest(reader.problem)
    const ticker = reader.text('ticker')
    const page = pageOf(ticker === null ? this.#allTrades() : this.#tradesOf(ticker), {
      ...filter,
      limit,
      cursor: reader.text('cursor'),
      idOf: ({ trade, combo }) => tradeIdOf(trade, combo),
      isReversed: true,
    })
    if (page === null) return badRequest(BAD_CURSOR)
    const trades = page.rows.map(({ trade, combo }) => renderTrade(trade, combo))
    return json({ trades, cursor: page.cursor })
  }

  #allTrades(): Rows<ListedTrade> {
    return this.#stream.combos.among(this.#world.trades('b'))
  }

  #tradesOf(ticker: string): Rows<ListedTrade> {
    const combo = this.#stream.combos.tradeOf(ticker)
    if (combo !== null) return [{ trade: combo, combo: ticker }]
    const trades = this.#world.market('b', ticker)?.trades ?? []
    return trades.map((trade) => ({ trade, combo: null }))
  }

  #book({ params, query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const depth = reader.integer('depth', { min: 0, max: 100, fallback: 0 })
    if (reader.problem !== null) return badRequest(reader.problem)
    const market = this.#world.market('b', params.ticker ?? '')
    if (market === null) return notFound()
    return jsonText(`{"orderbook_fp":${bookText(market, depth)}}`)
  }

  #books({ query }: RestRequest): RestAnswer {
    const tickers = new QueryReader(query).repeated('tickers')
    if (tickers.length === 0 || tickers.length > 100) {
      return badRequest('tickers must be repeated 1 to 100 times')
    }
    const books: string[] = []
    for (const ticker of tickers) {
      const market = this.#world.market('b', ticker)
      if (market === null) continue
      books.push(`{"ticker":${JSON.stringify(ticker)},"orderbook_fp":${bookText(market, 0)}}`)
    }
    return jsonText(`{"orderbooks":[${books.join(',')}]}`)
  }

  #listMilestones({ query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const isMatch = milestoneFilter(reader)
    if (!reader.has('limit')) reader.reject('limit is required')
    const limit = reader.integer('limit', { min: 1, max: 500, fallback: 100 })
    if (reader.problem !== null) return badRequest(reader.problem)
    const cursor = reader.text('cursor')
    const all = milestonesOf(this.#world.events('b'))
    const page = pageOf(all, { cursor, limit, idOf: ({ id }) => id, isMatch })
    if (page === null) return badRequest(BAD_CURSOR)
    const nowMs = this.#world.nowMs()
    const milestones = page.rows.map((milestone) => renderMilestone(milestone, nowMs))
    return json({ milestones, cursor: page.cursor })
  }

  #listTargets({ query }: RestRequest): RestAnswer {
    const reader = new QueryReader(query)
    const ids = new Set(reader.repeated('ids'))
    const type = reader.text('type')
    const competition = reader.text('competition')?.toLowerCase() ?? null
    const limit = reader.integer('page_size', { min: 1, max: 2000, fallback: 100 })
    if (reader.problem !== null) return badRequest(reader.problem)
    const page = pageOf(targetsOf(this.#world), {
      cursor: reader.text('cursor'),
      limit,
      idOf: ({ id }) => id,
      isMatch: (target) =>
        (ids.size === 0 || ids.has(target.id)) &&
        (type === null || target.type === type) &&
        (competition === null || target.league === competition),
    })
    if (page === null) return badRequest(BAD_CURSOR)
    return json({ structured_targets: page.rows.map(({ json }) => json), cursor: page.cursor })
  }

  #event(event: SimEvent, form: { isNested: boolean; nowMs: TimeMs }): Record<string, unknown> {
    let updatedMs = event.createdMs
    for (const market of event.markets) {
      const metadataMs = this.#stream.metadataMs(market)
      if (metadataMs > updatedMs) updatedMs = metadataMs
    }
    const markets = form.isNested
      ? event.markets.map((market) => this.#market(market, form.nowMs))
      : null
    return { ...renderEvent(event, { updatedMs, markets }), ...eventFees(event, form.nowMs) }
  }

  #market(market: SimMarket, nowMs: TimeMs): Record<string, unknown> {
    return renderMarket(market, { nowMs, metadataMs: this.#stream.metadataMs(market) })
  }
}
