import { type SizeMicros, sizeMicros, type TimeMs } from '../../../units.ts'
import type { SimEvent, SimMarket, SimSport } from '../model.ts'
import { seriesFees } from './fees.ts'
import { shardOf } from './terms.ts'
import { count, rfc3339 } from './text.ts'

/** The venue's names of competitions (engine/venues/kalshi/README.md, Events and series). */
const COMPETITIONS: Readonly<Record<SimSport, string>> = {
  nfl: 'Pro Football',
  nba: 'Pro Basketball (M)',
  mlb: 'Pro Baseball',
  nhl: 'NHL',
  cfb: 'College Football',
  cbb: 'College Basketball (M)',
  pga: 'PGA',
  tennis: 'Tennis',
}

const DOCUMENTS = 'https://kalshi-public-docs.s3.amazonaws.com'

export function renderEvent(
  event: SimEvent,
  details: { readonly updatedMs: TimeMs; readonly markets: readonly unknown[] | null },
): Record<string, unknown> {
  const isGame = event.game !== null
  return {
    event_ticker: event.nativeId,
    series_ticker: event.series,
    title: event.title,
    sub_title: event.subtitle,
    collateral_return_type: event.isMutuallyExclusive ? 'MECNET' : '',
    mutually_exclusive: event.isMutuallyExclusive,
    category: event.category,
    ...(isGame ? { strike_period: '' } : { strike_date: rfc3339(event.endMs), strike_period: '' }),
    product_metadata: isGame ? competitionOf(event) : { cadence: frequencyOf(event) },
    settlement_sources: sourcesOf(event),
    last_updated_ts: rfc3339(details.updatedMs),
    exchange_index: shardOf(event),
    ...(details.markets === null ? {} : { markets: details.markets }),
  }
}

export function renderEventMetadata(event: SimEvent): Record<string, unknown> {
  const image = `${DOCUMENTS}/series-images-webp/${event.series}.webp`
  return {
    image_url: image,
    featured_image_url: '',
    market_details: event.markets.map((market, position) => ({
      market_ticker: market.listing.nativeId,
      image_url: image,
      color_code: COLORS[position % COLORS.length],
    })),
    settlement_sources: sourcesOf(event),
    ...(event.game === null ? {} : competitionOf(event)),
  }
}

export function seriesOf(events: readonly SimEvent[]): ReadonlyMap<string, readonly SimEvent[]> {
  const series = new Map<string, SimEvent[]>()
  for (const event of events) {
    const group = series.get(event.series)
    if (group === undefined) series.set(event.series, [event])
    else group.push(event)
  }
  return series
}

export function renderSeries(
  ticker: string,
  events: readonly SimEvent[],
  options: { hasVolume: boolean; hasMetadata: boolean; nowMs: TimeMs },
): Record<string, unknown> {
  const newest = events.at(-1)
  const categories = [...new Set(events.map((event) => event.category))]
  return {
    ticker,
    title: newest?.seriesTitle ?? ticker,
    frequency: newest === undefined ? 'custom' : frequencyOf(newest),
    category: newest?.category ?? '',
    categories,
    tags: newest === undefined || newest.tags.length === 0 ? null : newest.tags,
    settlement_sources: newest === undefined ? null : sourcesOf(newest),
    contract_url: `${DOCUMENTS}/regulatory/product-certifications/${ticker}.pdf`,
    contract_terms_url: `${DOCUMENTS}/contract_terms/${ticker}.pdf`,
    ...seriesFees(ticker, options.nowMs),
    exchange_index: newest === undefined ? 0 : shardOf(newest),
    additional_prohibitions: null,
    ...(options.hasMetadata ? { product_metadata: productMetadata(newest) } : {}),
    ...(options.hasVolume ? { volume_fp: count(volumeOf(events)) } : {}),
    ...(newest === undefined ? {} : { last_updated_ts: rfc3339(newest.createdMs) }),
  }
}

export function renderTags(events: readonly SimEvent[]): Record<string, unknown> {
  const tags = new Map<string, Set<string>>()
  for (const event of events) {
    const tagSet = tags.get(event.category) ?? new Set<string>()
    tags.set(event.category, tagSet)
    for (const tag of event.tags) tagSet.add(tag)
  }
  const entries = [...tags].map(([category, tagSet]) => [
    category,
    tagSet.size === 0 ? null : [...tagSet],
  ])
  return { tags_by_categories: Object.fromEntries(entries) }
}

function competitionName(event: SimEvent): string {
  if (event.game === null) return ''
  return COMPETITIONS[event.game.sport]
}

const COLORS = ['#0066CC', '#CC3300', '#009966', '#AA00FF', '#FF9900']

function competitionOf(event: SimEvent): Record<string, string> {
  return { competition: competitionName(event), competition_scope: scopeOf(event.markets[0]) }
}

function productMetadata(event: SimEvent | undefined): Record<string, string> {
  return event === undefined || event.game === null ? {} : competitionOf(event)
}

function scopeOf(market: SimMarket | undefined): string {
  const type = market?.listing.sportsMarketType ?? null
  if (type === 'spreads') return 'Spread'
  return type === 'totals' ? 'Total' : 'Game'
}

function sourcesOf(event: SimEvent): readonly { name: string; url: string }[] {
  switch (event.topic) {
    case 'sports':
      return [{ name: 'the Governing League', url: 'https://www.espn.com' }]
    case 'crypto':
      return [{ name: 'CF Benchmarks', url: 'https://www.cfbenchmarks.com' }]
    case 'weather':
      return [{ name: 'National Weather Service', url: 'https://www.weather.gov' }]
    case 'economics':
      return [{ name: 'Bureau of Labor Statistics', url: 'https://www.bls.gov' }]
    default:
      return [{ name: 'The New York Times', url: 'https://www.nytimes.com' }]
  }
}

function frequencyOf(event: SimEvent): string {
  if (event.topic === 'weather') return 'daily'
  if (event.topic === 'crypto') return 'hourly'
  return event.topic === 'economics' ? 'monthly' : 'custom'
}

function volumeOf(events: readonly SimEvent[]): SizeMicros {
  let total = 0
  for (const event of events) {
    for (const market of event.markets) total += market.volumeTotalContracts
  }
  return sizeMicros(Math.min(total, Number.MAX_SAFE_INTEGER))
}
