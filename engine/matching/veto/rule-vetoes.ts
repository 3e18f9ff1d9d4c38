// Conflicts in rule texts: the weather station, the data source, and terms that change the plain meaning of the
// question. If only one of two texts has such a term, the questions settle differently.

import { allMatches, type PhraseRows, phraseTable, tableIn } from '../understand/phrases.ts'
import type { Proposition } from '../understand/proposition.ts'
import { meanings } from '../understand/text-normalization.ts'
import { type Veto, veto } from './vetoes.ts'

const TABLES = tableIn<Readonly<Record<'stations' | 'sources' | 'terms', PhraseRows>>>(
  new URL('./rules.json', import.meta.url),
)
const STATIONS = phraseTable(TABLES.stations)
const SOURCES = phraseTable(TABLES.sources)
const TERMS = phraseTable(TABLES.terms)
function stationsOf(rules: string): readonly string[] {
  const codes = rules.match(/\b[KE][A-Z]{3}\b/g) ?? []
  const named = /\b([A-Z][\w.'-]+(?: [A-Z][\w.'-]+)*) (?:International )?(?:Airport|Station)\b/g
  const airports = [...rules.matchAll(named)].map((match) =>
    (match[1] ?? '').toLowerCase().replace(/(?: international)?(?: airport)?$/, ''),
  )
  return [...allMatches(STATIONS, rules), ...codes, ...airports]
}

/** Matches examples ("a source like Google or Coinbase may help"), which are not sources. */
const EXAMPLES = /\bsources? like [^,.]{0,80}/gi
const sourcesOf = (rules: string): readonly string[] =>
  allMatches(SOURCES, rules.replace(EXAMPLES, ''))

/** Terms in only one of two rule texts, as "name: value". Empty if one text is unknown. */
export function otherTerms(a: string, b: string): readonly string[] {
  if (a === '' || b === '') return []
  return TERMS.flatMap(([term, pattern]) => (pattern.test(a) === pattern.test(b) ? [] : [term]))
}

/**
 * Differences of two rule texts: the weather station, and terms in only one of them. A different source alone is no
 * veto. Together with another difference it is listed first.
 */
export function ruleVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const stations = stationConflicts(a, b)
  const terms = otherTerms(a.rules, b.rules)
  if (stations.length + terms.length === 0) return []
  const sources = isTemperatureQuestion(a, b) ? otherSources(a, b) : []
  return [veto('other_rules', [...stations, ...sources, ...terms].join(', '))]
}

const isTemperatureQuestion = (a: Proposition, b: Proposition): boolean =>
  a.words.includes('temperature') || b.words.includes('temperature')

/**
 * A temperature is measured at one station. If both rule texts state one, the stations must be equal. If only one does,
 * the other question may mean the same station by the name of the place.
 */
function stationConflicts(a: Proposition, b: Proposition): readonly string[] {
  if (!needsStation(a, b)) return []
  const [one, other] = [stationsOf(a.rules), stationsOf(b.rules)]
  if (one.length === 0 || other.length === 0) return []
  if (one.some((station) => other.includes(station))) return []
  return [`station: ${one.join('/')} against ${other.join('/')}`]
}

function needsStation(a: Proposition, b: Proposition): boolean {
  if (!isTemperatureQuestion(a, b)) return false
  return a.grain === 'event' || (a.quantity !== null && b.quantity !== null)
}

/** Whether the first or the second question states no station although it needs one. */
export function lackingStation(a: Proposition, b: Proposition): readonly [boolean, boolean] {
  if (!needsStation(a, b)) return [false, false]
  const [one, other] = [stationsOf(a.rules), stationsOf(b.rules)]
  const sharedNames = a.words.filter((word) => a.names.has(word) && b.words.includes(word))
  const isNamedStation = [...one, ...other].some((station) =>
    meanings(station).some((word) => sharedNames.includes(word)),
  )
  if (isNamedStation && a.rules !== '' && b.rules !== '') return [false, false]
  return [one.length === 0, other.length === 0]
}

function otherSources(a: Proposition, b: Proposition): readonly string[] {
  const [one, other] = [sourcesOf(a.rules), sourcesOf(b.rules)]
  if (one.length === 0 || other.length === 0) return []
  if (one.some((source) => other.includes(source))) return []
  return [`source: ${one.join('/')} against ${other.join('/')}`]
}
