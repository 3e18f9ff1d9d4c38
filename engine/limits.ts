// Limits that operators cannot change, with unit and reason. Settings that operators may change are in config.ts.

import { assert } from './errors.ts'

/** Maximum messages in one mailbox. A full mailbox drops book changes, and the book is requested again. */
export const mailboxMessagesMax = 4_096
/** Maximum messages that one actor handles in a row, so that a busy market does not delay other markets. */
export const actorSliceMessagesMax = 64
/**
 * Maximum milliseconds of actor work in one event-loop tick, before sockets and timers run. Messages are written at the
 * end of the tick, so this also limits the delay of a quiet market's message.
 */
export const systemRunMsMax = 2
/** `systemRunMsMax` while messages are late, because actors then need more time than the sockets. */
export const systemRunMsLateMax = 50
/**
 * Maximum characters read from one venue socket in one event-loop tick. Reading the whole backlog of the kernel's
 * buffers would block the event loop for seconds.
 */
export const readCharsPerTickMax = 262_144
/**
 * Maximum wait of a book message within the service. An older message makes its book stale: the actor drops the book's
 * changes and requests a snapshot. Trades are not dropped.
 */
export const messageAgeMsMax = 1_000
/** Late books are requested again only while every message waits at most this long. */
export const messageAgeMsCalm = 400
/**
 * Reading of trades stops when a trade waits longer than `tradeAgeMsMax`. It continues when every trade waits at most
 * `tradeAgeMsCalm`.
 */
export const tradeAgeMsMax = 2_000
export const tradeAgeMsCalm = 500
/** Interval at which the ages of messages and the event-loop delay are checked. */
export const delayCheckMs = 100
/**
 * Late books that are requested per check: this number, or this share of all late books if the share is larger.
 * Snapshots of hundreds of markets at once would cause the next delay.
 */
export const lateBooksPerCheckMax = 20
export const lateBooksShare = 1 / 64
/**
 * A feed is reconnected if its messages are late for `behindMsMax` because this process is slow. Reconnecting drops the
 * backlog in the buffers of the kernel and of the venue. A feed is reconnected at most once in `reconnectApartMs`.
 */
export const behindMsMax = 10_000
export const reconnectApartMs = 30_000
/**
 * Maximum weight of all waiting messages. A message or a changed level weighs 1, some 200 bytes. Above the maximum no
 * socket is read until the weight falls to `waitingWeightLow`.
 */
export const waitingWeightMax = 131_072
export const waitingWeightLow = 65_536
export const priceRingCount = 512
/** Number of trades in the ring of an active market while clients read it. */
export const tradeRingCount = 128
/** A market without traffic or reads for this time releases its memory. */
export const marketIdleMsMax = 300_000
export const checkpointEveryMs = 10_000
/** Minimum time between two stored books of a market, and the number of levels stored per side. */
export const bookSnapshotEveryMs = 10_000
export const bookSnapshotLevels = 20
/** Retention of book snapshots, independent of the retention of other data. */
export const snapshotRetentionDays = 2
/**
 * How long a stored price is valid if messages may be missing. Also the maximum age of a polled book for which the feed
 * counts as live.
 */
export const priceAgeMsMax = 60_000
/** Maximum LMDB writes that are queued and not committed. Above the maximum ingestion is slowed. */
export const outstandingWritesMax = 50_000
/** Maximum retained runs, even if stored trades refer to older runs. Limits the effect of a restart loop. */
export const retainedRunsMax = 10_000
/** Interval at which a stale book is requested again. */
export const staleRetryMs = 5_000
/** A newly covered book without a snapshot is requested again after this time. */
export const firstBookMsMax = 60_000
/** Maximum levels per side of a book. A price grid of 0.0001 has 9,999 steps. */
export const bookLevelsMax = 10_000
/**
 * Trade updates in memory for connections that lag or resume within a run, some 15 MB. Older updates are read from the
 * table of trades.
 */
