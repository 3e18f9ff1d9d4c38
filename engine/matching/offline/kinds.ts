// The kind of question that a labelled pair asks, so that an evaluation can hold back everything of one kind at once.
// Kinds serve judging alone: nothing that scores reads them. Not for: reading questions (engine/matching/understand/).
// Upholds SCORE8.

import type { MatchEvent, MatchMarket } from '../../subject.ts'
import { firstSaid, type PhraseRows, phraseTable, tableIn } from '../understand/phrases.ts'
import { fold } from '../understand/words.ts'

const TABLES = tableIn<Readonly<Record<'bySeries' | 'byWords', PhraseRows>>>(
  new URL('./kinds.json', import.meta.url),
)
const BY_SERIES = phraseTable(TABLES.bySeries)
const BY_WORDS = phraseTable(TABLES.byWords)

/** The kind of a pair by its second side's series, else by both titles; `other` where nothing fits. */
export function kindOf(
  a: Pick<MatchMarket | MatchEvent, 'title'>,
  b: Pick<MatchMarket | MatchEvent, 'title' | 'subtitle'>,
  series: string,
): string {
  const titles = `${fold(b.title)} ${fold(b.subtitle)} | ${fold(a.title)}`
  return firstSaid(BY_SERIES, series) ?? firstSaid(BY_WORDS, titles) ?? 'other'
}
