// Vetoes of rule texts: station, source, and terms that only one of the two has. Not for: what the questions say
// (engine/matching/veto/text.ts). Upholds VETO14, VETO15, VETO21.

import { otherTerms, ruleDifferences, sourcesOf, stationsOf } from '../compare/rule-differences.ts'
import type { Proposition } from '../understand/proposition.ts'
import { meanings } from '../understand/words.ts'
import { type Veto, veto } from './vetoes.ts'

/**
 * What two rule texts settle differently: the weather station, and terms that only one has. A different source
 * alone is a caveat and no veto; beside another difference it is listed, before the terms.
 */
export function ruleVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const stations = stationConflicts(a, b)
  const terms = [...otherTerms(a.rules, b.rules), ...ruleDifferences(a.rules, b.rules)]
  if (stations.length + terms.length === 0) return []
  const sources = asksTemperature(a, b) ? otherSources(a, b) : []
  return [veto('other_rules', [...stations, ...sources, ...terms].join(', '))]
}

/** The same vetoes; for a price range inside another the sources are listed too, where both texts name one. */
export function withSources(
  vetoes: readonly Veto[],
  a: Proposition,
  b: Proposition,
): readonly Veto[] {
  if (a.asset === null || !vetoes.some(({ reason }) => reason === 'containment')) return vetoes
  const [source] = otherSources(a, b)
  if (source === undefined) return vetoes
  return vetoes.map((found) =>
    found.reason === 'containment' ? { ...found, detail: `${found.detail}, ${source}` } : found,
  )
}

const asksTemperature = (a: Proposition, b: Proposition): boolean =>
  a.words.includes('temperature') || b.words.includes('temperature')

/**
 * A temperature is measured at one station: where both rule texts name one they must share it. The only one named may bear
 * the name of the place that both ask about.
 */
function stationConflicts(a: Proposition, b: Proposition): readonly string[] {
  if (!needsStation(a, b)) return []
  const [one, other] = [stationsOf(a.rules), stationsOf(b.rules)]
  if (one.length === 0 || other.length === 0) return []
  if (one.some((station) => other.includes(station))) return []
  return [`station: ${one.join('/')} against ${other.join('/')}`]
}

function needsStation(a: Proposition, b: Proposition): boolean {
  if (!asksTemperature(a, b)) return false
  return a.grain === 'event' || (a.quantity !== null && b.quantity !== null)
}

/** Which of the two name no station where that leaves it open. */
export function lackingStation(a: Proposition, b: Proposition): readonly [boolean, boolean] {
  if (!needsStation(a, b)) return [false, false]
  const [one, other] = [stationsOf(a.rules), stationsOf(b.rules)]
  const places = a.words.filter((word) => a.names.has(word) && b.words.includes(word))
  const isOfPlace = [...one, ...other].some((station) =>
    meanings(station).some((word) => places.includes(word)),
  )
  if (isOfPlace && a.rules !== '' && b.rules !== '') return [false, false]
  return [one.length === 0, other.length === 0]
}

function otherSources(a: Proposition, b: Proposition): readonly string[] {
  const [one, other] = [sourcesOf(a), sourcesOf(b)]
  if (one.length === 0 || other.length === 0) return []
  if (one.some((source) => other.includes(source))) return []
  return [`source: ${one.join('/')} against ${other.join('/')}`]
}
