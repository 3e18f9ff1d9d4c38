// Years of award ceremonies, which both venues may state by number: "77th Emmy Awards", "KXGRAMBCA-67".

/** By award: the year before its first ceremony. Ceremony n is in year + n. */
const YEARS_BEFORE: Readonly<Record<string, number>> = {
  grammy: 1958,
  emmy: 1948,
  oscar: 1928,
  'academy award': 1928,
  tony: 1946,
  'golden globe': 1943,
  bafta: 1947,
}
const AWARDS = Object.keys(YEARS_BEFORE).join('|')
const NUMBERED = new RegExp(
  `\\b(\\d{2})(?:st|nd|rd|th) (?=(?:annual |primetime )?(${AWARDS}))`,
  'g',
)
const NAMED = new RegExp(`\\b(${AWARDS})`)

/** Replaces the number of a ceremony in a folded text by its year: "77th emmy awards" becomes "2025 emmy awards". */
export function withCeremonyYears(folded: string): string {
  return folded.replace(NUMBERED, (matched, number: string, award: string) => {
    return `${yearOfCeremony(award, Number(number)) ?? matched} `
  })
}

/** Year of ceremony `number` of the award that a folded text names. Null if it names none. */
export function yearOfCeremony(folded: string, number: number): number | null {
  const before = YEARS_BEFORE[NAMED.exec(folded)?.[1] ?? '']
  return before === undefined ? null : before + number
}
