// Parses a market or an event into a proposition: removes dates, then the range, and parses the rest as words and
// marks. Games are also parsed by slug or ticker. Accepts any text and never throws.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import { contrastsIn } from './contrasts.ts'
import { datesOf, dayOf, isoDay, type TickerDate } from './dates.ts'
import { gameOf } from './game-parser.ts'
import { isProper, meaningOf } from './lexicon.ts'
import { answerText, ISO_DAY, type Listed, type Texts, textsOf, trimmed } from './listing-texts.ts'
import { type Marks, marksOf } from './marks.ts'
import { wordSet } from './phrases.ts'
import { priceOf } from './price-question.ts'
import type { DecisionDate, Proposition } from './proposition.ts'
import { boundWords, type Quantity, quantityOfStrike } from './quantity.ts'
import { beginningOf, fold, isOrdinary, meanings, spellingsOf, stem } from './text-normalization.ts'
import { WordMatcher } from './word-matcher.ts'

/** Maximum markets of an event that are parsed. The first ones suffice to identify its question. */
const CHILDREN_MAX = 24
const CHILDREN_SAMPLE = 6
/** Maximum characters of rules that are stored. */
const RULES_CHARACTERS_MAX = 2_000
const TOUCH =
  /\bhow (?:high|low)\b|\b(?:hit|reach|touch)\b|\bdips? to\b|\ball[- ]time high\b|\bmax(?:imum)? price\b/
/** Matches phrases such as "his next video", whose meaning depends on the time of the question. */
const RELATIVE =
  /\bnext (?:\w+ )?(?:video|episode|speech|meeting|call|press|interview|rally|debate|address|game|match|album|week|month)\b|\btoday\b|\btonight\b|\bthis week\b/

/**
 * Matches "Candidate X" and "Will B win …". Venue a uses letters as placeholders for candidates that are not known yet.
 * Does not match "Will X win", because X may be the company of that name.
 */
const PLACEHOLDER =
  /(?:^|\| Will |\| )(?:"?(?:(?:Player|Candidate|Person|Party|Contestant|Nominee|Actor|Actress|Artist|Director|Driver|Fighter|Manager|Coach|Country|Company) [A-Z]{1,2}|(?:Show|Movie|Film|Song|Album|Book|Game|Team|Club|Chef) [A-Z])"?(?= \|| (?:win|be|become|finish|receive|get|advance|qualify|have|lead)\b)|Will [A-HJ-WYZ] win\b)/

export function understandMarket(market: MatchMarket): Proposition {
  return understand({ ...market, samples: [], isExclusive: null }, 'market', () => [], 0)
}

/** Parses an event. `read` parses its markets when they are first needed. */
export function understandEvent(
  event: MatchEvent,
  read: (market: MatchMarket) => Proposition = understandMarket,
): Proposition {
  const markets = event.markets.slice(0, CHILDREN_MAX)
  const [first] = markets
  const listed: Listed = {
    ...event,
    ...{ eventKey: event.handle, eventTitle: '', eventSubtitle: event.subtitle, subtitle: '' },
    ...{ outcomes: [], strike: null, line: null, betType: '' },
    startMs: event.startMs ?? first?.startMs ?? null,
    rules: event.rules || (first?.rules ?? ''),
    samples: markets.map(({ title }) => title),
  }
  const found = understand(listed, 'event', onceRead(markets, read), markets.length)
  // The rules of a market repeat that market's outcome, so they say nothing about the event.
  return listed.rules === event.rules ? found : { ...found, restated: () => new Set() }
}

