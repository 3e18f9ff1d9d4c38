// Ordinals and classes in a text that decide alone: season 24, group A, top 10, second place, CO-02, a
// country, a party, an office. Two texts that both have a mark of one class and share none ask different
// things. Not for: ranges (quantity.ts), dates (dates.ts). Upholds PROP4, VETO6.

import { firstSaid, type PhraseRows, phraseTable, tableIn } from './phrases.ts'

/** Class → values; a class without values is absent. */
export type Marks = ReadonlyMap<string, ReadonlySet<string>>

const TABLES = tableIn<{
  readonly ordinals: Readonly<Record<string, string>>
  /** Class → meanings (lexicon.ts) that exclude each other. */
  readonly classes: Readonly<Record<string, string>>
  /** Class → the words under which users read it; the others bear their own name. */
  readonly told: Readonly<Record<string, string>>
  readonly spans: PhraseRows
}>(new URL('./marks.json', import.meta.url))
const NTH = 'first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|\\d+(?:st|nd|rd|th)'
const COUNTED = 'three|four|five|six|seven|eight|nine|ten|twenty'
/** A text without any of these has none of the marks below. */
const ORDINAL =
  /\d|#|\bor (?:better|higher)\b|\b(?:core|supporting|revival|acting|interim|deputy|outright|opening|how)\b|(?:first|most|best|worst|least|est)\b|\b(?:second|third|top|group|place|runner|cut|field)\b|other|else|none of| vs|next/
/** Class → pattern over the folded text, its first group that is set being the value, and a cheap text that must be there. */
const PATTERNS: readonly (readonly [string, RegExp, RegExp?])[] = [
  ['season', /\b(?:season|s)\s?(\d{1,2})\b/g, /season|s\d/],
  ['episode', /\b(?:episode|ep)\.? (\d{1,3})\b/g, /ep/],
  ['group', /\bgroup ([a-l])\b/g, /group /],
  [
    'topN',
    new RegExp(
      `\\btop[ -]?(\\d{1,3}(?! ?(?:[,.]\\d|%|[mbt]r?illion))|${COUNTED})\\b|\\b(${NTH})(?: place)? or (?:better|higher)\\b`,
      'g',
    ),
    /top|or (?:better|higher)/,
  ],
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
  [
    'weekN',
    new RegExp(
      `\\bweek (\\d{1,2})\\b(?!\\s*[-/])|\\b(opening|${NTH})[ -]week(?:end)?\\b|\\b(open)(?:s|ing)? (?:to|with|above|over)\\b`,
      'g',
    ),
    /week|open/,
  ],
  ['limit', /\b(core|supporting|revival|acting|interim|deputy)\b/g],
  [
    'residual',
    /\b(?:an)?(other) (?:actor|actress|artist|candidate|club|company|country|director|driver|film|individual|model|movie|nation|nominee|option|party|person|player|show|song|team)\b|^will (?:any )?(other) |\b(?:someone|anyone|somebody|anybody) (else)\b|\? (?:any |all )?(others?)$|\? (the field|none of the above)$/g,
  ],
  ['fixture', /: [^:]+ (vs)\.? /g],
  ['turn', /\b(?:be|become|becomes|is) (?:the )?(next)\b|^(next)\b/g, /next/],
  ['peak', /\bhow (high|low)\b/g],
  ['dayN', /\bday (\d{1,2})\b/g, /day /],
  [
    'rank',
    new RegExp(
      `#(\\d{1,2})(?!\\d)|\\b(${NTH}) place\\b|\\b(?:finish(?:es)?|come in|comes in|runner|be)[ -](${NTH}|up)\\b|\\b(${NTH})[ -](?:most|best|worst|\\w{2,}est)\\b|\\b(top)\\b(?! ?[$\\d]| (?:${COUNTED}|chef)\\b)`,
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

/** Both venues are of the US: what is of it is domestic, and a question that names no place may be of it. */
export const HOME = 'country:usa'

const classOfWord = new Map<string, string>()
for (const [name, words] of Object.entries(TABLES.classes)) {
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
    if (word === HOME) add('reach', 'domestic')
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

const SPANS = phraseTable(TABLES.spans)

/** Over what a figure is measured. The index of prices is told by the month, inflation by the year, unless a text says more. */
function spanOf(text: string): string | null {
  const said = firstSaid(SPANS, text)
  if (said !== null) return said
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
  return TABLES.ordinals[plain] ?? plain
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
      if (value === undefined || (/^(?:runoff|playoff)$/.test(value) && asksWin(own))) continue
      return `${name} ${value}`
    }
  }
  return null
}

/** Whether who wins is asked. */
export const asksWin = (marks: Marks): boolean => marks.get('placing')?.has('win') === true

/** Classes that tell one part or measure of an occasion from another. */
const STAGES = new Set([
  'direction',
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
const PARTS = new Set(['sex', 'round', 'stage', 'limit', 'map', 'set', 'residual', 'fixture'])

/** A class of which only one of two texts has marks. */
export interface LonelyMark {
  /** As users read it. */
  readonly name: string
  readonly share: 'part' | 'stage' | 'other'
  readonly values: readonly string[]
  /** Which of the two has none. */
  readonly lacks: 'first' | 'second'
}

/** Classes that one side may leave out. */
const PLAIN = new Set(['reach', 'step', 'making', 'store', 'turn', 'fall', 'critic', 'prize'])

/** Classes that only one of the two has. */
export function lonelyMarks(a: Marks, b: Marks): readonly LonelyMark[] {
  const lonely: LonelyMark[] = []
  for (const [own, other, lacks] of [
    [a, b, 'second'],
    [b, a, 'first'],
  ] as const) {
    for (const [name, values] of own) {
      // A win is what most questions ask, said or not.
      const isPlain =
        (name === 'placing' && values.has('win')) || PLAIN.has(name) || values.has('men')
      if (other.has(name) || isPlain) continue
      const share = PARTS.has(name) ? 'part' : STAGES.has(name) ? 'stage' : 'other'
      lonely.push({ name: TABLES.told[name] ?? name, share, lacks, values: [...values] })
    }
  }
  return lonely
}