export const ringTradesMax = 16_384
/**
 * Book updates in memory for connections that lag or resume, and the changed levels in these updates. One update may
 * contain a whole book.
 */
export const ringBookUpdatesMax = 65_536
export const ringBookLevelsMax = 262_144
/** Updates in memory for connections that lag or resume. Lifecycle updates are not in the database. */
export const ringLifecycleMax = 16_384
export const ringWhalesMax = 16_384
export const ringArbitrageMax = 16_384

/** Maximum open opportunities. Further opportunities are counted and ignored. */
export const opportunitiesMax = 2_000
/** Maximum markets whose baskets are checked in one event-loop tick. Later ticks check the remaining markets. */
export const opportunityChecksMax = 250
/** Minimum time between two updates of an opportunity. Every open opportunity is also checked once in this time. */
export const opportunityChangedMs = 250
/** The longest minimum age that a webhook can require of an opportunity: an hour. */
export const opportunityAgeMsMax = 3_600_000
/** Opportunities that were open for a shorter time are not stored when they end. */
export const opportunityRecordedMsMin = 500
/** Default of the maximum book age: opportunities exclude a book without a change or confirmation for this time. */
export const bookAgeMsMax = 60_000
/** Default of the time in which every subscribed book is read over REST once. */
export const bookRoundMs = 600_000
export const coverageEveryMs = 10_000
/**
 * A market that the policy no longer covers stays covered for this time. Otherwise markets at the edge of top:N would
 * flap.
 */
export const coverageLeavingMs = 600_000
/**
 * Maximum markets that stay covered although the policy no longer covers them. Above the maximum, the market that left
 * the policy first is uncovered.
 */
export const coverageLeavingMax = 5_000
/**
 * A request covers a market for `coverageRequestedMs`. After the end of a subscription it stays covered for
 * `coverageReleasedMs`.
 */
export const coverageRequestedMs = 600_000
export const coverageReleasedMs = 60_000
/** Maximum markets of a venue that are covered on demand: in total, and of one account or anonymous address. */
export const demandedMarketsMax = 20_000
export const demandedMarketsOfOwnerMax = 2_000
/** Maximum holds of a venue's markets. A hold is of one owner for one reason. */
export const coverageHoldsMax = 100_000
/** Maximum holds that wait for a free place: of a venue, and of one owner. */
export const waitingHoldsMax = 20_000
export const waitingHoldsOfOwnerMax = 2_000
/** Maximum callers that wait for a first snapshot: in total, and of one account or anonymous address. */
export const coverageWaitingMax = 1_000
export const coverageWaitingOfOwnerMax = 50
/** Maximum announced losses of trades that a run retains for resuming clients. Later losses are announced live only. */
export const lossesOfRunMax = 10_000

/** Maximum bytes of a REST request body, and milliseconds until the response. */
export const bodyBytesMax = 16_384
export const requestDeadlineMs = 5_000
export const queryBytesMax = 32_768
/**
 * Maximum unread bytes of the responses of all connections. Above the maximum, a response of the account or address
 * with the most unread bytes is dropped.
 */
export const unsentBytesMax = 67_108_864
/** A client must read a response within this time, plus a second for each `unsentBytesPerSecondMin` bytes. */
export const unsentMsMin = 10_000
export const unsentBytesPerSecondMin = 16_384
/**
 * Maximum bytes of documents, scripts and pages that one address may fetch per minute, and the bytes that are added per
 * response.
 */
export const addressFileBytesPerMinute = 67_108_864
export const fileAnswerBytes = 1_024
/** Minimum bytes of a JSON response that is compressed, and the number of concurrent compressions. */
export const codedJsonBytesMin = 4_096
export const codingsMax = 2
/**
 * Maximum requests of one address that are answered in one event-loop tick. All requests of one TCP segment arrive in
 * one tick.
 */
