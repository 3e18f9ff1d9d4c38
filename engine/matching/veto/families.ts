// Families of markets whose rules a person compared and found to settle otherwise, however alike their titles are: a
// verdict on a family binds all its pairs. Source: both venues' rule texts as read on 24 and 25 September 2026. Not for:
// differences that the texts of one pair show (rules.ts). Upholds VETO23.

import type { Proposition } from '../understand/proposition.ts'
import { type Veto, veto } from './vetoes.ts'

/** The family of a ticker, the beginning of a slug, and what differs. */
const REJECTED: readonly (readonly [string, string, string])[] = [
  [
    'KXALBUMRELEASE',
    'which-artists-will-release-new-albums-in-',
    'any new material against an album',
  ],
  [
    'KXHURPATHHAWAII',
    'will-a-hurricane-make-landfall-in-hawaii-',
    'the hurricane season against the year',
  ],
  [
    'KXCRYPTOCAPGAIN',
    'trump-eliminates-capital-gains-tax-on-crypto',
    'a law against a law or an order',
  ],
  ['KXSPANISHPM', 'next-prime-minister-of-spain', 'after an election against with one or without'],
  ['KXLEAVEOPEC', 'will-another-country-leave-opec-in-', 'one exit counted, or not'],
  ['KXRECOGSOMALI', 'will-trump-recognize-somaliland-', 'acts against formal recognition'],
  [
    'KXRECOGPALESTINE',
    'which-countries-will-recognize-palestine-',
    'acts against formal recognition',
  ],
  ['KXNOBELPEACE', 'nobel-peace-prize-winner-', 'joint winners each, or one'],
]

const SERIES = new Set(REJECTED.map(([series]) => series))

/** The verdict on the families of two questions, in either order of handles. */
export function familyVetoes(a: Proposition, b: Proposition): readonly Veto[] {
  const found = [a.series, b.series].find((series) => SERIES.has(series))
  if (found === undefined) return []
  const slugs = [...a.slugs, ...b.slugs]
  return REJECTED.filter(
    ([series, slug]) => series === found && slugs.some((one) => one.startsWith(slug)),
  ).map(([, , why]) => veto('other_rules', `family: ${why}`))
}
