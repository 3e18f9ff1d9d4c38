// A market or an event as a proposition: dates are read first and cut out, then the range, then what remains
// is read as words and marks; games besides by their slugs and tickers. Any text is taken, none throws.
// Upholds PROP1 to PROP18, MATCHTEXT1, MATCHDATE1 to MATCHDATE5.

import type { HandleForm, VenueKey } from '../../ids.ts'
import { leagueOfSeries } from '../../sports/leagues.ts'
import type { MatchEvent, MatchMarket } from '../../subject.ts'
import {
  type DateMention,
  type Day,
  dateOfTicker,
  datesOf,
  dayOf,
  type TickerDate,
} from './dates.ts'
import { type GameFacts, gameOf } from './games.ts'
import { isProper, meaningOf } from './lexicon.ts'
import { type Marks, marksOf } from './marks.ts'
import {
  asksDirection,
  assetOf,
  hourFor,
  isDownwards,
  minutesOf,
  type PriceTexts,
} from './price-question.ts'
import type { Proposition, PropositionKind, QuestionForm, When, WhenSource } from './proposition.ts'
import {
  type Quantity,
  quantityOf,
  quantityOfStrike,
  quantityOfTicker,
  rangeOf,
} from './quantity.ts'
import {
  fold,
  isOrdinary,
  meanings,
  type Spelling,
  spellingsOf,
  stem,
  TITLE_CHARACTERS_MAX,
} from './words.ts'

/** Markets of an event that are read: the first ones of a grid show what it asks. */
const CHILDREN_MAX = 24
/** A title shorter than this omits words that its slug has. Characters. */
const SHORT_TITLE = 24
/** Characters of rules that are kept. */
const RULES_CHARACTERS_MAX = 2_000
/** A day in a slug; "2026-52-53f" is a year and a range. */
const ISO_DAY = /20\d\d-(?:0\d|1[0-2])-[0-3]\d(?![a-z\d])/
const TOUCH =
  /\bhow (?:high|low)\b|\b(?:hit|reach|touch)\b|\bdips? to\b|\ball[- ]time high\b|\bmax(?:imum)? price\b/
/** "His next video": which one it is depends on when the question was asked. */
const RELATIVE =
  /\bnext (?:\w+ )?(?:video|episode|speech|meeting|call|press|interview|rally|debate|address|game|match|album|week|month)\b|\btoday\b|\btonight\b|\bthis week\b/

/** "Candidate X", "Will B win …": venue a lists letters for whom nobody stands yet. "Will X win" may mean the company. */
const PLACEHOLDER =
  /(?:^|\| Will |\| )(?:"?(?:(?:Player|Candidate|Person|Party|Contestant|Nominee|Actor|Actress|Artist|Director|Driver|Fighter|Manager|Coach|Country|Company) [A-Z]{1,2}|(?:Show|Movie|Film|Song|Album|Book|Game|Team|Club|Chef) [A-Z])"?(?= \|| (?:win|be|become|finish|receive|get|advance|qualify|have|lead)\b)|Will [A-HJ-WYZ] win\b)/

/** What a market asks. */
export function understandMarket(market: MatchMarket): Proposition {
  const facts: GameFacts = {
    ...market,
    strikeFloor: market.strike?.floor ?? null,
    samples: [],
  }
  return understand(market, facts, [])
}

/** What an event asks; its markets are read by `read` when they are first looked at. */
export function understandEvent(
  event: MatchEvent,
  read: (market: MatchMarket) => Proposition = understandMarket,
): Proposition {
  const markets = event.markets.slice(0, CHILDREN_MAX)
  const facts: GameFacts = {
    ...event,
    startMs: event.startMs ?? markets[0]?.startMs ?? null,
    eventKey: event.handle,
    eventTitle: '',
    eventSubtitle: event.subtitle,
    subtitle: '',
    outcomes: [],
    strikeFloor: null,
    line: null,
    betType: '',
    samples: markets.map(({ title }) => title),
  }
  const rules = event.rules === '' ? (markets[0]?.rules ?? '') : event.rules
  const found = understand({ ...event, rules }, facts, markets, read)
  // A market's rules name what Yes of that one stands for.
  return rules === event.rules ? found : { ...found, restated: NO_WORDS }
}

