// Every bound in the system with its unit and reason. Relations between bounds are asserted on load.
// Settings that an operator may change are in config.ts. These constants must agree with each other.

import { assert } from './errors.ts'

/**
 * Events waiting in one actor's mailbox. When it is full, book changes are dropped and the book
 * resynchronises.
 */
export const mailboxMessagesMax = 4_096
/** Messages that one actor handles in a row, so that a hot market does not starve the others. */
export const actorSliceMessagesMax = 64
/**
 * Milliseconds of actor work in one event-loop tick, before sockets and timers run again. Published
 * messages are written at the end of the tick, so this also bounds how long a busy tick delays a quiet
 * market's message.
 */
export const systemRunMsMax = 2
/** The same bound while messages are late: actors then need a larger share of the time than reading sockets. */
export const systemRunMsLateMax = 50
/**
 * Characters read from one venue socket in one event-loop tick. Without it, a backlog in the kernel's
 * buffers (6 MB a socket) would block everything else for seconds.
 */
export const readCharsPerTickMax = 262_144
/**
 * A message that waited longer within the service makes its book stale: its actor drops the book's changes
 * and requests a snapshot. Trades are not dropped.
 */
export const messageAgeMsMax = 1_000
/** Books that are stale by delay are requested again only while no message waits longer than this. */
export const messageAgeMsCalm = 400
/** No more trades are read once one waits longer than this, until the oldest waits less than half a second. */
export const tradeAgeMsMax = 2_000
export const tradeAgeMsCalm = 500
/** How often the ages of messages and the event-loop delay are checked. */
export const delayCheckMs = 100
/**
 * At most this many of these books, and at most this share of them, are requested per check. Snapshots of
 * hundreds of markets at once would cause the next delay.
 */
export const lateBooksPerCheckMax = 20
export const lateBooksShare = 1 / 64
/**
 * A feed whose messages are late for this long because the engine is slow is reconnected. This drops the
 * backlog in the kernel's and the venue's buffers. At most once in `reconnectApartMs`.
 */
export const behindMsMax = 10_000
export const reconnectApartMs = 30_000
/**
 * The backlog of all mailboxes, in changed levels and other messages of some 200 bytes. Above it no socket
 * is read until the backlog is halved.
 */
export const waitingWeightMax = 131_072
export const waitingWeightLow = 65_536
/** Prices in the ring of a live market. */
export const priceRingCount = 512
/** Trades in the ring of a live market while it is read: the ring serves a page of the usual 100. */
export const tradeRingCount = 128
/** A market without traffic or watchers for this long goes to sleep. */
export const marketIdleMsMax = 300_000
/** Changed markets write their checkpoint at most this often. */
export const checkpointEveryMs = 10_000
/** A market's book is stored for its history at most this often, with this many levels of each side. */
export const bookSnapshotEveryMs = 10_000
export const bookSnapshotLevels = 20
/** Retention of book snapshots, independent of the retention of other data. */
export const snapshotRetentionDays = 2
/** How long a stored price is valid where messages may be missing, and how late a book may be there. */
export const priceAgeMsMax = 60_000
/** LMDB writes that are queued and not committed. Above this bound ingestion is slowed. */
export const outstandingWritesMax = 50_000
/** Runs that are retained even when stored trades name older ones, so that a restart loop does not add up. */
export const retainedRunsMax = 10_000
/** A stale book is requested again after this long. */
export const staleRetryMs = 5_000
/** Levels per side. A price grid of 0.0001 has 9,999 steps. */
export const bookLevelsMax = 10_000
/**
 * Trade updates held in memory for connections that lagged or resume within a run: a minute of a busy run,
 * in some 15 MB. Older updates are read from the table of trades.
 */
export const ringTradesMax = 16_384
/** The same for book updates, and for the changed levels in them: one update may contain a whole book. */
export const ringBookUpdatesMax = 65_536
export const ringBookLevelsMax = 262_144
/** The same for lifecycle and whale updates. Lifecycle updates are not in the database. */
export const ringLifecycleMax = 16_384
export const ringWhalesMax = 16_384
export const ringArbitrageMax = 16_384

/** Open opportunities at a time. Further ones are counted and ignored. */
export const opportunitiesMax = 2_000
/** Markets whose baskets are checked in one event-loop tick. The rest are checked in the next ticks. */
export const opportunityChecksMax = 250
/**
 * The shortest period between two updates of an opportunity, and the period in which every open one is
 * checked.
 */
