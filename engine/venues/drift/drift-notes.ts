/**
 * Severity of drift. 'loss': users of the service lack data or may get wrong data until the code is adapted.
 * 'notice': nothing is lost yet.
 */
export type DriftWeight = 'loss' | 'notice'

export interface DriftNotes {
  /**
   * Records drift. `kind` is a constant of the code, `name` may be any text from the venue. The default weight is
   * 'loss'.
   */
  note(kind: string, name: unknown, sample?: unknown, weight?: DriftWeight): void
}
