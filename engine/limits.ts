// Every bound in the system with its unit and reason; relations between them are asserted on load.
// Settings an operator may change are in config.ts; these are constants that must agree.

import { assert } from './errors.ts'

/** Events waiting in one actor's mailbox; full: book changes drop and the book resynchronises. */
export const mailboxMessagesMax = 4_096
/** Messages one actor handles before the next actor's turn, so that a hot market starves nobody. */
export const actorTurnMessagesMax = 64
/** Milliseconds of actor work before the loop is given back to sockets and timers. */
export const systemRunMsMax = 8
/** Prices a live market keeps in its ring. */
export const priceRingCount = 512
/** Trades a live market keeps in its ring. */
export const tradeRingCount = 256
/** A market without traffic or watchers for this long sleeps. */
export const marketIdleMsMax = 300_000
/** Changed markets write their checkpoint at most this often. */
export const checkpointEveryMs = 10_000
/** LMDB writes handed over and not committed; above it ingestion is slowed (R41). */
export const outstandingWritesMax = 50_000
/** Runs remembered, even when stored trades name older ones: restarts in a loop add up to no more. */
export const runsKeptMax = 10_000
/** A stale book is asked for again after this long. */
export const staleRetryMs = 5_000
/** Levels kept a side; a price grid of 0.0001 has 9,999 steps. */
export const bookLevelsMax = 10_000
/** Trade updates kept in memory for connections that lagged or resume within a run. */
export const tradeHistoryCount = 65_536

/** REST: bytes of a body, milliseconds for an answer. */
export const bodyBytesMax = 16_384
export const requestDeadlineMs = 5_000
export const queryBytesMax = 32_768

/** WebSocket protocol (interface: http/ws/README.md). */
export const heartbeatMs = 5_000
export const commandBytesMax = 16_384
export const frameBytesMax = 65_536
export const commandsPerSecondMax = 20
export const subscriptionsMax = 1_000
export const marketIdsPerCommandMax = 100
export const socketBufferBytesSoft = 1_048_576
export const socketBufferBytesLow = 262_144
export const socketBufferBytesMax = 16_777_216
export const bufferSweepMs = 25
export const socketIdleSeconds = 60
export const unsubscribedMsMax = 60_000
export const laggingMsMax = 10_000
/** All sockets' buffers together; beyond it the largest is cut. */
export const socketBuffersTotalBytesMax = 1_073_741_824
/** Commands that wait while one is carried out; more are refused with RATE_LIMITED. */
export const commandsWaitingMax = 200
/** Commands answered by `error` within a minute that end a connection. */
export const commandErrorsPerMinuteMax = 10
/** Milliseconds of one connection's snapshots before others have their turn. */
export const streamSliceMs = 2
/** Trades replayed to one resuming command. */
export const replayTradesMax = 10_000

/** Accounts. */
export const keysPerAccountMax = 20
export const labelCharactersMax = 64
export const addressRequestsPerMinute = 600
export const loginsPerMinute = 20
/** Hashes of some 65 ms each: the last of the queue must come before a request's deadline. */
export const passwordQueueMax = 32

/** Shutdown: everything flushed and closed within this. */
export const shutdownMsMax = 15_000

assert(actorTurnMessagesMax < mailboxMessagesMax, 'a turn is smaller than a mailbox')
assert(socketBufferBytesLow < socketBufferBytesSoft, 'catching up ends below where lagging begins')
assert(socketBufferBytesSoft < socketBufferBytesMax, 'lagging begins before the cut')
assert(commandBytesMax < frameBytesMax, 'an oversized command can still be answered')