export const opportunityChangedMs = 250
/** The longest minimum age that a webhook can require of an opportunity: an hour. */
export const opportunityAgeMsMax = 3_600_000
/** Shorter opportunities are not stored when they end. */
export const opportunityRecordedMsMin = 500
/** Default: a book that was neither changed nor confirmed for this long is in no opportunity. */
export const bookAgeMsMax = 60_000
/** Default: every subscribed book is read over REST once in this period. */
export const bookRoundMs = 600_000
/**
 * Announced losses of trades that one run retains for clients that were away. Later losses are announced
 * live only.
 */
export const lossesOfRunMax = 10_000

/** REST: bytes of a request body, milliseconds for a response. */
export const bodyBytesMax = 16_384
export const requestDeadlineMs = 5_000
export const queryBytesMax = 32_768
/**
 * Unread bytes of the responses of all connections. When full, the account or address with the most loses
 * one response.
 */
export const unsentBytesMax = 67_108_864
/** A client must read a response within this time, plus a second for each `unsentBytesPerSecondMin` bytes. */
export const unsentMsMin = 10_000
export const unsentBytesPerSecondMin = 16_384
/**
 * Bytes of documents, scripts and pages that one address may fetch in a minute, and the overhead counted
 * per response.
 */
export const addressFileBytesPerMinute = 67_108_864
export const fileAnswerBytes = 1_024
/**
 * Larger JSON responses are compressed for clients that accept it. At most `codingsMax` are compressed at
 * once.
 */
export const codedJsonBytesMin = 4_096
export const codingsMax = 2
/**
 * Requests of one address answered in one event-loop tick. All requests of one TCP segment arrive in one
 * tick.
 */
export const addressRequestsPerTickMax = 1_024
/**
 * Requests beyond the quota of an account or address that are answered in a second. Each further one closes
 * its connection.
 */
export const refusedRequestsPerSecondMax = 200
/**
 * New connections of one address within the time after which an idle one is closed. Applies while three
 * quarters of all connections are open.
 */
export const connectionsOfAddressMax = 64
export const connectionsWindowMs = 13_000
/** A range scan with a selective filter ends after this, before the request's deadline. */
export const scanMsMax = 4_000
/** Concurrent queries for past prices to a venue: few, because live traffic shares the venue's quota. */
export const pastQueriesRunningMax = 4
/** The same per account or address, at once and in a minute. */
export const pastQueriesPerRequesterMax = 2
export const pastQueriesPerMinute = 120
/** Waiting queries. Further ones are rejected. */
export const pastQueriesWaitingMax = 64
/** All venue queries of one request end within this, so that a rejection can state the reason. */
export const pastQueryMsMax = 4_000
/** Cached ranges of past prices, and points of each: 100 × 5,000 × 40 bytes, 20 MB at most. */
export const pastRangesMax = 100
export const pastRangePointsMax = 5_000

/** WebSocket protocol (interface: http/ws/README.md). */
export const heartbeatMs = 5_000
export const commandBytesMax = 16_384
export const frameBytesMax = 65_536
export const commandsPerSecondMax = 20
/**
 * Commands beyond the rate that are answered with RATE_LIMITED, per second. Further ones are dropped
 * without an answer.
 */
export const refusalsPerSecondMax = 10
/** Commands beyond {@link commandsPerSecondMax} within a minute that close a connection. */
export const refusalsPerMinuteMax = 100
/** Ping frames beyond this count as commands. */
export const pingsPerSecondMax = 10
/** A `list` counts as this many commands, because its response may have half a megabyte. */
export const listCommands = 10
/** Each started group of this many markets of a `snapshot` counts as one command. */
export const snapshotMarketsPerCommand = 10
export const subscriptionsMax = 1_000
export const marketIdsPerCommandMax = 100
export const socketBufferBytesSoft = 1_048_576
export const socketBufferBytesLow = 262_144
export const socketBufferBytesMax = 16_777_216
/** The buffers of all connections are checked this often. 10,000 checks cost as much as 20,000 deliveries. */
export const bufferSweepMs = 100
/** Size of one frame of a batched connection, unless one message alone is larger. Characters count as bytes. */
export const batchBytesMax = 65_536
export const socketIdleSeconds = 60
export const unsubscribedMsMax = 60_000
/** A slow reader without progress for this long is sent nothing more but its close frame. */
export const laggingMsMax = 10_000
/** It then has this long to read the unsent data, which precedes the close frame. */
export const leavingMsMax = 50_000
/** A ticket opens one stream within this many seconds. Also the unused tickets of an account, and of all. */
export const ticketSeconds = 60
export const ticketsPerAccountMax = 32
export const ticketsMax = 10_000
/** The buffers of all sockets together. Beyond it the largest buffer of the account with the most is cut. */
export const socketBuffersTotalBytesMax = 1_073_741_824
/** Commands that wait while one is carried out. Further ones are rejected with RATE_LIMITED. */
export const commandsWaitingMax = 200
/** Commands answered by `error` within a minute that close a connection. */
export const commandErrorsPerMinuteMax = 10
/** Conflated messages sent at once within an event-loop tick. The others wait for a time slice. */
export const conflationTickCount = 32
/** The end of a conflation window is checked at most this often. */
export const conflationFlushMs = 5
/**
 * A market's candle of one interval is published at most this often. The ends of bars are checked every
 * `candleCloseCheckMs`.
 */