/** The fields that a market and an event share. */
interface Listed {
  readonly venue: VenueKey
  readonly handles: HandleForm
  readonly key: string
  readonly title: string
  readonly subtitle: string
  readonly handle: string
  readonly rules: string
  readonly series: string | null
  readonly strike?: MatchMarket['strike']
  readonly startMs: number | null
  readonly closeMs: number | null
  /** Of an event. */
  readonly isExclusive?: boolean | null
}

function understand(
  listed: Listed,
  facts: GameFacts,
  markets: readonly MatchMarket[],
  read: (market: MatchMarket) => Proposition = understandMarket,
): Proposition {
  const grain = facts.samples === undefined || 'markets' in listed ? 'event' : 'market'
  const game = gameOf(facts, listed.handles)
  const anchor = anchorOf(listed)
  const title = readText(plainTitle(listed.title), anchor)
  const answer = grain === 'market' ? readText(answerText(listed), anchor) : EMPTY_TEXT
  const context = readText(contextText(listed, facts, grain), anchor)
  const marks = marksOf(
    `${title.folded} ${answer.folded}`,
    [...title.words, ...answer.words],
    context.folded,
  )
  const price = priceTextsOf(listed, title, answer, context)
  const isSpeech = title.words.includes('sayx')
  const asset = isSpeech ? null : assetOf(marks, price)
  const isUpDown = asksDirection(price)
  const minutes = isUpDown ? minutesOf(price) : null
  // A question on the direction of a price names an asset and a window, and no range.
  const isDirection = isUpDown && asset !== null
  const runs = nameRunsOf(plainTitle(listed.title)).concat(
    grain === 'market' ? nameRunsOf(answerText(listed)) : [],
  )
  const words = isDirection ? [asset, 'updown'] : withoutOrdinals(title.words, marks)
  const quantity = isDirection ? null : quantityFor(listed, title, answer, grain)
  return {
    venue: listed.venue,
    key: listed.key,
    grain,
    listedAs: [
      listed.series ?? listed.handle.split('-')[0] ?? '',
      facts.eventKey ?? '',
      listed.handle,
    ],
    kind: kindOf(game !== null, asset, quantity, title),
    game,
    asset,
    isTouch:
      (quantity !== null && quantity.touch !== '') ||
      TOUCH.test(title.folded) ||
      title.dates.some(({ role }) => role === 'by'),
    isUpDown,
    minutes,
    quantity,
    whens: whensOf(listed, title, answer, context, anchor),
    hour: asset === null ? null : hourFor(asset, minutes, price),
    form: formOf(title.folded, markets.length),
    opening: /^[\p{L}\p{N}]+/u.exec(title.folded)?.[0] ?? '',
    isNegated: isUpDown
      ? isDownwards(price)
      : isNegative(title.folded, isSpeech ? '' : answer.folded, context.folded),
    // In a question on a speech every "next" depends on when it was asked.
    isRelative: RELATIVE.test(title.folded) || (isSpeech && /\bnext\b/.test(title.folded)),
    isPlaceholder:
      grain === 'market' && PLACEHOLDER.test(`${answerText(listed)} | ${listed.title}`),
    isOfFirst: /\b(?:first|1st)\s*\??$/.test(title.folded),
    marks,
    words: trimmed(words),
    answer: isDirection ? [] : answer.words,
    context: context.words,
    names: isDirection ? new Set([asset]) : new Set(runs.flat()),
    runs: isDirection ? [] : runs,
    spelled: title.spelled.concat(answer.spelled),
    isExclusive: listed.isExclusive ?? null,
    children: markets.length === 0 ? NO_CHILDREN : onceRead(markets, read),
    ...rulesOf(listed),
  }
}

