// Conflicts that decide alone, each with the highest score that it leaves and its words. One is enough: similar
// words never outweigh it. Not for: degrees of similarity (compare.ts). Upholds VETO1 to VETO30.

/** From here on a pair counts as matched. */
export const MATCH_SCORE = 80

/** How venue a's question relates to venue b's; README.md says what each means. */
export type Relation = 'identical' | 'subset' | 'superset' | 'overlap' | 'different'

const OVERRULED = 50

interface VetoRule {
  /** Highest score that remains, 0 to 79. */
  readonly cap: number
  readonly relation: Relation
  readonly says: string
}

/**
 * Every veto. Where a close reader may find the two the same after all (rules, boundaries, grids, occasions) half remains:
 * of labelled pairs that such a conflict alone parts fewer are the same. Sides exchanged leave 79, for it is one question. A question that
 * contains the other stays below all those, so that of a ladder of thresholds the nearest is chosen, and events from 40 on
 * have their markets compared. Where the relation has a direction, the finding states it.
 */
export const VETOES = {
  other_sport: { cap: 3, relation: 'different', says: 'another sport or league' },
  other_game: { cap: 5, relation: 'different', says: 'another game' },
  other_date: { cap: 30, relation: 'different', says: 'another date or deadline' },
  other_bet: { cap: 30, relation: 'different', says: 'another kind of bet' },
  other_period: { cap: 30, relation: 'different', says: 'another part of the game' },
  other_line: { cap: 41, relation: 'overlap', says: 'another line' },
  opposite_side: {
    cap: 79,
    relation: 'identical',
    says: 'the opposite side: Yes of one is No of the other',
  },
  other_side: { cap: 20, relation: 'different', says: 'another outcome of the same game' },
  other_player: { cap: 10, relation: 'different', says: 'another player, team or score' },
  other_asset: { cap: 3, relation: 'different', says: 'another asset' },
  other_hour: { cap: 45, relation: 'overlap', says: 'another hour of the day' },
  other_range: { cap: 41, relation: 'overlap', says: 'another threshold or range' },
  containment: { cap: 45, relation: 'overlap', says: 'one contains the other' },
  boundary: {
    cap: OVERRULED,
    relation: 'overlap',
    says: 'they differ when the value is exactly the threshold',
  },
  other_grid: {
    cap: OVERRULED,
    relation: 'overlap',
    says: 'the outcomes are cut differently',
  },
  touch_or_close: {
    cap: 40,
    relation: 'overlap',
    says: 'one asks for any moment, the other for one moment',
  },
  other_mark: { cap: 25, relation: 'different', says: 'another' },
  other_answer: { cap: 15, relation: 'different', says: 'Yes stands for another answer' },
  other_subject: { cap: 30, relation: 'different', says: 'each names what the other does not' },
  other_roles: { cap: 25, relation: 'different', says: 'the roles are exchanged' },
  other_form: {
    cap: 45,
    relation: 'overlap',
    says: 'one asks which or how many, the other whether',
  },
  other_kind: { cap: 20, relation: 'different', says: 'another kind of question' },
  other_rules: {
    cap: OVERRULED,
    relation: 'overlap',
    says: 'the rules settle it differently',
  },
  other_occasion: {
    cap: OVERRULED,
    relation: 'overlap',
    says: 'which occasion is meant depends on when it was asked',
  },
  not_said: { cap: 79, relation: 'overlap', says: 'not said' },
  nothing_said: { cap: 10, relation: 'different', says: 'too little is said to compare' },
} as const satisfies Readonly<Record<string, VetoRule>>

export type VetoReason = keyof typeof VETOES

/** The reasons of all vetoes, in the table's order. */
export const VETO_REASONS = Object.keys(VETOES).filter((name): name is VetoReason => name in VETOES)

/** A veto that fired. */
export interface Veto {
  readonly reason: VetoReason
  /** What exactly differs, such as "map1 against map2". */
  readonly detail: string
  readonly relation: Relation
}

export function veto(reason: VetoReason, detail = '', relation?: Relation): Veto {
  return { reason, detail, relation: relation ?? VETOES[reason].relation }
}

/** "1 day", "2 days"; whole numbers. */
export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** The highest score that a set of vetoes leaves; 100 without one. */
export function capOf(vetoes: readonly Veto[]): number {
  return vetoes.reduce((cap, { reason }) => Math.min(cap, VETOES[reason].cap), 100)
}

/** One phrase for a veto: "another part of the game (map1 against map2)". */
export function sayVeto({ reason, detail }: Veto): string {
  return detail === '' ? VETOES[reason].says : `${VETOES[reason].says} (${detail})`
}
