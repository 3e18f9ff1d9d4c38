// Ordinals and classes in a text that decide alone: season 24, group A, top 10, second place, CO-02, a
// country, a party, an office. Two texts that both have a mark of one class and share none ask different
// things. Not for: ranges (quantity.ts), dates (dates.ts). Upholds PROP4, VETO6.

/** Class → values; a class without values is absent. */
export type Marks = ReadonlyMap<string, ReadonlySet<string>>

const ORDINALS: Readonly<Record<string, string>> = {
  first: '1',
  second: '2',
  third: '3',
  fourth: '4',
  fifth: '5',
  one: '1',
  two: '2',
  three: '3',
  top: '1',
  outright: '1',
  highest: 'most',
  largest: 'most',
  biggest: 'most',
  best: 'most',
  fewest: 'least',
  lowest: 'least',
  smallest: 'least',
  worst: 'least',
}
const NTH = 'first|second|third|fourth|fifth|\\d+(?:st|nd|rd|th)'
/** A text without any of these has none of the marks below. */
const ORDINAL =
  /\d|#|\b(?:core|supporting|revival|acting|interim|deputy|outright|how)\b|(?:first|most|best|worst|least|est)\b|\b(?:second|third|top|group|place|runner|cut)\b/
/** Class → pattern over the folded text, its first group that is set being the value, and a cheap text that must be there. */
const PATTERNS: readonly (readonly [string, RegExp, RegExp?])[] = [
  ['season', /\b(?:season|s)\s?(\d{1,2})\b/g, /season|s\d/],
  ['episode', /\b(?:episode|ep)\.? (\d{1,3})\b/g, /ep/],
  ['group', /\bgroup ([a-l])\b/g, /group /],
  ['topN', /\btop[ -]?(\d{1,3}|ten|five|three|twenty)\b/g, /top/],
  ['cut', /\bmak(?:es?|ing) the (cut)\b/g, /cut/],
  ['map', /\b(?:map|game|gm) #?(\d)\b/g, /map|game|gm/],
  ['set', new RegExp(`\\bset (\\d)\\b|\\b(${NTH}) set\\b`, 'g'), /set/],
  [
    'round',
    new RegExp(
      `\\b(?:round|r) ?(\\d{1,2})\\b|\\b(${NTH}) round\\b|\\bround of (\\d+)\\b|\\b(outright)\\b`,
      'g',
    ),
  ],
  ['half', /\b(first|second|1st|2nd) half\b|\b(1|2)h\b/g, /half|\dh/],
  ['weekN', new RegExp(`\\bweek (\\d{1,2})\\b(?!\\s*[-/])|\\b(${NTH})[ -]week\\b`, 'g'), /week/],
  ['limit', /\b(core|supporting|revival|acting|interim|deputy)\b/g],
  ['peak', /\bhow (high|low)\b/g],
  ['dayN', /\bday (\d{1,2})\b/g, /day /],
  [
    'rank',
    new RegExp(
      `#(\\d{1,2})(?!\\d)|\\b(${NTH}) place\\b|\\b(?:finish(?:es)?|come in|comes in|runner|be)[ -](${NTH}|up)\\b|\\b(${NTH})[ -](?:largest|highest|biggest|best|most|lowest)\\b|\\b(top)\\b(?! ?\\d| ten| five| three| chef)`,
      'g',
    ),
  ],
  [
    'edition',
    /\b(\d{2,3})(?:st|nd|rd|th) (?:annual|edition)|\b(?:ufc|wrestlemania|super bowl) (\d{1,3}|[ivxl]+)\b/g,
  ],
  [
    'extreme',
    /(?<!at )\b(most(?! seats)|highest|largest|biggest|best|least|fewest|lowest|smallest|worst)\b/g,
  ],
  [
    'gradeN',
    /\b(?:version |v|gpt-|gemini |grok |claude )(\d+(?:\.\d+)?)\b/g,
    /version|v\d|gpt|gemini|grok|claude/,
  ],
]

/** Meaning of a word (lexicon.ts) → the class in which it excludes others. */
const CLASSES: Readonly<Record<string, string>> = {
  party: 'democrat republican',
  office: 'governor mayor president vicepresident pm senate house attorney secgen',
  level: 'highest lowest',
  direction: 'raise cut',
  scale: 'majority',
  league: 'mlb nfl nba nhl wnba cfb cbb mls epl ucl uel f1 nascar ufc ipl worldcup',
  division: 'al nl afc nfc',
  asset:
    'bitcoin ethereum solana xrp dogecoin hyperliquid cardano litecoin chainlink avalanche bnb shiba wti brent natgas gold silver copper spx ndx dow nikkei eurusd usdjpy gbpusd',
  measure: 'cpi gdp jobless payrolls ppi pce pmi temperature approval turnout referendum',
  bank: 'fed boc boe ecb boj rba',
  work: 'movie show song album',
  sex: 'men women mens womens',
  reach: 'global us1',
  stage:
    'nominee nominated shortlist qualify advance runoff relegation promotion semifinal finalist',
  award: 'mvp rookieofyear moty coty cyyoung dpoy heisman goalscorer',
}

const classOfWord = new Map<string, string>()
for (const [name, words] of Object.entries(CLASSES)) {
  for (const word of words.split(' ')) classOfWord.set(word, name)
}

/** Marks of a folded text and its meanings; `around` is what else is said, for the span of a figure. */
export function marksOf(folded: string, meanings: readonly string[], around = ''): Marks {
  const marks = new Map<string, Set<string>>()
  const add = (name: string, value: string): void => {
    const known = marks.get(name)
    if (known === undefined) marks.set(name, new Set([value]))
    else known.add(value)
  }
  if (ORDINAL.test(folded)) {
    for (const [name, pattern, hint] of PATTERNS) {
      if (hint !== undefined && !hint.test(folded)) continue
      for (const match of folded.matchAll(pattern)) {
        const value = match.slice(1).find((group) => group !== undefined)
        if (value !== undefined) add(name, ordinal(value))
      }
    }
  }
  for (const word of meanings) {
    const name = classOfWord.get(word)
    if (name !== undefined) add(name, word)
    else if (word.startsWith('country:')) add('country', word)
    else if (word.startsWith('state:')) add('state', word)
    else if (word.startsWith('district')) add('district', word)
  }
  const span = spanOf(`${folded} ${around}`)
  if (span !== null) add('span', span)
  const placing = placingOf(marks, meanings)
  marks.delete('topN')
  marks.delete('rank')
  marks.delete('cut')
  if (placing !== null) add('placing', placing)
  return marks
}

const SPANS: readonly (readonly [string, RegExp])[] = [
  [
    'year',
    /\b(?:yoy|y\/y|annual(?:ly)?|annuali[sz]ed|year[- ]over[- ]year|year[- ]on[- ]year|12[- ]month|yearly)\b/,
  ],
  ['month', /\b(?:mom|m\/m|monthly|month[- ]over[- ]month|month[- ]on[- ]month)\b/],
  ['quarter', /\b(?:qoq|q\/q|quarterly|quarter[- ]over[- ]quarter|quarter[- ]on[- ]quarter)\b/],
]

/** Over what a figure is measured. The index of prices is told by the month, inflation by the year, unless a text says more. */
function spanOf(text: string): string | null {
  for (const [span, pattern] of SPANS) if (pattern.test(text)) return span
  if (/\binflation\b/.test(text)) return 'year'
  return /\bcpi\b/.test(text) ? 'month' : null
}

/** A win is no place among the first ten; the first place is a win. */
function placingOf(marks: Marks, meanings: readonly string[]): string | null {
  const [top] = marks.get('topN') ?? []
  if (top !== undefined) return `top ${top}`
  if (marks.has('cut')) return 'cut'
  const [rank] = marks.get('rank') ?? []
  if (rank !== undefined) return rank === '1' ? 'win' : `place ${rank}`
  return meanings.includes('winx') ? 'win' : null
}

function ordinal(value: string): string {
  const plain = value.replace(/^(\d+)(?:st|nd|rd|th)$/, '$1')
  return (
    ORDINALS[plain] ??
    (plain === 'ten' ? '10' : plain === 'twenty' ? '20' : plain === 'up' ? '2' : plain)
  )
}

/** Classes in which both have marks and share none. */
export function conflictsOf(a: Marks, b: Marks): readonly string[] {
  const found: string[] = []
  for (const [name, values] of a) {
    const others = b.get(name)
    if (others === undefined) continue
    let isShared = false
    for (const value of values) if (others.has(value)) isShared = true
    if (!isShared) found.push(name)
  }
  return found
}

/** Classes of what a competition gives besides its win; who wins it is another question. */
const GIVEN = ['stage', 'award']

/** What one asks of a competition that the other asks the winner of: "stage qualify"; null: nothing. */
export function givenBesideWin(a: Marks, b: Marks): string | null {
  for (const [own, other] of [
    [a, b],
    [b, a],
  ] as const) {
    // Who wins a round advances by it.
    if (!asksWin(other) || other.has('round') || GIVEN.some((name) => other.has(name))) continue
    for (const name of GIVEN) {
      const [value] = own.get(name) ?? []
      // Who wins the runoff wins the election.
      if (value === undefined || (value === 'runoff' && asksWin(own))) continue
      return `${name} ${value}`
    }
  }
  return null
}

const asksWin = (marks: Marks): boolean => marks.get('placing')?.has('win') === true

/** Classes that tell one part or measure of an occasion from another. */
const STAGES = new Set([
  'scale',
  'placing',
  'half',
  'weekN',
  'dayN',
  'episode',
  'peak',
  'span',
  'group',
])
/** Classes that tell a part from the whole. */
const PARTS = new Set(['round', 'stage', 'limit', 'map', 'set'])
/** Classes under the words that users read; the others bear their own name. */
const TOLD: Readonly<Record<string, string>> = {
  ...{ half: 'period', weekN: 'period', dayN: 'period', span: 'period', episode: 'period' },
  ...{ country: 'place', state: 'place', district: 'place', placing: 'rank', scale: 'majority' },
  ...{ limit: 'role', peak: 'measure', extreme: 'rank', gradeN: 'version', sex: 'competition' },
}

/** A class of which only one of two texts has marks. */
export interface LonelyMark {
  /** As users read it. */
  readonly name: string
  readonly share: 'part' | 'stage' | 'other'
  /** Which of the two has none. */
  readonly lacks: 'first' | 'second'
}

/** Classes that only one of the two has. */
export function lonelyMarks(a: Marks, b: Marks): readonly LonelyMark[] {
  const lonely: LonelyMark[] = []
  for (const [own, other, lacks] of [
    [a, b, 'second'],
    [b, a, 'first'],
  ] as const) {
    for (const [name, values] of own) {
      // A win is what most questions ask, said or not; a move up or down is told in many words.
      const isPlain = (name === 'placing' && values.has('win')) || name === 'direction'
      if (other.has(name) || isPlain) continue
      const share = PARTS.has(name) ? 'part' : STAGES.has(name) ? 'stage' : 'other'
      lonely.push({ name: TOLD[name] ?? name, share, lacks })
    }
  }
  return lonely
}
