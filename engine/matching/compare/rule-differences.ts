// What rule texts say beyond the question: station, data source, tie, scope, and terms by which a text departs from the plain
// reading of its question. Two texts are compared class by class; a class that only one of them mentions is no difference, but
// a text without such a term is read plainly: where one of two has it and the other has not, they settle differently.
// Not for: questions and titles (compare.ts). Upholds VETO14, VETO15, VETO21.

import { allSaid, type PhraseRows, phraseTable, tableIn } from '../understand/phrases.ts'

const TABLES = tableIn<
  Readonly<Record<'stations' | 'sources' | 'tie' | 'scope' | 'terms', PhraseRows>>
>(new URL('./rules.json', import.meta.url))
const STATIONS = phraseTable(TABLES.stations)
const SOURCES = phraseTable(TABLES.sources)
const TERMS = phraseTable(TABLES.terms)
const CLASSES = (['tie', 'scope'] as const).map(
  (name) => [name, phraseTable(TABLES[name])] as const,
)

/** The weather stations that a rule text names: known ones, and airports by their code. */
export function stationsOf(rules: string): readonly string[] {
  const codes = rules.match(/\b[KE][A-Z]{3}\b/g) ?? []
  const named = /\b([A-Z][\w.'-]+(?: [A-Z][\w.'-]+)*) (?:International )?(?:Airport|Station)\b/g
  const airports = [...rules.matchAll(named)].map((match) =>
    (match[1] ?? '').toLowerCase().replace(/(?: international)?(?: airport)?$/, ''),
  )
  return [...allSaid(STATIONS, rules), ...codes, ...airports]
}

/** Examples in advice ("a source like Google or Coinbase may help") are no sources. */
const EXAMPLES = /\bsources? like [^,.]{0,80}/gi
/** Cache by text: thousands of levels of one price share a rule text, which is read once. */
const sources = new WeakMap<object, readonly string[]>()

/** The sources that the rules of a question name, under short names of ours. */
export function sourcesOf(asked: { readonly rules: string }): readonly string[] {
  const known = sources.get(asked)
  if (known !== undefined) return known
  const said = allSaid(SOURCES, asked.rules.replace(EXAMPLES, ''))
  sources.set(asked, said)
  return said
}

/** The classes of what counts and of ties in which both rule texts say something and say different things, in words. */
export function ruleDifferences(a: string, b: string): readonly string[] {
  return CLASSES.flatMap(([name, values]) => {
    const [one, other] = [allSaid(values, a), allSaid(values, b)]
    const isOther = one.length > 0 && other.length > 0
    if (!isOther || one.some((value) => other.includes(value))) return []
    return [`${name}: ${one.join('/')} against ${other.join('/')}`]
  })
}

/** Terms that stand in one of two rule texts only, as "name: reading"; none where a text is unknown. */
export function otherTerms(a: string, b: string): readonly string[] {
  if (a === '' || b === '') return []
  return TERMS.flatMap(([term, says]) => (says.test(a) === says.test(b) ? [] : [term]))
}