function understand(
  listed: Listed,
  grain: Proposition['grain'],
  children: Proposition['children'],
  childCount: number,
): Proposition {
  const texts = textsOf(listed)
  const { title, answer, context } = texts
  const marks = marksOf(
    `${title.folded} ${answer.folded}`,
    [...title.words, ...answer.words],
    context.folded,
  )
  const isSpeech = title.words.includes('sayx')
  const { asset, isUpDown, isDown, minutes, hour } = priceOf(texts, marks)
  const game = gameOf(listed)
  // A question about the direction of a price has an asset and a window, and no range.
  const isDirection = isUpDown && asset !== null
  const runs = [listed.title, answerText(listed)].flatMap(nameRunsOf)
  const quantity = isDirection ? null : quantityFor(texts, grain)
  const { venue, key, rules } = listed
  const words = isDirection ? [asset, 'updown'] : trimmed(withoutOrdinals(title.words, marks))
  const answerWords = isDirection ? [] : answer.words
  const decisionDates = decisionDatesOf(texts)
  // Without object spread, because it is slower and the object takes more memory. Thousands are cached.
  return {
    venue,
    key,
    grain,
    listedAs: namesOf(listed),
    kind: kindOf(game !== null, asset, quantity, isSpeech),
    game,
    asset,
    isTouch:
      (quantity !== null && quantity.touch !== '') ||
      TOUCH.test(title.folded) ||
      title.dates.some(({ role }) => role === 'by'),
    isUpDown,
    minutes,
    quantity,
    decisionDates,
    statedDates: statedDatesOf(decisionDates),
    hour,
    form: formOf(title.folded, childCount),
    opening: /^[\p{L}\p{N}]+/u.exec(title.folded)?.[0] ?? '',
    isNegated: isUpDown
      ? isDown
      : isNegative(title.folded, isSpeech ? '' : answer.folded, context.folded),
    // In a question about a speech, the meaning of "next" depends on the time of the question.
    isRelative: RELATIVE.test(title.folded) || (isSpeech && /\bnext\b/.test(title.folded)),
    isPlaceholder:
      grain === 'market' && PLACEHOLDER.test(`${answerText(listed)} | ${listed.title}`),
    marks,
    words,
    answer: answerWords,
    context: context.words,
    names: isDirection ? new Set([asset]) : new Set(runs.flat()),
    runs: isDirection ? [] : runs,
    spelled: title.spelled.concat(answer.spelled),
    isExclusive: listed.isExclusive,
    children,
    restated: once(() => new Set(meanings(fold(restating(rules))))),
    allWords: once(() => {
      return new WordMatcher(
        words,
        answerWords,
        context.words,
        quantity === null ? [] : boundWords(quantity),
        sharedWordsOf(children(CHILDREN_SAMPLE)),
        ...[...marks.values()].map((values) => [...values]),
      )
    }),
    contrasts: once(() => contrastsOf(texts, grain === 'event' ? '' : rules)),
    rules: rules.slice(0, RULES_CHARACTERS_MAX),
    sentence: sentenceOf(listed),
  }
}

/**
 * Words that all markets of an event share, because their titles may write out abbreviations of the event's title. A
 * word that only one market has is an answer.
 */
function sharedWordsOf(children: readonly Proposition[]): readonly string[] {
  const [first, ...others] = children
  return first?.words.filter((word) => others.every(({ words }) => words.includes(word))) ?? []
}

function namesOf({ series, eventKey, handle }: Listed): readonly string[] {
  const names = [series ?? handle.split('-')[0] ?? '', eventKey ?? '', handle]
  return names.map((name) => name.toLowerCase())
}

function sentenceOf({ title, subtitle }: Listed): string {
  return title.toLowerCase().includes(subtitle.toLowerCase()) ? title : `${title} ${subtitle}`
}

/** Parses markets when they are first needed. */
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

/** Maximum characters of the first sentence of the rules. */
const RESTATED_CHARACTERS_MAX = 300

function restating(rules: string): string {
  return rules.slice(0, RESTATED_CHARACTERS_MAX).split(/(?<=\w{3}[.?!])\s|\n/)[0] ?? ''
}

function once<Made extends object>(make: () => Made): () => Made {
  let made: Made | null = null
  return () => (made ??= make())
}

function contrastsOf({ title, answer, context }: Texts, rules: string) {
  const stated = contrastsIn(`${title.folded} | ${answer.folded}`)
  const around = contrastsIn(`${context.folded} | ${restating(rules)}`)
  return { stated, all: new Map([...around, ...stated]) }
}

/** Removes words that are part of a mark, such as the 24 of "season 24". */
function withoutOrdinals(words: readonly string[], marks: Marks): readonly string[] {
  // "Top 5" has its number as a mark.
  const values = [...marks.values()].flatMap((of) => [...of])
  const ordinals = new Set(values.map((value) => value.replace(/^\D+(?=\d+$)/, '')))
  return words.filter((word) => !/^\d{1,2}$/.test(word) || !ordinals.has(word))
}

