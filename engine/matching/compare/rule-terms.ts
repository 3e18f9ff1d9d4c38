// Clauses by which a rule text departs from the plain reading of its question: only regulation time, the
// second release and not the first, an exact word only, announcements alone not enough. A text without such a
// clause is read plainly; where one of two texts has it and the other has not, they settle differently.
// Not for: differences that are weighed rather than decided (rule-differences.ts). Upholds VETO15.

/** Name and unusual reading; each pattern looks for words of one sentence; `(?!…)` keeps out the sentence that denies it. */
const TERMS: readonly (readonly [string, RegExp])[] = Object.entries({
  'overtime: regulation time only':
    /\bonly regulation\b|\bregulation time only\b|\bovertime (?:does|will) not count\b/i,
  'retirement: a retirement is shared': /\bretires?\b[^.]{0,60}(?:\$0\.50|50[-/ ]?50)/i,
  'measure: another measure of the price':
    /\bnot the index but\b|\bmedian of (?:the )?(?:last )?[^.]{0,40}\btrades\b/i,
  'release: a later release':
    /\b(?:second|third|final|revised) (?:release|estimate|print)\b[^.]{0,40}\bcounts\b/i,
  'meeting: moves between meetings count':
    /\bbetween meetings\b(?:(?!\bnot\b)[^.]){0,60}\bcounts?\b/i,
  'office: who takes office, not who is elected':
    /\b(?:sworn in|takes? office|inaugurated)\b[^.]{0,40}\bnot\b[^.]{0,30}\b(?:votes?|elected|results?)\b/i,
  'poll: a single poll': /\b(?:single|individual) poll\b[^.]{0,60}\bnot\b[^.]{0,20}\baverage\b/i,
  'wording: the exact word only':
    /\bplurals?\b(?: (?:and|or) possessives?)?[^.]{0,30}\bnot\b|\bonly the exact (?:form|word|phrase)\b/i,
  'announcement: an announcement is not enough':
    /\bannouncements?\b[^.:]{0,30}\b(?:not|in)suffi|\bannouncements?\b[^.:]{0,40}\bnot (?:be )?(?:suffi|enough|count)/i,
  'confirmation: rumours count': /\b(?:rumou?rs?|leaks?)\b(?:(?!\bnot\b)[^.]){0,50}\bcounts?\b/i,
  'trace: a trace counts':
    /\btrace\b(?:(?!\bnot\b)[^.]){0,30}(?:\bcounts?\b|\bresolves? to "?yes\b)/i,
  'readings: hourly readings':
    /\bhourly (?:readings|observations)\b(?:(?!\bnot\b)[^.]){0,20}\bcounts?\b|\bby the [^.]{0,12}hourly\b/i,
  'chart: paid plays only':
    /\b(?:paid (?:streams|plays|downloads|sales) only|only paid (?:streams|plays|downloads|sales))\b/i,
  'critics: top critics only': /\btop critics\b[^.]{0,40}\b(?:used|counts?|considered)\b/i,
  'weekend: a weekend of four days': /\b(?:four|4)-day\b[^.]{0,40}\bcounts?\b/i,
  'joint: joint winners count as one':
    /\bcollapses?\b[^.]{0,20}\bjoint\b|\bjoint(?:ly)?\b[^.]{0,60}\b(?:alphabetical|listed first|only one)\b/i,
  'tie: ties are broken by count-back':
    /\bties?\b[^.]{0,40}\bcount-?back\b|\bdead heats?\b[^.]{0,40}\bcount-?back\b/i,
})

/** Terms that stand in one of two rule texts only, as "name: reading"; none where a text is unknown. */
export function otherTerms(a: string, b: string): readonly string[] {
  if (a === '' || b === '') return []
  return TERMS.flatMap(([term, pattern]) => (pattern.test(a) === pattern.test(b) ? [] : [term]))
}