const NO_CHILDREN = (): readonly Proposition[] => []

/** Markets that are read when they are first looked at. */
function onceRead(
  markets: readonly MatchMarket[],
  read: (market: MatchMarket) => Proposition,
): Proposition['children'] {
  const children: Proposition[] = []
  return (most = markets.length) => {
    for (const market of markets.slice(children.length, most)) children.push(read(market))
    return children.slice(0, most)
  }
}

const NO_WORDS = (): ReadonlySet<string> => new Set()

/** Characters of the sentence with which rules begin. */
const RESTATED_CHARACTERS_MAX = 300

function rulesOf({ rules }: Listed): Pick<Proposition, 'rules' | 'restated'> {
  let words: ReadonlySet<string> | null = null
  const restated = (): ReadonlySet<string> => {
    const [sentence = ''] = rules.slice(0, RESTATED_CHARACTERS_MAX).split(/(?<=\w{3}[.?!])\s|\n/)
    words ??= new Set(meanings(fold(sentence)))
    return words
  }
  return { rules: rules.slice(0, RULES_CHARACTERS_MAX), restated }
}

/** A list that grew has room for a dozen more, and many readings are kept. */
const trimmed = <Item>(list: readonly Item[]): readonly Item[] => list.slice()

/** The 24 of "season 24" is a mark, and no word. */
function withoutOrdinals(words: readonly string[], marks: Marks): readonly string[] {
  const ordinals = new Set<string>()
  // "Top 5" is told by its number.
  for (const values of marks.values())
    for (const value of values) ordinals.add(value.replace(/^\D+(?=\d+$)/, ''))
  return words.filter((word) => !/^\d{1,2}$/.test(word) || !ordinals.has(word))
}

interface ReadText {
  readonly folded: string
  /** Without dates and range. */
  readonly rest: string
  readonly words: readonly string[]
  readonly spelled: readonly Spelling[]
  readonly dates: readonly DateMention[]
  readonly quantity: Quantity | null
}

const EMPTY_TEXT: ReadText = {
  folded: '',
  rest: '',
  words: [],
  spelled: [],
  dates: [],
  quantity: null,
}

/** Dates, then the range, then words: each reads what the one before left. */
function readText(text: string, anchor: Day | null): ReadText {
  if (text === '') return EMPTY_TEXT
  const folded = fold(text)
  const dates = datesOf(folded, anchor)
  let rest = folded
  for (let index = dates.length - 1; index >= 0; index -= 1) {
    const date = dates[index]
    if (date !== undefined) rest = `${rest.slice(0, date.start)} | ${rest.slice(date.end)}`
  }
  const quantity = quantityOf(rest)
  if (quantity !== null) rest = `${rest.slice(0, quantity.start)} | ${rest.slice(quantity.end)}`
  rest = rest.replace(
    /\b\d{1,2}(?::\d\d)?\s?[ap]m\b|\b(?:et|edt|est|utc)\b|\bthis (?:week|month|year|season)\b/g,
    ' ',
  )
  const spelled = trimmed(spellingsOf(rest))
  const words = trimmed(spelled.flatMap(({ meaning }) => (meaning === '' ? [] : [meaning])))
  return { folded, rest, words, spelled, dates, quantity }
}

/** The short title, unless it only says Yes. */
function answerText({ subtitle, title }: Listed): string {
  const short = subtitle.trim()
  return /^(?:yes|no)?$/i.test(short) || short === title ? '' : short
}