export const addressRequestsPerTickMax = 1_024
/**
 * Maximum error responses per second to an account or address above its quota. Each further request closes its
 * connection.
 */
export const refusedRequestsPerSecondMax = 200
/**
 * Maximum new connections of one address within `connectionsWindowMs`, the time after which an idle connection is
 * closed. Applies while three quarters of all connections are in use.
 */
export const connectionsOfAddressMax = 64
export const connectionsWindowMs = 13_000
/** Maximum duration of a range scan with a selective filter. Shorter than the request's deadline. */
export const scanMsMax = 4_000
/** Maximum concurrent queries for past prices to a venue. Low, because live traffic shares the venue's quota. */
export const pastQueriesRunningMax = 4
/** Maximum queries for past prices per account or address, concurrently and per minute. */
export const pastQueriesPerRequesterMax = 2
export const pastQueriesPerMinute = 120
/** Maximum waiting queries for past prices. Further queries are rejected. */
export const pastQueriesWaitingMax = 64
/** Maximum duration of all venue queries of one request. Short enough to return an error with the reason. */
export const pastQueryMsMax = 4_000
/** Maximum cached ranges of past prices, and prices per range: 100 × 5,000 × 40 bytes are 20 MB. */
export const pastRangesMax = 100
export const pastRangePointsMax = 5_000

/** Limits of the WebSocket protocol (http/ws/README.md). */
export const heartbeatMs = 5_000
export const commandBytesMax = 16_384
export const frameBytesMax = 65_536
export const commandsPerSecondMax = 20
/** Maximum error responses per second to commands above the rate. Further commands are dropped without a response. */
export const refusalsPerSecondMax = 10
/** A connection is closed after this many commands above {@link commandsPerSecondMax} within a minute. */
export const refusalsPerMinuteMax = 100
/** Ping frames above this number per second count as commands. */
export const pingsPerSecondMax = 10
/** Number of commands that a `list` counts as, because its response may have half a megabyte. */
export const listCommands = 10
/** This number of markets in a `snapshot` counts as one command. */
export const snapshotMarketsPerCommand = 10
export const subscriptionsMax = 1_000
export const marketIdsPerCommandMax = 100
export const socketBufferBytesSoft = 1_048_576
export const socketBufferBytesLow = 262_144
export const socketBufferBytesMax = 16_777_216
/** Interval at which the buffers of all connections are checked. */
export const bufferSweepMs = 100
/**
 * Maximum bytes of one frame of a batched connection, unless a single message is larger. A character counts as one
 * byte.
 */
export const batchBytesMax = 65_536
export const socketIdleSeconds = 60
export const unsubscribedMsMax = 60_000
/** A replay that is paused for this time is closed, because running replays are limited. */
export const replayPausedMsMax = 600_000
/** Speeds of a replay over the WebSocket, besides 0. */
export const replaySpeedMin = 0.01
export const replaySpeedMax = 1_000
/** A client that reads nothing for this time receives only a close frame. */
export const laggingMsMax = 10_000
/** Time in which a lagging client may read the unsent data before the close frame. */
export const leavingMsMax = 50_000
/** Seconds within which a ticket opens one stream, and the maximum unused tickets per account and in total. */
export const ticketSeconds = 60
export const ticketsPerAccountMax = 32
export const ticketsMax = 10_000
/**
 * Maximum bytes in the buffers of all sockets. Above the maximum, the largest buffer of the account with the most bytes
 * is dropped.
 */
export const socketBuffersTotalBytesMax = 1_073_741_824
/** Maximum commands that wait while another command is executed. Further commands are rejected with RATE_LIMITED. */
export const commandsWaitingMax = 200
/** A connection is closed after this many commands with an `error` response within a minute. */
export const commandErrorsPerMinuteMax = 10
/** Maximum conflated messages that are sent within one event-loop tick. Further messages wait for a time slice. */
export const conflationTickCount = 32
export const conflationFlushMs = 5
/**
 * Minimum time between two updates of a market's candle of one interval, and the interval at which the ends of bars are
 * checked.
 */
