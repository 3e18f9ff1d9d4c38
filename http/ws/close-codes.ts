// Why a connection ends, and whether the client should come back: the table of close codes.
// 1006 is not in it: that is what a client sees when the transport cuts without a frame.

/** One way to close. */
export interface Close {
  readonly code: number
  readonly reason: string
  /** Whether coming back can succeed. */
  readonly mayReturn: boolean
}

export const closeCodes = {
  goingAway: { code: 1001, reason: 'going away', mayReturn: true },
  tooManyErrors: { code: 4000, reason: 'too many bad commands', mayReturn: false },
  unsubscribed: { code: 4001, reason: 'no subscription for 60 s', mayReturn: true },
  slowReader: { code: 4008, reason: 'slow reader', mayReturn: true },
  limitLowered: { code: 4009, reason: 'connection limit', mayReturn: true },
  keyRevoked: { code: 4010, reason: 'key revoked', mayReturn: false },
  /** What this server knew had a hole, or another engine leads: it is whole again now, and the position is good. */
  renewed: { code: 4012, reason: 'begun anew', mayReturn: true },
  internal: { code: 4011, reason: 'internal error', mayReturn: true },
} as const satisfies Record<string, Close>