export const candleEveryMs = 1_000
export const candleCloseCheckMs = 250
/** Whale rows of at least this many millionths of a dollar are published on the stream. */
export const whaleMessageUsdMin = 5_000_000_000
/** The smallest whale row, in millionths of a dollar. */
export const whaleRowUsdMin = 1_000_000_000
/** The fills of a whale are collected for this long, from the first of them. */
export const whaleCloseMs = 150
/** The venue times of one transaction's fills differ by at most this. */
export const whaleSpreadMs = 10_000
/**
 * Transactions remembered for late fills, and for how long. Beyond either bound the oldest is removed, and
 * its late fills are summed from the table of trades. About 900 bytes each. The count suffices for 1,600
 * transactions a second. If it covered less than `whaleSpreadMs`, every fill would need a lookup.
 */
export const whaleGroupsMax = 16_384
export const whaleRetentionMs = 30_000
/** At start, the trades of this period before the restart are grouped again. */
export const whaleRegroupMs = 60_000
/** Milliseconds of one connection's snapshots before other connections run. */
export const streamSliceMs = 2
/** Messages replayed to one resuming command. */
export const replayTradesMax = 10_000
/**
 * Rows that one read of a replay takes from the database, and the positions checked where few rows are
 * read: about half a millisecond each.
 */
export const replayReadRows = 64
export const replayScannedRows = 512

/** Accounts. */
export const keysPerAccountMax = 20
export const labelCharactersMax = 64
export const addressRequestsPerMinute = 600
/**
 * Requests of an account's tokens to manage it (itself, its keys, its webhooks). API keys cannot use up
 * this quota.
 */
export const managementRequestsPerMinute = 60
/** Requests of all dashboards of an account, a quota of its own. A page change sends some three requests. */
export const dashboardRequestsPerMinute = 600
export const loginsPerMinute = 20
/**
 * Default: accounts that one IPv4 address or IPv6 /64 may create within an hour. One IPv6 /48 may create
 * four times as many.
 */
export const signUpsPerHour = 5
/** Tokens of one account that were logged out and have not expired. One more ends all tokens of the account. */
export const endedTokensPerAccountMax = 100
/** Pairs of e-mail and address that have logged in. Failures from other addresses do not delay them. */
export const knownLoginsMax = 100_000
/** Waiting hashes, some 65 ms each, of clients that logged in from their network before, and of other log-ins. */
export const passwordQueueMax = 16
/** Waiting hashes of sign-ups. */
export const signUpQueueMax = 8
/** A password is rejected if hashing has not started by then: its client has given up. */
export const passwordWaitMsMax = 3_000
/** The time for sign-up and log-in, hashing and disk together, before the caller receives a retry time. */
export const accountWorkMsMax = 4_000

/** Webhooks. */
export const webhooksPerAccountMax = 25
/** Older trades, whales and prices are not delivered: 15 min. */
export const webhookEventAgeMsMax = 900_000
/** Pending deliveries of one webhook, and how long one may wait (72 h). Beyond, the oldest are dropped. */
export const pendingPerWebhookMax = 100_000
export const pendingAgeMsMax = 259_200_000
/** Pending deliveries of all webhooks, about 1 GB of trades. Beyond, each webhook is limited to its share. */
export const pendingTotalMax = 1_000_000
/** Finished deliveries retained per webhook and in total, and for how long (7 days). */
export const finishedRetainedMax = 1_000
export const finishedTotalMax = 1_000_000
export const finishedRetentionMs = 604_800_000
/** A webhook that has only failed for this long (5 days) is disabled. */
export const failingMsMax = 432_000_000
/**
 * Concurrent attempts of one webhook:
 * - in general;
 * - while less than half of all slots are taken, so that a distant receiver keeps up (16 at 100 ms are 160
 *   a second);
 * - while every attempt fails.
 */
