// REST routes of venue b for series, events, markets, books, trades, games and fee changes.

import type { TimeMs } from '../../../units.ts'
import type { SimEvent, SimMarket, World } from '../model.ts'
import { json, jsonText, Refusal, type RestAnswer, type RestServer } from '../rest.ts'
import type { ListedMarket, ListedTrade } from './combos.ts'
import { renderEvent, renderEventMetadata, renderSeries, renderTags, seriesOf } from './events.ts'
import { eventChanges, eventFees, hasOwnFees, seriesChanges } from './fees.ts'
import { eventFilter, marketFilter, tradeFilter } from './filters.ts'
import { badRequest, notFound, pageOf, QueryReader, type Rows } from './paging.ts'
import { bookText, renderCombo, renderMarket, renderTrade } from './render.ts'
import { milestonesOf, renderMilestone, targetsOf } from './sports.ts'
import type { SimKalshiStream } from './stream.ts'
import { tradeIdOf } from './terms.ts'

/** Throws the venue's 404 if the value is null or undefined. */
export function found<Value>(value: Value | null | undefined): Value {
  if (value === null || value === undefined) throw new Refusal(notFound())
  return value
}

export class KalshiRest {
  readonly #world: World
  readonly #stream: SimKalshiStream

  constructor(parts: { world: World; stream: SimKalshiStream }) {
    this.#world = parts.world
    this.#stream = parts.stream
  }

