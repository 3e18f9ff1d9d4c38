// What rule texts say beyond the question: station, data source, tie, scope. Two rule texts are
// compared class by class; a class that only one of them mentions is no difference.
// Not for: questions and titles (compare.ts). Upholds VETO14, VETO15, VETO21.

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
  ['harbor', /\bharbou?r (?:weather )?station\b/i],
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
/** What counts as having happened. */
const SCOPE: RuleClass = [
  ['law only', /\brequires? a law\b|\bsigned into law\b|\bbecomes? law\b/i],
  ['law or order', /\bexecutive (?:action|order)s?\b/i],
  ['formal only', /\bformal(?:ly)? recogni\w+\b[^.]{0,20}\bonly\b|\brequires? formal\b/i],
  ['acts of recognition', /\bembassy\b|\bambassador\b|\bqualifying acts\b/i],
  ['any new material', /\bany new (?:original )?material\b|\bsingles\b/i],
  ['an album', /\ban? (?:[\w-]+ )?album\b/i],
  ['after an election', /\bafter the next (?:general |federal )?election\b/i],
  ['election or not', /\belection or not\b|\bnext (?:pm|prime minister) to take office\b/i],
  ['with an exclusion', /\bexcludes?\b|\bdoes not count\b/i],
  ['any announcement', /\bany announcement\b/i],
  ['each of joint winners', /\b(?:each|all) (?:of the )?(?:joint|co-?)\b/i],
  ['one of joint winners', /\bcollapses?\b[^.]{0,20}\bjoint\b/i],
]
const CLASSES: readonly (readonly [string, RuleClass])[] = [
  ['tie', TIE],
  ['scope', SCOPE],
]

/** The weather stations that a rule text names: known ones, and airports by their code. */
export function stationsOf(rules: string): readonly string[] {
  const codes = rules.match(/\b[KE][A-Z]{3}\b/g) ?? []
  const named = /\b([A-Z][\w.'-]+(?: [A-Z][\w.'-]+)*) (?:International )?(?:Airport|Station)\b/g
  const airports = [...rules.matchAll(named)].map((match) =>
    (match[1] ?? '').toLowerCase().replace(/(?: international)?(?: airport)?$/, ''),
  )
  return [...saidOf(STATION, rules), ...codes, ...airports]
}

/** Examples in advice ("a source like Google or Coinbase may help") are no sources. */
const EXAMPLES = /\bsources? like [^,.]{0,80}/gi
/** Cache by text: thousands of levels of one price share a rule text, which is read once. */
const sources = new WeakMap<object, readonly string[]>()

/** The sources that the rules of a question name, under short names of ours. */
export function sourcesOf(asked: { readonly rules: string }): readonly string[] {
  const known = sources.get(asked)
  if (known !== undefined) return known
  const said = saidOf(SOURCE, asked.rules.replace(EXAMPLES, ''))
  sources.set(asked, said)
  return said
}

/** The classes of what counts and of ties in which both rule texts say something and say different things, in words. */
export function ruleDifferences(a: string, b: string): readonly string[] {
  return CLASSES.flatMap(([name, values]) => {
    const [one, other] = [saidOf(values, a), saidOf(values, b)]
    const isOther = one.length > 0 && other.length > 0
    if (!isOther || one.some((value) => other.includes(value))) return []
    return [`${name}: ${one.join('/')} against ${other.join('/')}`]
  })
}

function saidOf(values: RuleClass, text: string): readonly string[] {
  return values.filter(([, pattern]) => pattern.test(text)).map(([value]) => value)
}