export const candleEveryMs = 1_000
export const candleCloseCheckMs = 250
/** Minimum of a whale that is published on the stream, in millionths of a dollar. */
export const whaleMessageUsdMin = 5_000_000_000
/** Minimum of a stored whale, in millionths of a dollar. */
export const whaleRowUsdMin = 1_000_000_000
/** Time for which the fills of a whale are collected, from its first fill. */
export const whaleCloseMs = 150
/** Maximum difference between the venue times of one transaction's fills. */
export const whaleSpreadMs = 10_000
/**
 * Maximum number and age of the transactions that are cached for late fills, some 900 bytes each. Late fills of an
 * evicted transaction are summed from the table of trades. The number suffices for 1,600 transactions a second. If it
 * covered less than `whaleSpreadMs`, every fill would need a lookup.
 */
export const whaleGroupsMax = 16_384
export const whaleRetentionMs = 30_000
/** Trades of the previous run's last 60 s are grouped again at startup. */
export const whaleRegroupMs = 60_000
/** Milliseconds that one connection's snapshots may take before other connections continue. */
export const streamSliceMs = 2
/** Maximum messages that are replayed for one `resume` command. */
export const replayTradesMax = 10_000
/**
 * Maximum rows that one step of a replay reads from the database, and maximum positions that it checks. Each takes
 * about half a millisecond.
 */
export const replayReadRows = 64
export const replayScannedRows = 512

/** Limits of accounts. */
export const keysPerAccountMax = 20
export const labelCharactersMax = 64
export const watchlistMarketsMax = 100
export const addressRequestsPerMinute = 600
/**
 * Maximum requests per minute with which tokens manage an account, its keys and its webhooks. API keys cannot use up
 * this quota.
 */
export const managementRequestsPerMinute = 60
/** Maximum requests per minute of all dashboards of an account. */
export const dashboardRequestsPerMinute = 600
export const loginsPerMinute = 20
/**
 * Default of the accounts that one IPv4 address or IPv6 /64 may create per hour. One IPv6 /48 may create four times as
 * many.
 */
export const signUpsPerHour = 5
/** Maximum logged-out tokens of one account that have not expired. One more invalidates all tokens of the account. */
export const endedTokensPerAccountMax = 100
/**
 * Maximum stored pairs of e-mail and address that have logged in. Failed log-ins from other addresses do not delay
 * these pairs.
 */
export const knownLoginsMax = 100_000
/**
 * Maximum waiting password hashes, some 65 ms each. Clients that logged in from their network before have a separate
 * queue.
 */
export const passwordQueueMax = 16
export const signUpQueueMax = 8
/** A password is rejected if its hashing has not started within this time, because its client has probably given up. */
export const passwordWaitMsMax = 3_000
/** Maximum time of a sign-up or log-in, for hashing and disk. A slower request is rejected with a retry time. */
export const accountWorkMsMax = 4_000

/** Limits of webhooks. */
export const webhooksPerAccountMax = 25
/** Maximum age of trades, whales and prices that are delivered: 15 min. */
export const webhookEventAgeMsMax = 900_000
/**
 * Maximum pending deliveries of one webhook, and maximum age of a delivery (72 h). Above either maximum the oldest
 * deliveries are dropped.
 */
export const pendingPerWebhookMax = 100_000
export const pendingAgeMsMax = 259_200_000
/**
 * Maximum pending deliveries of all webhooks, about 1 GB of trades. Above the maximum, each webhook is limited to its
 * share.
 */
export const pendingTotalMax = 1_000_000
/** Maximum finished deliveries that are retained per webhook and in total, and for how long (7 days). */
export const finishedRetainedMax = 1_000
export const finishedTotalMax = 1_000_000
export const finishedRetentionMs = 604_800_000
/** A webhook is disabled if all its attempts failed for this time (5 days). */
export const failingMsMax = 432_000_000
/**
 * Maximum concurrent attempts of one webhook: in general, while less than half of all slots are taken (for distant
 * receivers), and while every attempt fails.
 */
