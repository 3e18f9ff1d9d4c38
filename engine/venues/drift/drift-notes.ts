// How a finding is noted: all that those need who find something.

/**
 * What a finding means. 'loss': a user of the service lacks something, or may get something wrong, until the
 * code learns of it. 'notice': nothing is lost yet.
 */
export type DriftWeight = 'loss' | 'notice'

export interface DriftNotes {
  /** `kind` is a fixed word of the code, `name` may be any text of the venue's. A loss unless it says otherwise. */
  note(kind: string, name: unknown, sample?: unknown, weight?: DriftWeight): void
}
