// Clauses by which a rule text departs from the plain reading of its question: only regulation time, the
// second release and not the first, an exact word only, announcements alone not enough. A text without such a
// clause is read plainly; where one of two texts has it and the other has not, they settle differently.
// Not for: differences that are weighed rather than decided (rule-differences.ts). Upholds VETO15.

interface RuleTerm {
  readonly name: string
  /** The unusual reading, in a few words. */
  readonly says: string
  readonly pattern: RegExp
}

/** Each looks for words of one sentence; `(?!…)` keeps out the sentence that denies it. */
const TERMS: readonly RuleTerm[] = [
  {
    name: 'overtime',
    says: 'regulation time only',
    pattern: /\bonly regulation\b|\bregulation time only\b|\bovertime (?:does|will) not count\b/i,
  },
  {
    name: 'retirement',
    says: 'a retirement is shared',
    pattern: /\bretires?\b[^.]{0,60}(?:\$0\.50|50[-/ ]?50)/i,
  },
  {
    name: 'measure',
    says: 'another measure of the price',
    pattern: /\bnot the index but\b|\bmedian of (?:the )?(?:last )?[^.]{0,40}\btrades\b/i,
  },
  {
    name: 'release',
    says: 'a later release',
    pattern: /\b(?:second|third|final|revised) (?:release|estimate|print)\b[^.]{0,40}\bcounts\b/i,
  },
  {
    name: 'meeting',
    says: 'moves between meetings count',
    pattern: /\bbetween meetings\b(?:(?!\bnot\b)[^.]){0,60}\bcounts?\b/i,
  },
  {
    name: 'office',
    says: 'who takes office, not who is elected',
    pattern:
      /\b(?:sworn in|takes? office|inaugurated)\b[^.]{0,40}\bnot\b[^.]{0,30}\b(?:votes?|elected|results?)\b/i,
  },
  {
    name: 'poll',
    says: 'a single poll',
    pattern: /\b(?:single|individual) poll\b[^.]{0,60}\bnot\b[^.]{0,20}\baverage\b/i,
  },
  {
    name: 'wording',
    says: 'the exact word only',
    pattern:
      /\bplurals?\b(?: (?:and|or) possessives?)?[^.]{0,30}\bnot\b|\bonly the exact (?:form|word|phrase)\b/i,
  },
  {
    name: 'announcement',
    says: 'an announcement is not enough',
    pattern:
      /\bannouncements?\b[^.:]{0,30}\b(?:not|in)suffi|\bannouncements?\b[^.:]{0,40}\bnot (?:be )?(?:suffi|enough|count)/i,
  },
  {
    name: 'confirmation',
    says: 'rumours count',
    pattern: /\b(?:rumou?rs?|leaks?)\b(?:(?!\bnot\b)[^.]){0,50}\bcounts?\b/i,
  },
  {
    name: 'trace',
    says: 'a trace counts',
    pattern: /\btrace\b(?:(?!\bnot\b)[^.]){0,30}(?:\bcounts?\b|\bresolves? to "?yes\b)/i,
  },
  {
    name: 'readings',
    says: 'hourly readings',
    pattern:
      /\bhourly (?:readings|observations)\b(?:(?!\bnot\b)[^.]){0,20}\bcounts?\b|\bby the [^.]{0,12}hourly\b/i,
  },
  {
    name: 'chart',
    says: 'paid plays only',
    pattern:
      /\b(?:paid (?:streams|plays|downloads|sales) only|only paid (?:streams|plays|downloads|sales))\b/i,
  },
  {
    name: 'critics',
    says: 'top critics only',
    pattern: /\btop critics\b[^.]{0,40}\b(?:used|counts?|considered)\b/i,
  },
  {
    name: 'weekend',
    says: 'a weekend of four days',
    pattern: /\b(?:four|4)-day\b[^.]{0,40}\bcounts?\b/i,
  },
  {
    name: 'joint',
    says: 'joint winners count as one',
    pattern:
      /\bcollapses?\b[^.]{0,20}\bjoint\b|\bjoint(?:ly)?\b[^.]{0,60}\b(?:alphabetical|listed first|only one)\b/i,
  },
  {
    name: 'tie',
    says: 'ties are broken by count-back',
    pattern: /\bties?\b[^.]{0,40}\bcount-?back\b|\bdead heats?\b[^.]{0,40}\bcount-?back\b/i,
  },
]

/** Terms that stand in one of two rule texts only, as "name: reading"; none where a text is unknown. */
export function otherTerms(a: string, b: string): readonly string[] {
  return a === '' || b === '' ? [] : lonelyTerms(a, b).map(({ name, says }) => `${name}: ${says}`)
}

/** The same for summaries: where one of them is silent, the plain reading is assumed. */
export function lonelyTerms(
  a: string,
  b: string,
): readonly { readonly name: string; readonly says: string; readonly isOfA: boolean }[] {
  return TERMS.flatMap(({ name, says, pattern }) => {
    const isOfA = pattern.test(a)
    return isOfA === pattern.test(b) ? [] : [{ name, says, isOfA }]
  })
}
