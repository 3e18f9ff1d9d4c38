// What rule texts say beyond the question: station, data source, boundary, tie, window, scope. Two rule texts are
// held against each other class by class; a class that only one of them mentions is no difference.
// Not for: questions and titles (compare.ts). Upholds VETO14, SCORE9.

/** A class of rules with the value that each pattern stands for. */
type RuleClass = readonly (readonly [string, RegExp])[]

const STATION: RuleClass = [
  ['laguardia', /\blaguardia\b|\bklga\b/i],
  ['central park', /\bcentral park\b|\bknyc\b/i],
  ['jfk', /\bjfk\b|\bkjfk\b/i],
  ['midway', /\bmidway\b|\bkmdw\b/i],
  ["o'hare", /\bo'?hare\b|\bkord\b/i],
  ['lax', /\blos angeles international\b|\bklax\b/i],
  ['downtown la', /\bdowntown los angeles\b|\bkcqt\b/i],
  ['miami international', /\bmiami international\b|\bkmia\b/i],
  ['hobby', /\bhobby\b|\bkhou\b/i],
  ['bush', /\bbush intercontinental\b|\bkiah\b/i],
  ['london city', /\blondon city airport\b|\beglc\b/i],
  ['heathrow', /\bheathrow\b|\begll\b/i],
]
const SOURCE: RuleClass = [
  ['binance', /\bbinance\b/i],
  ['coinbase', /\bcoinbase\b/i],
  ['cf benchmarks', /\bcf benchmarks\b|\bbrti\b|\bbrr\b/i],
  ['chainlink', /\bchainlink\b/i],
  ['pyth', /\bpyth\b/i],
  ['weather service', /\bnational weather service\b|\bnws\b|\bclimatological report\b/i],
  ['wunderground', /\bwunderground\b|\bweather underground\b/i],
  ['silver bulletin', /\bsilver bulletin\b/i],
  ['real clear', /\brealclear|\brcp\b/i],
  ['votehub', /\bvotehub\b/i],
  ['associated press', /\bassociated press\b/i],
  ['billboard', /\bbillboard\b/i],
  ['luminate', /\bluminate\b/i],
  ['spotify', /\bspotify\b/i],
]
const TIE: RuleClass = [
  ['split', /\btie\b[^.]{0,80}\b(?:50[-/ ]?50|50 ?%|half|split|equal)/i],
  ['alphabetical', /\btie\b[^.]{0,120}\balphabetical/i],
  ['both', /\btie\b[^.]{0,80}\b(?:all|both|each)\b[^.]{0,40}\byes\b/i],
  ['none', /\btie\b[^.]{0,80}\bresolve[sd]?\b[^.]{0,20}"?no\b/i],
]
const CLASSES: readonly (readonly [string, RuleClass])[] = [
  ['station', STATION],
  ['source', SOURCE],
  ['tie', TIE],
]

export interface RuleDifference {
  /** `station`, `source` or `tie`. */
  readonly name: string
  readonly a: string
  readonly b: string
}

/** Classes in which both rule texts say something and say different things. */
export function ruleDifferences(a: string, b: string): readonly RuleDifference[] {
  if (a === '' || b === '') return []
  const found: RuleDifference[] = []
  for (const [name, values] of CLASSES) {
    const [one, other] = [saidOf(values, a), saidOf(values, b)]
    if (one.length === 0 || other.length === 0) continue
    if (!one.some((value) => other.includes(value))) {
      found.push({ name, a: one.join('/'), b: other.join('/') })
    }
  }
  return found
}

function saidOf(values: RuleClass, text: string): readonly string[] {
  return values.filter(([, pattern]) => pattern.test(text)).map(([value]) => value)
}

/** Words by which a reader's note names a class of difference. */
const NOTED: readonly (readonly [string, RegExp])[] = [
  ['station', /\bstation\b|\bairport\b/i],
  ['source', /\bsource\b|\boracle\b|\bindex\b/i],
  ['boundary', /\bboundary\b|\bstrictly\b|\bat least\b[^.]*\babove\b/i],
  ['tie', /\btie\b|\bjoint\b|\bcollapses?\b/i],
  [
    'window',
    /\bwindow|\bdeadline\b|\bseason \(|\bends (?:nov|dec)|\bmarket creation\b|\bcloses\b|\bby (?:aug|mar|apr)\b/i,
  ],
  [
    'scope',
    /\bbroader\b|\balso accepts?\b|\bexcludes?\b|\brequires?\b|\bonly\b|\bany new\b|\bcounts?\b|\bafter the next\b/i,
  ],
]

/** The classes that a note names, and whether it sets the two venues against each other. */
export function ruleClassesOf(note: string): { classes: readonly string[]; isDifferent: boolean } {
  const classes = NOTED.filter(([, pattern]) => pattern.test(note)).map(([name]) => name)
  const isAgreed = /^(?:both|idem|first half|uefa|concacaf)\b/i.test(note.trim())
  return { classes, isDifferent: !isAgreed && classes.length > 0 }
}
