// Why a connection ends, and whether the client should reconnect. Code 1006 is not listed: clients see it when the
// transport closes without a close frame.

export interface Close {
  readonly code: number
  readonly reason: string
  /** True if reconnecting can succeed. */
  readonly mayReturn: boolean
}

export const closeCodes = {
  replayEnded: { code: 1000, reason: 'end of the replay', mayReturn: false },
  goingAway: { code: 1001, reason: 'going away', mayReturn: true },
  tooManyErrors: { code: 4000, reason: 'too many bad commands', mayReturn: false },
  unsubscribed: { code: 4001, reason: 'no subscription for 60 s', mayReturn: true },
  pausedTooLong: { code: 4013, reason: 'paused for 10 minutes', mayReturn: true },
  slowReader: { code: 4008, reason: 'slow reader', mayReturn: true },
  limitLowered: { code: 4009, reason: 'connection limit', mayReturn: true },
  keyRevoked: { code: 4010, reason: 'key revoked', mayReturn: false },
  /**
   * The server's data had a gap, or another engine became the leader. The data is complete again. Clients can resume
   * from their positions.
   */
  renewed: { code: 4012, reason: 'begun anew', mayReturn: true },
  internal: { code: 4011, reason: 'internal error', mayReturn: true },
} as const satisfies Record<string, Close>
