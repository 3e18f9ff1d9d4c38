import { isRecord } from '../json-record.ts'
import type { JsonRecord } from '../market/market.ts'
import type { VenueWallets, WalletProfile } from '../wallet.ts'
import type { DriftNotes } from './drift/row-checks.ts'
import type { CatalogPage, Venue, VenueCatalog } from './venue.ts'

/** Maximum characters (UTF-16 code units) by kind of text. Longer text is truncated. */
const CHARACTERS_MAX = { title: 500, description: 20_000, label: 200, slug: 200, url: 2_000 }
type TextKind = keyof typeof CHARACTERS_MAX

/** Matches a control character except tab and line ends, or an unpaired surrogate. */
const UNCLEAN = /(?![\t\r\n])\p{Cc}|\p{Surrogate}/u
const ALL_UNCLEAN = new RegExp(UNCLEAN, 'gu')
const LINE_ENDS = /\s*[\t\r\n]\s*/g
/** Maximum depth of a venue's original record. Deeper values are dropped. */
const DEPTH_MAX = 8

/** Removes control characters and unpaired surrogates, and truncates to the limit. Changes are recorded as drift. */
export function cleanText(text: string, kind: TextKind, drift: DriftNotes): string {
  const charactersMax = CHARACTERS_MAX[kind]
  let clean = text
  if (UNCLEAN.test(text)) {
    drift.note(
      'text',
      `${kind} with control characters`,
      JSON.stringify(text.slice(0, 40)),
      'notice',
    )
    clean = clean.replace(ALL_UNCLEAN, '')
  }
  if (clean.length > charactersMax) {
    drift.note('text', `${kind} too long`, text.slice(0, 40), 'notice')
    clean = clean.slice(0, charactersMax).replace(ALL_UNCLEAN, '')
  }
  return kind === 'description' ? clean : clean.replace(LINE_ENDS, ' ')
}

/** Returns an `https:` URL. Other values become null and are recorded as drift. */
export function cleanUrl(url: string | null, drift: DriftNotes): string | null {
  if (url === null) return null
  const isGood = url.length <= CHARACTERS_MAX.url && URL.canParse(url) && isHttps(url)
  if (!isGood)
    drift.note('text', 'url that is not https', JSON.stringify(url.slice(0, 40)), 'notice')
  return isGood ? url : null
}

const isHttps = (url: string): boolean => new URL(url).protocol === 'https:'

export function withCleanText(venue: Venue): Venue {
  const { drift } = venue
  const wallets = venue.wallets === null ? null : cleanWallets(venue.wallets, drift)
  return { ...venue, wallets, catalog: cleanCatalog(venue.catalog, drift) }
}

function cleanCatalog(catalog: VenueCatalog, drift: DriftNotes): VenueCatalog {
  return {
    crawl: (onPage, signal) => catalog.crawl((page) => onPage(cleanPage(page, drift)), signal),
    refresh: (sinceMs, onPage, signal) =>
      catalog.refresh(sinceMs, (page) => onPage(cleanPage(page, drift)), signal),
    fetchMarkets: async (ids, signal) => cleanPage(await catalog.fetchMarkets(ids, signal), drift),
  }
}

function cleanWallets(wallets: VenueWallets, drift: DriftNotes): VenueWallets {
  return {
    ...wallets,
    profile: async (address, signal) => {
      const profile = await wallets.profile(address, signal)
      return profile === null ? null : cleanProfile(profile, drift)
    },
  }
}

function cleanProfile(profile: WalletProfile, drift: DriftNotes): WalletProfile {
  const name = (text: string | null) => (text === null ? null : cleanText(text, 'label', drift))
  const { handle, pseudonym, image } = profile
  return {
    ...profile,
    handle: name(handle),
    pseudonym: name(pseudonym),
    image: cleanUrl(image, drift),
  }
}

export function cleanPage(page: CatalogPage, drift: DriftNotes): CatalogPage {
  const text = (value: string, kind: TextKind) => cleanText(value, kind, drift)
  const maybe = (value: string | null, kind: TextKind) =>
    value === null ? null : text(value, kind)
  return {
    ...page,
    markets: page.markets.map((market) => ({
      ...market,
      question: text(market.question, 'title'),
      description: maybe(market.description, 'description'),
      slug: text(market.slug, 'slug'),
      eventSlug: maybe(market.eventSlug, 'slug'),
      category: maybe(market.category, 'label'),
      tags: market.tags.map((tag) => text(tag, 'label')),
      outcomes: market.outcomes.map(({ label, id }) => ({ label: text(label, 'label'), id })),
      image: cleanUrl(market.image, drift),
      url: cleanUrl(market.url, drift),
      native: cleanRecord(market.native, drift),
    })),
    events: page.events.map((event) => ({
      ...event,
      title: text(event.title, 'title'),
      description: maybe(event.description, 'description'),
      slug: text(event.slug, 'slug'),
      series: maybe(event.series, 'slug'),
      category: maybe(event.category, 'label'),
      tags: event.tags.map((tag) => text(tag, 'label')),
      image: cleanUrl(event.image, drift),
      native: cleanRecord(event.native, drift),
    })),
  }
}

/** Returns the record itself if nothing has to be changed, which is the usual case. */
function cleanRecord(record: JsonRecord, drift: DriftNotes): JsonRecord {
  return isClean('', record, 0) ? record : cleanFields(record, drift, 0)
}

function isClean(name: string, value: unknown, depth: number): boolean {
  if (typeof value === 'string') {
    return value.length <= CHARACTERS_MAX[kindOf(name)] && !UNCLEAN.test(value)
  }
  if (typeof value !== 'object' || value === null) return true
  if (depth > DEPTH_MAX) return false
  if (Array.isArray(value)) return value.every((item) => isClean(name, item, depth + 1))
  return Object.entries(value).every(([field, item]) => isClean(field, item, depth + 1))
}

function cleanFields(record: JsonRecord, drift: DriftNotes, depth: number): JsonRecord {
  const entries = Object.entries(record).map(([name, value]) => [
    name,
    cleanValue(name, value, drift, depth),
  ])
  return Object.fromEntries(entries)
}

function cleanValue(name: string, value: unknown, drift: DriftNotes, depth: number): unknown {
  if (typeof value === 'string') return cleanText(value, kindOf(name), drift)
  if (typeof value !== 'object' || value === null) return value
  if (depth > DEPTH_MAX) return null
  if (Array.isArray(value)) return value.map((item) => cleanValue(name, item, drift, depth + 1))
  return isRecord(value) ? cleanFields(value, drift, depth + 1) : null
}

/** Unlisted fields of a venue's original record may be as long as a description. */
function kindOf(name: string): TextKind {
  if (/(?:title|question)$/i.test(name)) return 'title'
  if (/slug$/i.test(name)) return 'slug'
  if (/(?:image|icon|url)$/i.test(name)) return 'url'
  return 'description'
}