function contextText(listed: Listed, facts: GameFacts, grain: 'market' | 'event'): string {
  const said = grain === 'event' ? listed.subtitle : `${facts.eventTitle} ${facts.eventSubtitle}`
  // A slug repeats the title; it helps where the title is short.
  const isShort = listed.handles === 'slug' && listed.title.length < SHORT_TITLE
  const slug = isShort ? (facts.eventKey ?? listed.handle).replaceAll('-', ' ') : ''
  const series = listed.handle.split('-')[0] ?? ''
  const league = listed.handles === 'ticker' ? (leagueOfSeries(series)?.league.name ?? '') : ''
  const parts = [said.trim(), slug, league].filter((part) => part !== '')
  return parts.join(' | ').slice(0, TITLE_CHARACTERS_MAX)
}

/** The day nearest to which dates without a year lie. */
function anchorOf({ handles, handle, startMs, closeMs }: Listed): Day | null {
  if (handles === 'ticker') {
    const date = tickerDateOf(handle)
    if (date !== null && date.grain !== 'year') return date.first
  }
  const iso = ISO_DAY.exec(handle)?.[0]
  const inSlug = /-(20\d\d)(?:-|$)/.exec(handle)?.[1]
  const atMs = closeMs ?? startMs
  const isoMs = Date.parse(iso ?? '')
  if (Number.isFinite(isoMs)) return dayOf(isoMs)
  if (atMs !== null) return dayOf(atMs)
  if (handles === 'slug' && inSlug !== undefined) return dayOf(Date.UTC(Number(inSlug), 6, 1))
  return null
}

function tickerDateOf(handle: string): ReturnType<typeof dateOfTicker> {
  for (const part of handle.toUpperCase().split('-').slice(1, 3)) {
    const date = dateOfTicker(part)
    if (date !== null) return date
  }
  return null
}

/** Every date said, best source first. */
function whensOf(
  listed: Listed,
  title: ReadText,
  answer: ReadText,
  context: ReadText,
  anchor: Day | null,
): readonly When[] {
  const whens: When[] = []
  const add = (dates: readonly DateMention[], source: WhenSource): void => {
    for (const { first, last, role, grain } of dates)
      whens.push({ first, last, role, grain, source })
  }
  add(title.dates, 'title')
  add(answer.dates, 'title')
  add(context.dates, 'subtitle')
  if (listed.handles === 'ticker') {
    const date = tickerDateOf(listed.handle)
    if (date !== null) whens.push({ ...handleWhen(date), source: 'handle' })
  } else {
    const iso = datesOf(ISO_DAY.exec(listed.handle)?.[0] ?? '', anchor)
    add(iso, 'handle')
  }
  if (listed.closeMs !== null) {
    const day = dayOf(listed.closeMs)
    whens.push({ first: day, last: day, role: 'by', grain: 'day', source: 'close' })
  }
  return trimmed(whens)
}

/** A ticker's date; the turn of a year stands for "within that year" unless a text says more. */
function handleWhen({ first, last, grain }: TickerDate): Omit<When, 'source'> {
  if (grain !== 'day') return { first, last, role: 'in', grain }
  const date = new Date(first * 86_400_000).toISOString().slice(5, 10)
  if (date !== '12-31' && date !== '01-01') return { first, last, role: 'on', grain }
  const end = date === '12-31' ? last : last - 1
  return { first: end - 364, last: end, role: 'in', grain: 'year' }
}

function priceTextsOf(
  listed: Listed,
  title: ReadText,
  answer: ReadText,
  context: ReadText,
): PriceTexts {
  return {
    handles: listed.handles,
    titleAsSent: listed.title,
    rules: listed.rules,
    title: title.folded,
    answer: answer.folded,
    context: context.folded,
    dates: [...title.dates, ...context.dates],
    tickerHour: listed.handles === 'ticker' ? (tickerDateOf(listed.handle)?.hour ?? null) : null,
  }
}

