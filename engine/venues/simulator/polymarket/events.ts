// Gamma's event, series, tag, team and sport rows (engine/venues/polymarket/README.md, Gamma). Ids are hashes of names,
// except for some tags with the venue's own ids.

import { hash32 } from '../../../random.ts'
import { DAY_MS, formatTime, type TimeMs, timeMs, toNumber } from '../../../units.ts'
import type { SimEvent, SimMarket, SimTeam } from '../model.ts'
import { FIXED_FIELDS } from './fixed-fields.ts'
import {
  competitiveness,
  eventEndMs,
  gameId,
  hexId,
  imageUrl,
  isActive,
  isOver,
  liquidityUsd,
  volumeWithin,
} from './market-facts.ts'

export function eventRow(
  event: SimEvent,
  parts: { readonly nowMs: TimeMs; readonly hasTags: boolean },
): Record<string, unknown> {
  const isClosed = isEventClosed(event)
  const image = imageUrl(event.nativeId)
  return {
    id: String(event.number),
    ticker: event.nativeId,
    slug: event.nativeId,
    title: event.title,
    description: event.description,
    startDate: formatTime(event.createdMs),
    creationDate: formatTime(event.createdMs),
    endDate: formatTime(eventEndMs(event)),
    image,
    icon: image,
    active: event.markets.some(isActive),
    closed: isClosed,
    ...eventFigures(event, parts.nowMs),
    createdAt: formatTime(event.createdMs),
    updatedAt: formatTime(eventUpdatedMs(event)),
    negRisk: event.isMutuallyExclusive,
    ...(event.isMutuallyExclusive ? { negRiskMarketID: hexId('negrisk', event.nativeId) } : {}),
    series: [seriesRow(event)],
    ...(parts.hasTags ? { tags: event.tags.map((label) => tagRow(label)) } : {}),
    showMarketImages: event.markets.length > 1,
    enableNegRisk: event.isMutuallyExclusive,
    ...FIXED_FIELDS.event,
    seriesSlug: event.series,
    ...(event.subtitle === '' ? {} : { subtitle: event.subtitle }),
    ...(isClosed ? { closedTime: formatTime(lastCloseMs(event)) } : {}),
    ...gameFields(event, parts.nowMs),
  }
}

export function tagRow(label: string): Record<string, unknown> {
  return {
    id: String(tagId(label)),
    label,
    slug: tagSlug(label),
    ...FIXED_FIELDS.tag,
  }
}

export function teamRow(league: string, team: SimTeam): Record<string, unknown> {
  return {
    id: numberOf('team', `${league}:${team.polymarketCode}:${team.name}`),
    name: team.name,
    league,
    logo: imageUrl(`${league}-${team.polymarketCode}`),
    abbreviation: team.polymarketCode,
    alias: team.nickname,
    ...FIXED_FIELDS.team,
    providerId: numberOf('provider', `${league}:${team.polymarketCode}`),
  }
}

export function sportRow(league: string, series: string | null): Record<string, unknown> {
  const primary = tagId(league.toUpperCase())
  return {
    id: numberOf('sport', league),
    sport: league,
    name: league.toUpperCase(),
    image: imageUrl(league),
    tags: `${tagId('Sports')},${primary},${tagId('Games')}`,
    primaryTagId: primary,
    series: String(seriesId(series ?? league)),
    ...FIXED_FIELDS.sport,
  }
}

export function tagId(label: string): number {
  const slug = tagSlug(label)
  return KNOWN_TAGS[slug] ?? numberOf('tag', slug)
}

export function tagSlug(label: string): string {
  return label
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
}

function seriesId(slug: string): number {
  return numberOf('series', slug)
}

export function isEventClosed(event: SimEvent): boolean {
  return event.markets.length > 0 && event.markets.every(isOver)
}

export function sumOf(event: SimEvent, figure: (market: SimMarket) => number): number {
  let sum = 0
  for (const market of event.markets) sum += figure(market)
  return Math.round(sum * 1e6) / 1e6
}

export function isLive(event: SimEvent, nowMs: TimeMs): boolean {
  return event.game !== null && nowMs >= event.game.startMs && !isEventClosed(event)
}

const KNOWN_TAGS: Readonly<Record<string, number>> = {
  sports: 1,
  games: 100_639,
  nba: 745,
  basketball: 28,
  nfl: 450,
  cfb: 100_351,
  bitcoin: 235,
  nhl: 899,
}

// The range is so large that two names of one world almost never have the same id.
function numberOf(kind: string, name: string): number {
  return 200_000 + (hash32(kind, name) % 900_000_000)
}

function eventFigures(event: SimEvent, nowMs: TimeMs): Record<string, number> {
  const liquidity = sumOf(event, liquidityUsd)
  const within = (days: number) => sumOf(event, (each) => volumeWithin(each, days * DAY_MS, nowMs))
  return {
    liquidity,
    liquidityClob: liquidity,
    volume: sumOf(event, (market) => toNumber(market.volumeTotal)),
    volume24hr: sumOf(event, (market) => toNumber(market.volume24h)),
    volume1wk: within(7),
    volume1mo: within(30),
    volume1yr: within(365),
    competitive: Math.max(0, ...event.markets.map(competitiveness)),
  }
}

export function eventUpdatedMs(event: SimEvent): TimeMs {
  return timeMs(Math.max(event.createdMs, ...event.markets.map((market) => market.updatedMs)))
}

export function lastCloseMs(event: SimEvent): TimeMs {
  return timeMs(Math.max(...event.markets.map((market) => market.listing.closeMs)))
}

function seriesRow(event: SimEvent): Record<string, unknown> {
  const image = imageUrl(event.series)
  return {
    id: String(seriesId(event.series)),
    ticker: event.series,
    slug: event.series,
    title: event.seriesTitle,
    image,
    icon: image,
    ...FIXED_FIELDS.series,
    updatedAt: formatTime(eventUpdatedMs(event)),
    volume24hr: sumOf(event, (market) => toNumber(market.volume24h)),
    volume: sumOf(event, (market) => toNumber(market.volumeTotal)),
    liquidity: sumOf(event, liquidityUsd),
  }
}

function gameFields(event: SimEvent, nowMs: TimeMs): Record<string, unknown> {
  const { game } = event
  // The venue also gives events about prices a start time.
  if (game === null) return event.topic === 'crypto' ? { startTime: startText(event) } : {}
  const isOngoing = isLive(event, nowMs)
  return {
    startTime: formatTime(game.startMs),
    eventDate: game.date,
    gameId: gameId(event),
    live: isOngoing,
    ended: isEventClosed(event),
    elapsed: '',
    period: isEventClosed(event) ? 'VFT' : '',
    homeTeamName: game.home.name,
    awayTeamName: game.away.name,
    teams: [teamRow(game.league, game.away), teamRow(game.league, game.home)],
  }
}

function startText(event: SimEvent): string {
  return formatTime(event.markets[0]?.listing.openMs ?? event.createdMs)
}