export const attemptsPerWebhookMax = 4
export const attemptsPerWebhookQuietMax = 16
export const attemptsPerFailingMax = 1
/** Concurrent attempts of all webhooks, and of those that only fail or are slow. */
export const attemptsMax = 1_024
export const attemptsOfFailingMax = 256
/** Concurrent attempts to one host (all ports and accounts), and of one account. */
export const attemptsPerHostMax = 16
export const attemptsPerAccountMax = 32
/** A test verifies a host only if it is answered with a 2xx within this time after it was requested (24 h). */
export const testAgeMsMax = 86_400_000
/** A webhook whose last attempt took this long is slow. */
export const slowAttemptMs = 5_000
/** Concurrent calls to receivers, twice what the dispatcher needs. Beyond it a call fails at once. */
export const callsMax = 2_048

/** Wallets. Concurrent syncs: the venue's quota is shared with live trades and their back-fill. */
export const walletSyncsMax = 8
/** Concurrent syncs of wallets that were never synced. The remaining syncs are reserved for known wallets. */
export const walletFirstSyncsMax = 3
/** New addresses that one account or address may request in a minute. */
export const newWalletsPerMinute = 30
/** Waiting syncs, and separately waiting new addresses. Further ones are rejected. */
export const walletSyncsWaitingMax = 64
/** A request waits this long for the venue, so that cached data can still be returned in time. */
export const walletWaitMsMax = 3_500
/** Bytes of wallets cached in memory with their figures. Beyond, the least recently requested are evicted. */
export const walletWarmBytesMax = 67_108_864
/** Wallets whose fills are taken from the stream. When full, the least recently requested is unfollowed. */
export const walletsFollowedMax = 10_000
/** A wallet is followed for this long after its last request: a day. */
export const walletFollowedMs = 86_400_000
/**
 * Fills of followed wallets retained until the venue's history contains them. When full, the oldest is
 * dropped.
 */
export const walletFillsMax = 65_536
/** Cached addresses that the venue never saw, and cached whale wallets. When full, the oldest is evicted. */
export const unknownAddressesMax = 10_000
export const walletWhalesMax = 100_000
/** Markets cached for the PnL rules. When full, the least recently used is evicted. About 500 bytes each. */
export const walletMarketsMax = 32_768

/** Shutdown: everything flushed and closed within this. */
export const shutdownMsMax = 15_000

assert(actorSliceMessagesMax < mailboxMessagesMax, 'a slice has fewer messages than a mailbox')
assert(
  tradeAgeMsCalm < tradeAgeMsMax,
  'reading of trades resumes below the bound at which it stops',
)
assert(messageAgeMsCalm < messageAgeMsMax, 'late books are requested only while waits are short')
assert(systemRunMsMax < systemRunMsLateMax, 'the time budget behind a backlog is larger')
assert(waitingWeightLow < waitingWeightMax, 'reading resumes below the bound at which it stops')
assert(socketBufferBytesLow < socketBufferBytesSoft, 'catching up ends below where lagging begins')
assert(socketBufferBytesSoft < socketBufferBytesMax, 'lagging begins before the cut')
assert(scanMsMax < requestDeadlineMs, 'a long scan is refused before it times out')
assert(whaleSpreadMs < whaleRetentionMs, 'a transaction is retained longer than its fills spread')
assert(whaleRowUsdMin <= whaleMessageUsdMin, 'a whale that is published is stored')
assert(
  passwordWaitMsMax < accountWorkMsMax,
  'a request that waits for a hash is refused before it times out',
)
assert(
  accountWorkMsMax < requestDeadlineMs,
  'a late sign-up is refused before the request times out',
)
assert(
  pastQueryMsMax < requestDeadlineMs,
  'a call to a slow venue ends before the request times out',
)
assert(
  attemptsPerWebhookMax < attemptsPerWebhookQuietMax,
  'a webhook has more attempts at once when it is quiet',
)
assert(walletWaitMsMax < requestDeadlineMs, 'a slow wallet is answered before the deadline')
assert(attemptsMax < callsMax, 'calls of the dispatcher are never refused')
assert(attemptsPerHostMax <= attemptsPerAccountMax, 'an account alone may use a host fully')
assert(attemptsPerAccountMax < attemptsOfFailingMax, 'one account leaves slots to the others')
assert(attemptsOfFailingMax < attemptsMax, 'failing endpoints leave slots to the others')
assert(pendingPerWebhookMax <= pendingTotalMax, 'one webhook may use its own bound')
assert(commandBytesMax < frameBytesMax, 'an oversized command can still be answered')