/** The range of the answer, else of the question, else of the venue's fields, else of the ticker. */
function quantityFor(
  listed: Listed,
  title: ReadText,
  answer: ReadText,
  grain: 'market' | 'event',
): Quantity | null {
  const said = answer.quantity ?? boundOf(title.quantity, bareQuantity(answer)) ?? title.quantity
  if (said !== null) return said
  if (grain === 'event' || listed.handles === 'slug') return null
  const strike = quantityOfStrike(listed.strike ?? null)
  if (strike !== null) return strike
  const ofTicker = quantityOfTicker(listed.handle.split('-').at(-1) ?? '')
  // "Cut rates 7 times" asks for just seven, whatever the ticker's end.
  const isCounted = ofTicker !== null && title.words.includes(String(ofTicker.low))
  return isCounted ? null : ofTicker
}

/** "51" beside "above 51" only repeats the bound; beside anything else it is what Yes stands for. */
function boundOf(asked: Quantity | null, bare: Quantity | null): Quantity | null {
  if (asked === null || bare === null) return bare
  return asked.low === bare.low || asked.high === bare.high ? asked : bare
}

/** "4.3%" alone as an answer is that number. */
function bareQuantity({ rest }: ReadText): Quantity | null {
  const match = /^\s*([$€£])?(-?\d[\d,]*(?:\.\d+)?)\s?(%|°)?f?\s*$/.exec(rest)
  if (match === null) return null
  const value = Number((match[2] ?? '').replaceAll(',', ''))
  const unit = match[1] === undefined ? (match[3] ?? '') : '$'
  return rangeOf(value, value, unit)
}

function kindOf(
  isGame: boolean,
  asset: string | null,
  quantity: Quantity | null,
  title: ReadText,
): PropositionKind {
  if (isGame) return 'game'
  if (asset !== null) return 'price'
  if (title.words.includes('sayx')) return 'speech'
  return quantity === null ? 'text' : 'quantity'
}

const WHETHER = /^(?:will|is|are|does|do|did|can|has|have)\b(?!.*(?:\?.|\.\.\.))/

function formOf(folded: string, childCount: number): QuestionForm {
  if (
    /^number of|\bjobs (?:numbers|added|report)\b|# of\b|\bhow (?:many|much|high|low|often|long)\b|(?<![\d.])\s?% of|\b(?:what|which) (?:%|percent)|_{2,}|\bmargin of\b|\bturnout\b/.test(
      folded,
    )
  )
    return 'count'
  if (/^when\b|\b(?:by|before|in) ?(?:\.\.\.|_{2,})|\bwhen will\b/.test(folded)) return 'when'
  if (/\b(?:who|whom|which|what|where)\b|\bwinner\b/.test(folded)) return 'open'
  if (WHETHER.test(folded)) return 'closed'
  // "Next prime minister?" is open, "will anyone dissent at the next meeting?" is not.
  if (/^(?!(?:will|is|are|does|do|did|can|has|have)\b).*\bnext\b.*\?$/.test(folded)) return 'open'
  if (childCount > 1) return 'open'
  return 'closed'
}

const OPENERS = new Set(
  'will who what which when where how is are does did top most next number highest lowest first any best total jan feb mar apr jun jul aug sep sept oct nov dec january february march april may june july august september october november december'.split(
    ' ',
  ),
)

const NAME_RUN =
  /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}.'’]*(?:[ -](?:(?:de|da|di|del|la|van|von|bin|al|el) )?\p{Lu}[\p{L}\p{N}.'’]*)*/gu
/** A telling word in lower case behind the first: capitals in such a title are no heading's. */
const LOWER_WORD =
  / (?!(?:will|the|and|for|with|from|over|under|into|than|that|this|what|which|when|after|before|during|above|below|between|have|been|more|less|most|next|has|are|was|not|its|his|her|who|how|did|any|all|out|per|via|off|can|get)\b)\p{Ll}{3,}/u