export const attemptsPerWebhookMax = 4
export const attemptsPerWebhookQuietMax = 16
export const attemptsPerFailingMax = 1
/** Maximum concurrent attempts of all webhooks, and of all failing or slow webhooks. */
export const attemptsMax = 1_024
export const attemptsOfFailingMax = 256
/** Maximum concurrent attempts to one host, over all ports and accounts, and of one account. */
export const attemptsPerHostMax = 16
export const attemptsPerAccountMax = 32
/** Maximum age of a test request whose 2xx response verifies a host (24 h). */
export const testAgeMsMax = 86_400_000
/** A webhook is slow if its last attempt took at least this long. */
export const slowAttemptMs = 5_000
export const callsMax = 2_048

/** Maximum concurrent syncs of wallets. Live trades and their back-fill share the venue's quota. */
export const walletSyncsMax = 8
/** Maximum concurrent syncs of wallets that were never synced. The remaining slots are reserved for known wallets. */
export const walletFirstSyncsMax = 3
/** Maximum new wallet addresses that one account or address may request per minute. */
export const newWalletsPerMinute = 30
/** Maximum waiting syncs, and separately maximum waiting new addresses. Further requests are rejected. */
export const walletSyncsWaitingMax = 64
/** Maximum time that a request waits for the venue. Leaves enough time to return cached data. */
export const walletWaitMsMax = 3_500
/**
 * Maximum bytes of wallets cached in memory with their figures. Above the maximum the least recently requested wallets
 * are evicted.
 */
export const walletWarmBytesMax = 67_108_864
/**
 * Maximum wallets whose fills are taken from the stream. Above the maximum the least recently requested wallet is
 * unfollowed.
 */
export const walletsFollowedMax = 10_000
/** A wallet is followed for this time after its last request: a day. */
export const walletFollowedMs = 86_400_000
/**
 * Maximum fills of followed wallets that are retained until the venue's history contains them. Above the maximum the
 * oldest fill is dropped.
 */
export const walletFillsMax = 65_536
/**
 * Maximum cached addresses that the venue does not know, and maximum cached whale wallets. The oldest entries are
 * evicted.
 */
export const unknownAddressesMax = 10_000
export const walletWhalesMax = 100_000
/** Maximum markets cached for the P&L rules, about 500 bytes each. The least recently used markets are evicted. */
export const walletMarketsMax = 32_768

/** Maximum duration of a shutdown, including flushing and closing. */
export const shutdownMsMax = 15_000

assert(actorSliceMessagesMax < mailboxMessagesMax, 'a slice has fewer messages than a mailbox')
assert(
  tradeAgeMsCalm < tradeAgeMsMax,
  'reading of trades resumes below the bound at which it stops',
)
assert(messageAgeMsCalm < messageAgeMsMax, 'late books are requested only while waits are short')
assert(systemRunMsMax < systemRunMsLateMax, 'the time budget is larger while messages are late')
assert(waitingWeightLow < waitingWeightMax, 'reading resumes below the bound at which it stops')
assert(
  socketBufferBytesLow < socketBufferBytesSoft,
  'a lagging socket recovers below the level at which it starts to lag',
)
assert(socketBufferBytesSoft < socketBufferBytesMax, 'a socket lags before it is closed')
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
assert(attemptsPerAccountMax < attemptsOfFailingMax, 'one account leaves slots to other accounts')
assert(attemptsOfFailingMax < attemptsMax, 'failing webhooks leave slots to other webhooks')
assert(pendingPerWebhookMax <= pendingTotalMax, 'a webhook can reach its own maximum')
assert(commandBytesMax < frameBytesMax, 'an oversized command can still be answered')