function decisionDatesOf({
  listed,
  title,
  answer,
  context,
  ticker,
}: Texts): readonly DecisionDate[] {
  const decisionDates: DecisionDate[] = []
  const add = (
    dates: readonly Omit<DecisionDate, 'source'>[],
    source: DecisionDate['source'],
  ): void => {
    for (const { first, last, role, grain } of dates)
      decisionDates.push({ first, last, role, grain, source })
  }
  add(title.dates, 'title')
  add(answer.dates, 'title')
  add(context.dates, 'subtitle')
  if (ticker !== null) add([handleDate(ticker)], 'handle')
  else add(datesOf(ISO_DAY.exec(listed.handle)?.[0] ?? '', null), 'handle')
  if (listed.closeMs !== null) {
    const day = dayOf(listed.closeMs)
    add([{ first: day, last: day, role: 'by', grain: 'day' }], 'close')
  }
  return trimmed(decisionDates)
}

function statedDatesOf(decisionDates: readonly DecisionDate[]): readonly DecisionDate[] {
  // The year in a ticker may be that of the season or of the settlement, so it is only a hint.
  const dated = decisionDates.filter(
    ({ source, grain }) => source !== 'close' && (source !== 'handle' || grain !== 'year'),
  )
  // Dates in texts have priority over the ticker, whose day may be that of a publication or of the settlement.
  const texts = dated.filter(({ source }) => source !== 'handle')
  const days = texts.filter(isFine)
  if (days.length > 0) return days
  if (texts.length > 0 && texts.every(({ grain }) => /month|quarter/.test(grain))) return texts
  const fine = dated.filter(isFine)
  if (fine.length > 0) return fine
  // The month in a ticker may be that of the listing, so the year in a text applies.
  const middle = texts.length > 0 ? texts : dated
  const months = middle.filter(({ grain }) => grain !== 'year')
  return months.length > 0 ? months : middle
}

const isFine = ({ grain }: DecisionDate): boolean => grain === 'day' || grain === 'week'

/** Date of a ticker. December 31 and January 1 stand for the whole year, unless a text states more. */
function handleDate({ first, last, grain }: TickerDate): Omit<DecisionDate, 'source'> {
  if (grain !== 'day') return { first, last, role: 'in', grain }
  const date = isoDay(first).slice(5)
  if (date !== '12-31' && date !== '01-01') return { first, last, role: 'on', grain }
  const end = date === '12-31' ? last : last - 1
  return { first: end - 364, last: end, role: 'in', grain: 'year' }
}

function quantityFor(
  { listed, title, answer }: Texts,
  grain: Proposition['grain'],
): Quantity | null {
  const stated = answer.quantity ?? title.quantity
  if (stated !== null) return stated
  if (grain === 'event' || listed.handles === 'slug') return null
  return quantityOfStrike(listed.strike)
}

function kindOf(
  isGame: boolean,
  asset: string | null,
  quantity: Quantity | null,
  isSpeech: boolean,
): Proposition['kind'] {
  if (isGame) return 'game'
  if (asset !== null) return 'price'
  if (isSpeech) return 'speech'
  return quantity === null ? 'text' : 'quantity'
}

const WHETHER = /^(?:will|is|are|does|do|did|can|has|have)\b(?!.*(?:\?.|\.\.\.))/

function formOf(folded: string, childCount: number): Proposition['form'] {
  if (
    /^number of|\bjobs (?:numbers|added|report)\b|# of\b|\bhow (?:many|much|high|low|often|long)\b|(?<![\d.])\s?% of|\b(?:what|which) (?:%|percent)|_{2,}|\bmargin of\b|\bturnout\b/.test(
      folded,
    )
  )
    return 'count'
  if (
    /^when\b|^(?:what|which) (?:day|date|month|year)\b|\b(?:by|before|in) ?(?:\.\.\.|_{2,})|\bwhen will\b/.test(
      folded,
    )
  )
    return 'when'
  if (/\b(?:who|whom|which|what|where)\b|\bwinner\b|\bchampion\??$/.test(folded)) return 'open'
  if (WHETHER.test(folded)) return 'closed'
  // "Next prime minister?" asks which. "Will anyone dissent at the next meeting?" asks whether.
  if (/^(?!(?:will|is|are|does|do|did|can|has|have)\b).*\bnext\b.*\?$/.test(folded)) return 'open'
  return childCount > 1 ? 'open' : 'closed'
}