/** A title before a name says nothing that the name does not: "President Trump", "Sen. Doe". */
const HONORIFIC =
  /\b(?:President|Vice President|Sen\.|Senator|Rep\.|Representative|Gov\.|Governor|Justice|Secretary|Prime Minister|Chair|King|Queen|Prince|Princess|Crown Prince|Dr\.|Mr\.|Mrs\.|Ms\.|Sir) (?=(\p{Lu}[\p{L}'’-]+))/gu

/** "Grand Theft Auto VI", "Super Bowl LX". */
const ROMAN = /(?<=\p{L} )(?!LIV\b)(?=[IVXL]{2})(X{0,3}|L?X{0,2}|XL)(IX|IV|V?I{0,3})\b(?!\p{L})/gu
const DIGITS: Readonly<Record<string, number>> = { I: 1, V: 5, X: 10, L: 50 }

/** A smaller digit before a larger one is taken off. */
function romanOf(digits: string): number {
  const values = [...digits].map((digit) => DIGITS[digit] ?? 0)
  return values.reduce(
    (sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value),
    0,
  )
}

function plainTitle(title: string): string {
  const counted = title.replace(ROMAN, (digits) => String(romanOf(digits)))
  return counted.replace(HONORIFIC, (whole, next: string) => {
    const folded = fold(next)
    return isOrdinary(stem(folded)) || meaningOf(folded) !== null ? whole : ''
  })
}

/**
 * Names of a title: words with a capital that no text writes in lower case, in runs ("Los Angeles Lakers"). In a heading
 * capitals prove nothing, so ordinary words end a run.
 */
function nameRunsOf(title: string): (readonly string[])[] {
  const runs: string[][] = []
  const isHeading = !LOWER_WORD.test(title)
  for (const match of title.slice(0, TITLE_CHARACTERS_MAX).matchAll(NAME_RUN)) {
    let run: string[] = []
    for (const [at, { word, meaning }] of spellingsOf(fold(match[0])).entries()) {
      // The first word of a sentence has its capital for that.
      if (isNameWord(word, meaning, isHeading || match.index + at === 0)) {
        run.push(meaning)
        continue
      }
      if (meaning === '') continue
      if (run.length > 0) runs.push(run)
      run = []
    }
    if (run.length > 0) runs.push(run)
  }
  return runs.map(trimmed)
}

function isNameWord(word: string, meaning: string, isHeading: boolean): boolean {
  if (meaning === '') return false
  if (/^(?:country|state|district)/.test(meaning)) return true
  if (OPENERS.has(word) || /^\d+$/.test(word)) return false
  // A phrase of the lexicon is a name only where it stands for one.
  if ((meaning !== stem(word) && meaning !== word) || meaningOf(word) !== null)
    return isProper(meaning)
  return !isHeading || !isOrdinary(meaning)
}

const NEGATED_VERB =
  /\b(?:will|would|does|do|did|is|are|has|have|can)\b[^?|:]*?\bnot\b(?! (?:only|before|until|later)\b)|n't\b|\b(?:fails? to|stays? dry|remains?|stays? in office)\b/
/** "No one", "no change" and "no. 1" are answers of their own, and no denials. */
const NEGATED_ANSWER = /^not?\b(?!\.| (?:one|body|change|other|longer|more|\d))\s*(\S*)/
const QUOTED = /"[^"]*"/g

/**
 * Whether Yes means that something does not happen: "will X not resign", "stay dry", "No rain", "Not before May 1".
 * Takes the title and the short answer of a market, folded; `around` is the rest of its texts. Not for ranges, whose
 * complement follows from their ends (quantity.ts).
 */
export function isNegative(title: string, answer: string, around: string): boolean {
  if (NEGATED_VERB.test(title.replace(QUOTED, ' '))) return true
  const match = NEGATED_ANSWER.exec(answer)
  if (match === null) return false
  // A work or a party may be called "No …": the denied word must be the question's.
  const [whole, denied = ''] = match
  return whole.startsWith('not') || (denied.length > 2 && ` ${title} ${around} `.includes(denied))
}
