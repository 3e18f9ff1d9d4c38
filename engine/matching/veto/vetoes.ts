// Conflicts that reject a pair, each with the maximum score that it leaves and its description. One is enough, however
// similar the words are.

/** Minimum score of a match. */
export const MATCH_SCORE = 80

/** Relation of venue a's question to venue b's. README.md defines the values. */
export type Relation = 'identical' | 'subset' | 'superset' | 'overlap' | 'different'

/** `cap`: the maximum score that remains, 0 to 79. */
const rule = (cap: number, relation: Relation, description: string) => ({
  cap,
  relation,
  description,
})

/**
 * All vetoes. A conflict that a manual check may dismiss (rules, boundaries, grids, occasions) has a cap of about 50.
 * Opposite sides have a cap of 79, because the question is the same. A question that contains the other has a lower
 * cap, so that of several thresholds the nearest is chosen. A direction of the relation (subset or superset) is added
 * by the code that finds the conflict.
 */
export const VETOES = {
  other_sport: rule(3, 'different', 'another sport or league'),
  other_game: rule(5, 'different', 'another game'),
  other_date: rule(30, 'different', 'another date or deadline'),
  other_bet: rule(30, 'different', 'another kind of bet'),
  other_period: rule(30, 'different', 'another part of the game'),
  other_line: rule(41, 'overlap', 'another line'),
  opposite_side: rule(79, 'identical', 'the opposite side: Yes of one is No of the other'),
  other_side: rule(20, 'different', 'another outcome of the same game'),
  other_player: rule(10, 'different', 'another player, team or score'),
  other_asset: rule(3, 'different', 'another asset'),
  other_hour: rule(45, 'overlap', 'another hour of the day'),
  other_range: rule(41, 'overlap', 'another threshold or range'),
  containment: rule(45, 'overlap', 'one contains the other'),
  boundary: rule(50, 'overlap', 'they differ when the value is exactly the threshold'),
  other_grid: rule(50, 'overlap', 'the outcomes are cut differently'),
  touch_or_close: rule(40, 'overlap', 'one asks for any moment, the other for one moment'),
  other_mark: rule(25, 'different', 'another'),
  other_answer: rule(15, 'different', 'Yes stands for another answer'),
  other_subject: rule(30, 'different', 'each names what the other does not'),
  other_roles: rule(25, 'different', 'the roles are exchanged'),
  other_form: rule(45, 'overlap', 'one asks which or how many, the other whether'),
  other_kind: rule(20, 'different', 'another kind of question'),
  other_rules: rule(50, 'overlap', 'the rules settle it differently'),
  other_occasion: rule(50, 'overlap', 'which occasion is meant depends on when it was asked'),
  not_said: rule(79, 'overlap', 'not said'),
  nothing_said: rule(10, 'different', 'too little is said to compare'),
}

export type VetoReason = keyof typeof VETOES

export const VETO_REASONS = Object.keys(VETOES).filter((name): name is VetoReason => name in VETOES)

export interface Veto {
  readonly reason: VetoReason
  /** The difference, such as "map1 against map2". */
  readonly detail: string
  readonly relation: Relation
}

export function veto(reason: VetoReason, detail = '', relation?: Relation): Veto {
  return { reason, detail, relation: relation ?? VETOES[reason].relation }
}

export function counted(count: number, unit: string): string {
  return `${count} ${unit}${count === 1 ? '' : 's'}`
}

/** The maximum score that a set of vetoes leaves. 100 if it is empty. */
export function capOf(vetoes: readonly Veto[]): number {
  return vetoes.reduce((cap, { reason }) => Math.min(cap, VETOES[reason].cap), 100)
}

/** A veto as text, such as "another part of the game (map1 against map2)". */
export function vetoText({ reason, detail }: Veto): string {
  if (reason === 'not_said') return detail
  return detail === '' ? VETOES[reason].description : `${VETOES[reason].description} (${detail})`
}