const OPENERS = wordSet(
  'will who what which when where how is are does did top most next number highest lowest first any best total jan feb mar apr jun jul aug sep sept oct nov dec january february march april may june july august september october november december',
)

const NAME_RUN =
  /(?<![\p{L}\p{N}])\p{Lu}[\p{L}\p{N}.'’]*(?:[ -](?:(?:de|da|di|del|la|van|von|bin|al|el) )?\p{Lu}[\p{L}\p{N}.'’]*)*/gu
/** Matches an informative word in lower case after the first word. Such a title is not in heading case. */
const LOWER_WORD =
  / (?!(?:will|the|and|for|with|from|over|under|into|than|that|this|what|which|when|after|before|during|above|below|between|have|been|more|less|most|next|has|are|was|not|its|his|her|who|how|did|any|all|out|per|via|off|can|get)\b)\p{Ll}{3,}/u
/**
 * Names in a title: runs of capitalized words that no text writes in lower case, such as "Los Angeles Lakers". Capitals
 * in a heading are no evidence of a name, so an ordinary word ends a run.
 */
function nameRunsOf(title: string): (readonly string[])[] {
  const runs: string[][] = []
  const isHeading = !LOWER_WORD.test(title)
  for (const match of beginningOf(title).matchAll(NAME_RUN)) {
    // The text after a dash is the label of Yes: "Orbex Masters Winner — Sam Burns".
    const isProof = !isHeading || / [—–] $/.test(title.slice(0, match.index))
    let run: string[] = []
    for (const [at, { word, meaning }] of spellingsOf(fold(match[0])).entries()) {
      // The first word of a sentence is always capitalized.
      if (isNameWord(word, meaning, !isProof || match.index + at === 0)) run.push(meaning)
      else if (meaning !== '') {
        if (run.length > 0) runs.push(run)
        run = []
      }
    }
    if (run.length > 0) runs.push(run)
  }
  return runs.map(trimmed)
}

function isNameWord(word: string, meaning: string, isHeading: boolean): boolean {
  if (meaning === '') return false
  if (/^(?:country|state|district)/.test(meaning)) return true
  if (OPENERS.has(word) || /^\d+$/.test(word)) return false
  // A phrase of the lexicon is a name only if its identity is one.
  if ((meaning !== stem(word) && meaning !== word) || meaningOf(word) !== null)
    return isProper(meaning)
  return !isHeading || !isOrdinary(meaning)
}

const NEGATED_VERB =
  /\b(?:will|would|does|do|did|is|are|has|have|can)\b[^?|:]*?\bnot\b(?! (?:only|before|until|later)\b)|n't\b|\b(?:fails? to|stays? dry|remains?|stays? in office)\b/
/** Matches a negated answer, but not "No one", "no change" and "no. 1". */
const NEGATED_ANSWER = /^not?\b(?!\.| (?:one|body|change|other|longer|more|\d))\s*(\S*)/
const QUOTED = /"[^"]*"/g

/**
 * Whether Yes means that something does not happen: "will X not resign", "stay dry", "No rain", "Not before May 1".
 * `title` and `answer` are folded, and `around` is the rest of the texts. Does not apply to ranges, whose bounds show
 * it (quantity.ts).
 */
export function isNegative(title: string, answer: string, around: string): boolean {
  if (NEGATED_VERB.test(title.replace(QUOTED, ' '))) return true
  const match = NEGATED_ANSWER.exec(answer)
  if (match === null) return false
  // A work or a party may be called "No …". It is a negation only if the question contains the negated word.
  const [matched, denied = ''] = match
  return matched.startsWith('not') || (denied.length > 2 && ` ${title} ${around} `.includes(denied))
}