  add(rest: RestServer, prefix: string): void {
    const world = this.#world
    const get = (
      path: string,
      answer: (query: QueryReader, name: string) => Record<string, unknown> | RestAnswer,
    ): void => {
      rest.get(`${prefix}${path}`, ({ params, query }) => {
        const answered = answer(new QueryReader(query), params.name ?? '')
        return isAnswer(answered) ? answered : json(answered)
      })
    }
    get('/series', (query) => this.#listSeries(query))
    get('/series/fee_changes', (query) => this.#seriesFees(query))
    get('/series/{name}', (query, ticker) => {
      const hasVolume = query.flag('include_volume')
      const events = found(seriesOf(this.#world.events('b')).get(ticker))
      const options = { hasVolume, hasMetadata: true, nowMs: world.nowMs() }
      return { series: renderSeries(ticker, events, options) }
    })
    get('/events', (query) => this.#listEvents(query))
    get('/events/fee_changes', (query) => this.#eventFees(query))
    get('/events/{name}', (query, ticker) => {
      const isNested = query.flag('with_nested_markets')
      const event = found(world.event('b', ticker))
      const nowMs = world.nowMs()
      const markets = isNested ? [] : event.markets.map((market) => this.#market(market, nowMs))
      return { event: this.#event(event, { isNested, nowMs }), markets }
    })
    get('/events/{name}/metadata', (_, ticker) => {
      return renderEventMetadata(found(world.event('b', ticker)))
    })
    get('/markets', (query) => this.#listMarkets(query))
    get('/markets/trades', (query) => this.#listTrades(query))
    get('/markets/orderbooks', (query) => this.#books(query))
    get('/markets/{name}', (_, ticker) => this.#oneMarket(ticker))
    get('/markets/{name}/orderbook', (query, ticker) => {
      const depth = query.integer('depth', { min: 0, max: 100, fallback: 0 })
      const market = found(world.market('b', ticker))
      return jsonText(`{"orderbook_fp":${bookText(market, depth)}}`)
    })
    get('/milestones', (query) => this.#listMilestones(query))
    get('/milestones/{name}', (_, id) => {
      const milestone = found(milestonesOf(world.events('b')).find((each) => each.id === id))
      return { milestone: renderMilestone(milestone, world.nowMs()) }
    })
    get('/structured_targets', (query) => this.#listTargets(query))
    get('/search/tags_by_categories', () => renderTags(world.events('b')))
  }

  #listSeries(query: QueryReader): Record<string, unknown> {
    const options = {
      hasVolume: query.flag('include_volume'),
      hasMetadata: query.flag('include_product_metadata'),
      nowMs: this.#world.nowMs(),
    }
    const all = [...seriesOf(this.#world.events('b'))]
    return { series: all.map(([ticker, events]) => renderSeries(ticker, events, options)) }
  }

  #seriesFees(query: QueryReader): Record<string, unknown> {
    const hasPast = query.flag('show_historical')
    const only = query.text('series_ticker')
    const tickers = [...seriesOf(this.#world.events('b')).keys()].filter(
      (each) => only === null || each === only,
    )
    const nowMs = this.#world.nowMs()
    return {
      series_fee_change_arr: tickers.flatMap((ticker) => seriesChanges(ticker, nowMs, hasPast)),
    }
  }

  #eventFees(query: QueryReader): Record<string, unknown> {
    const hasPast = query.flag('show_historical')
    const only = query.text('event_ticker')
    const onlyEvent = only === null ? null : this.#world.event('b', only)
    const { rows, cursor } = pageOf(query, this.#world.events('b'), {
      limit: { name: 'limit', max: 1_000, fallback: 100 },
      idOf: (event) => event.nativeId,
      isMatch: (event) => hasOwnFees(event) && (only === null || event === onlyEvent),
    })
    const nowMs = this.#world.nowMs()
    return {
      event_fee_changes: rows.flatMap((event) => eventChanges(event, nowMs, hasPast)),
      cursor,
    }
  }

  #listEvents(query: QueryReader): Record<string, unknown> {
    const isMatch = eventFilter(query, this.#world)
    const isNested = query.flag('with_nested_markets')
    const hasMilestones = query.flag('with_milestones')
    const { rows, cursor } = pageOf(query, this.#world.events('b'), {
      limit: { name: 'limit', max: 200, fallback: 200 },
      idOf: (event) => event.nativeId,
      isMatch,
    })
    const nowMs = this.#world.nowMs()
    const games = hasMilestones ? milestonesOf(rows) : []
    return {
      events: rows.map((event) => this.#event(event, { isNested, nowMs })),
      milestones: games.map((milestone) => renderMilestone(milestone, nowMs)),
      cursor,
    }
  }

  #oneMarket(ticker: string): Record<string, unknown> {
    const nowMs = this.#world.nowMs()
    const combo = this.#stream.combos.tradeOf(ticker)
    if (combo !== null) {
      return { market: this.#marketRow({ market: combo.market, combo: ticker }, nowMs) }
    }
    const market = found(this.#world.market('b', ticker))
    // The venue's REST API lags behind its stream, so it lacks a market that was just announced.
    return { market: this.#market(found(this.#stream.isHidden(market) ? null : market), nowMs) }
  }

  #listMarkets(query: QueryReader): Record<string, unknown> {
    const { rows, cursor } = pageOf(query, this.#stream.combos.behind(this.#world.markets('b')), {
      limit: { name: 'limit', max: 1_000, fallback: 100 },
      idOf: ({ market, combo }) => combo ?? market.listing.nativeId,
      isMatch: marketFilter(query, this.#world, (market) => this.#stream.metadataMs(market)),
    })
    const nowMs = this.#world.nowMs()
    return { markets: rows.map((listed) => this.#marketRow(listed, nowMs)), cursor }
  }

  #marketRow({ market, combo }: ListedMarket, nowMs: TimeMs): Record<string, unknown> {
    if (combo === null) return this.#market(market, nowMs)
    return renderCombo(combo, market, { nowMs, metadataMs: this.#stream.metadataMs(market) })
  }

  #listTrades(query: QueryReader): Record<string, unknown> {
    const ticker = query.text('ticker')
    const { rows, cursor } = pageOf(query, this.#tradesOf(ticker), {
      ...tradeFilter(query),
      limit: { name: 'limit', max: 1_000, fallback: 100 },
      idOf: ({ trade, combo }) => tradeIdOf(trade, combo),
      isReversed: true,
    })
    return { trades: rows.map(({ trade, combo }) => renderTrade(trade, combo)), cursor }
  }

  /** Null: trades of all markets and combinations. */
  #tradesOf(ticker: string | null): Rows<ListedTrade> {
    const { combos } = this.#stream
    if (ticker === null) return combos.among(this.#world.trades('b'))
    const combo = combos.tradeOf(ticker)
    if (combo !== null) return [{ trade: combo, combo: ticker }]
    const trades = this.#world.market('b', ticker)?.trades ?? []
    return trades.map((trade) => ({ trade, combo: null }))
  }

  #books(query: QueryReader): RestAnswer {
    const tickers = query.repeated('tickers')
    if (tickers.length === 0 || tickers.length > 100) {
      throw badRequest('tickers must be repeated 1 to 100 times')
    }
    const books = tickers.flatMap((ticker) => {
      const market = this.#world.market('b', ticker)
      if (market === null) return []
      return [`{"ticker":${JSON.stringify(ticker)},"orderbook_fp":${bookText(market, 0)}}`]
    })
    return jsonText(`{"orderbooks":[${books.join(',')}]}`)
  }

  #listMilestones(query: QueryReader): Record<string, unknown> {
    if (!query.has('limit')) throw badRequest('limit is required')
    const category = query.text('category')
    const { rows, cursor } = pageOf(query, milestonesOf(this.#world.events('b')), {
      limit: { name: 'limit', max: 500, fallback: 100 },
      idOf: ({ id }) => id,
      isMatch: () => category === null || category === 'Sports',
    })
    const nowMs = this.#world.nowMs()
    return { milestones: rows.map((milestone) => renderMilestone(milestone, nowMs)), cursor }
  }

  #listTargets(query: QueryReader): Record<string, unknown> {
    const ids = new Set(query.repeated('ids'))
    const { rows, cursor } = pageOf(query, targetsOf(this.#world), {
      limit: { name: 'page_size', max: 2_000, fallback: 100 },
      idOf: ({ id }) => id,
      isMatch: ({ id }) => ids.size === 0 || ids.has(id),
    })
    return { structured_targets: rows, cursor }
  }

  #event(event: SimEvent, form: { isNested: boolean; nowMs: TimeMs }): Record<string, unknown> {
    const { isNested, nowMs } = form
    const metadataMs = event.markets.map((market) => this.#stream.metadataMs(market))
    const updatedMs = metadataMs.reduce(
      (last, each) => (each > last ? each : last),
      event.createdMs,
    )
    const markets = isNested ? event.markets.map((market) => this.#market(market, nowMs)) : null
    return { ...renderEvent(event, { updatedMs, markets }), ...eventFees(event, nowMs) }
  }

  #market(market: SimMarket, nowMs: TimeMs): Record<string, unknown> {
    return renderMarket(market, { nowMs, metadataMs: this.#stream.metadataMs(market) })
  }
}

function isAnswer(answer: Record<string, unknown> | RestAnswer): answer is RestAnswer {
  return typeof answer.contentType === 'string'
}
