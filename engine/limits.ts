// Every bound in the system with its unit and reason; relations between them are asserted on load.
// Settings an operator may change are in config.ts; these are constants that must agree.

import { assert } from './errors.ts'

/** Events waiting in one actor's mailbox; full: book changes drop and the book resynchronises. */
export const mailboxMessagesMax = 4_096
/** Messages one actor handles before the next actor's turn, so that a hot market starves no other. */
export const actorSliceMessagesMax = 64
/**
 * Milliseconds of actor work before the loop is given back to sockets and timers. What is published in
 * a turn is written at its end, so this is also how long a busy turn holds a quiet market's message:
 * measured under full load, 8 ms delivers a sixth more and is four times as late.
 */
export const systemRunMsMax = 2
/** The same behind a backlog, where turns must get more of the time than the reading of sockets. */
export const systemRunMsLateMax = 50
/** Characters that one socket of a venue is read in one turn of the loop, so that a backlog in the kernel's
 * buffers (6 MB a socket) does not hold up everything else for seconds. */
export const readCharsPerTickMax = 262_144
/**
 * A message that waited within the service for longer makes its book stale: its owner drops the changes of
 * the book, and asks for a snapshot. Trades wait and are kept.
 */
export const messageAgeMsMax = 1_000
/** Books that went stale by delay are asked for again only while nothing waits for longer than this. */
export const messageAgeMsCalm = 400
/** Trades that wait for longer are too many: no more are read until the oldest waits for half a second. */
export const tradeAgeMsMax = 2_000
export const tradeAgeMsCalm = 500
/** How often ages of messages, and the loop's delay, are looked at. */
export const delayCheckMs = 100
/** Of these at most so many, and at most this share of them, are asked for at each look: snapshots of
 * hundreds of markets at once would make the next delay. */
export const lateBooksPerCheckMax = 20
export const lateBooksShare = 1 / 64
/** A feed whose messages come late for so long because the engine is slow is connected anew: what waits in
 * the kernel's buffers and the venue's is dropped. At most once in `reconnectApartMs`. */
export const behindMsMax = 10_000
export const reconnectApartMs = 30_000
/** What waits in all mailboxes, in changed levels and other messages of some 200 bytes: above it no socket is
 * read until half of it is done. */
export const waitingWeightMax = 131_072
export const waitingWeightLow = 65_536
/** Prices a live market keeps in its ring. */
export const priceRingCount = 512
/** Trades a live market keeps in its ring while somebody reads it: a page of the usual 100 comes from it. */
export const tradeRingCount = 128
/** A market without traffic or watchers for this long sleeps. */
export const marketIdleMsMax = 300_000
/** Changed markets write their checkpoint at most this often. */
export const checkpointEveryMs = 10_000
/** A market's book is kept for its history at most this often, and so many levels of each side. */
export const bookSnapshotEveryMs = 10_000
export const bookSnapshotLevels = 20
/** Book snapshots are kept this long, whatever the retention of the rest. */
export const snapshotRetentionDays = 2
/** Where messages may have been missed, a stored price counts for so long, and a book may be so late. */
export const priceAgeMsMax = 60_000
/** LMDB writes handed over and not committed; above it ingestion is slowed. */
export const outstandingWritesMax = 50_000
/** Runs remembered, even when stored trades name older ones: restarts in a loop add up to no more. */
export const retainedRunsMax = 10_000
/** A stale book is asked for again after this long. */
export const staleRetryMs = 5_000
/** Levels kept a side; a price grid of 0.0001 has 9,999 steps. */
export const bookLevelsMax = 10_000
/** Trade updates kept in memory for connections that lagged or resume within a run: a minute of a busy one, in some 15 MB;
 * what is older is read from its table. */
export const ringTradesMax = 16_384
/** Book updates likewise, and the changed levels in them: a whole book may be one update. */
export const ringBookUpdatesMax = 65_536
export const ringBookLevelsMax = 262_144
/** Lifecycle and whale updates likewise; of lifecycle there is no database behind them. */
export const ringLifecycleMax = 16_384
export const ringWhalesMax = 16_384
export const ringArbitrageMax = 16_384

/** Opportunities that are open at a time; further ones are counted and left out. */
export const opportunitiesMax = 2_000
/** Markets whose baskets are looked at in one turn of the loop; the rest have the next ones. */
export const opportunityChecksMax = 250
/** A change of one is told at most so often, and every open one is looked at so often. */
export const opportunityChangedMs = 250
/** The longest that a webhook can ask it to last before it is posted: an hour. */
export const opportunityAgeMsMax = 3_600_000
/** One that lasted for less is not kept when it ends. */
export const opportunityRecordedMsMin = 500
/** Unless configured: a book that was neither changed nor confirmed for so long is part of none. */
export const bookAgeMsMax = 60_000
/** Unless configured: every subscribed book is read over REST once in so long. */
export const bookRoundMs = 600_000
/** Announced losses of trades that one run keeps for clients that were away. Later ones are announced
 * live only; every client of so broken a run receives some. */
export const lossesOfRunMax = 10_000

/** REST: bytes of a body, milliseconds for an answer. */
export const bodyBytesMax = 16_384
export const requestDeadlineMs = 5_000
export const queryBytesMax = 32_768
/** Bytes of answers that their clients have not read yet, of all connections; full: the account or address with most loses one. */
export const unsentBytesMax = 67_108_864
/** An answer must be read within so long, and a second more for so many bytes of it. */
export const unsentMsMin = 10_000
export const unsentBytesPerSecondMin = 16_384
/** Bytes of documents, scripts and pages that an address may have in a minute; what each answer counts besides. */
export const addressFileBytesPerMinute = 67_108_864
export const fileAnswerBytes = 1_024
/** JSON of more bytes is sent compressed to clients that accept it; so many answers are compressed at once. */
export const codedJsonBytesMin = 4_096
export const codingsMax = 2
/** Requests of one address answered in a turn of the loop: those of one segment all come in one. */
export const addressRequestsPerTickMax = 1_024
/** Requests beyond the quota of an account or address that are answered in a second; each further one ends its connection. */
export const refusedRequestsPerSecondMax = 200
/** While three quarters of all connections are open: new ones of an address within the time after which an idle one ends. */
export const connectionsOfAddressMax = 64
export const connectionsWindowMs = 13_000
/** Reading a range of time for rows that pass rare filters ends after this, before the deadline does. */
export const scanMsMax = 4_000
/** Questions for past prices to the venues: few at once, since live traffic shares the venue's quota. */
export const pastQueriesRunningMax = 4
/** Those of one account or address at once, and in a minute. */
export const pastQueriesPerRequesterMax = 2
export const pastQueriesPerMinute = 120
/** Those that wait their turn; further ones are refused. */
export const pastQueriesWaitingMax = 64
/** Everything that one request asks the venue for ends within this, so that a refusal says why. */
export const pastQueryMsMax = 4_000
/** Stretches of past prices kept in memory, and points of each: 100 × 5,000 × 40 bytes, 20 MB at most. */
export const pastRangesMax = 100
export const pastRangePointsMax = 5_000

/** WebSocket protocol (interface: http/ws/README.md). */
export const heartbeatMs = 5_000
/** So much earlier a heartbeat goes with a message that half of all connections get: alone it is a write to each socket. */
export const heartbeatEarlyMs = 1_000
export const commandBytesMax = 16_384
export const frameBytesMax = 65_536
export const commandsPerSecondMax = 20
/** Commands beyond it that are answered with RATE_LIMITED, in a second; further ones are dropped without an answer. */
export const refusalsPerSecondMax = 10
/** Commands beyond {@link commandsPerSecondMax} within a minute that end a connection. */
export const refusalsPerMinuteMax = 100
/** Ping frames above it count as commands. */
export const pingsPerSecondMax = 10
/** A `list` counts as so many commands, since its answer may have half a megabyte. */
export const listCommands = 10
export const subscriptionsMax = 1_000
export const marketIdsPerCommandMax = 100
export const socketBufferBytesSoft = 1_048_576
export const socketBufferBytesLow = 262_144
export const socketBufferBytesMax = 16_777_216
export const bufferSweepMs = 25
/** Messages of one frame of a batched connection, unless one alone is larger; characters count as bytes. */
export const batchBytesMax = 65_536
export const socketIdleSeconds = 60
export const unsubscribedMsMax = 60_000
/** A slow reader without progress for so long is sent nothing more but its close frame. */
export const laggingMsMax = 10_000
/** It then has so long to take what is unsent, behind which the close frame stands. */
export const leavingMsMax = 50_000
/** A ticket opens one stream within so many seconds; unused ones of an account, and of all. */
export const ticketSeconds = 60
export const ticketsPerAccountMax = 32
export const ticketsMax = 10_000
/** All sockets' buffers together; beyond it the largest of the account with most is cut. */
export const socketBuffersTotalBytesMax = 1_073_741_824
/** Commands that wait while one is carried out; more are refused with RATE_LIMITED. */
export const commandsWaitingMax = 200
/** Commands answered by `error` within a minute that end a connection. */
export const commandErrorsPerMinuteMax = 10
/** Conflated messages that leave at once within a turn of the loop; the others wait for a slice. */
export const conflationTickCount = 32
/** A window's end is looked for at most this often. */
export const conflationFlushMs = 5
/** A market's candle in one interval is published at most this often; ends of bars are looked for as often. */
export const candleEveryMs = 1_000
export const candleCloseCheckMs = 250
/** Whale rows of at least so many millionths of a dollar are published on the stream. */
export const whaleMessageUsdMin = 5_000_000_000
/** Whale rows exist from so many millionths of a dollar on. */
export const whaleRowUsdMin = 1_000_000_000
/** A whale's fills are gathered for so long from the first of them. */
export const whaleCloseMs = 150
/** Fills of one transaction bear venue times at most so far apart. */
export const whaleSpreadMs = 10_000
/** Transactions remembered for fills that come late, and for how long; beyond either the oldest is forgotten, and its late
 * fills are summed up from the table of trades. About 900 bytes each. Fewer than come within `whaleSpreadMs` would have
 * every fill looked up: enough for 1,600 a second. */
export const whaleGroupsMax = 16_384
export const whaleRetentionMs = 30_000
/** Before a restart the trades of this long are grouped again. */
export const whaleRegroupMs = 60_000
/** Milliseconds of one connection's snapshots before others have their turn. */
export const streamSliceMs = 2
/** Messages replayed to one resuming command. */
export const replayTradesMax = 10_000
/** Rows of the database read at a time while replaying, and places looked at where few are read:
 * about half a millisecond each. */
export const replayReadRows = 64
export const replayScannedRows = 512

/** Accounts. */
export const keysPerAccountMax = 20
export const labelCharactersMax = 64
export const addressRequestsPerMinute = 600
/** Of an account's tokens, for what manages it (itself, its keys, its webhooks): no key can spend these. */
export const managementRequestsPerMinute = 60
/** Of an account's dashboards together, which have a budget of their own: a page change asks some three times. */
export const dashboardRequestsPerMinute = 600
export const loginsPerMinute = 20
/** Accounts made within an hour from one IPv4 address or IPv6 /64, unless configured; from one IPv6 /48 four times as many. */
export const signUpsPerHour = 5
/** Login tokens of one account that were logged out and have not expired; one more ends all of them. */
export const endedTokensPerAccountMax = 100
/** Pairs of e-mail and address that have logged in: failures from other addresses do not delay these. */
export const knownLoginsMax = 100_000
/** Hashes of some 65 ms each: the last of the queue must come before a request's deadline. */
export const passwordQueueMax = 32
/** A password that has not begun to be hashed by then is refused: its client has given up. */
export const passwordWaitMsMax = 3_000
/** What signing up and in, hashing and disk together, may take before the caller is asked to come back. */
export const accountWorkMsMax = 4_000

/** Webhooks. */
export const webhooksPerAccountMax = 25
/** Older trades and whales are not delivered, nor is a price so late: 15 min. */
export const webhookEventAgeMsMax = 900_000
/** Pending deliveries of one webhook, and how long one may wait (72 h); beyond, the oldest are dropped. */
export const pendingPerWebhookMax = 100_000
export const pendingAgeMsMax = 259_200_000
/** Pending deliveries of all webhooks, about 1 GB of trades: beyond, each may have its share of them. */
export const pendingTotalMax = 1_000_000
/** Finished deliveries kept of each webhook, of all together, and for how long (7 days). */
export const finishedRetainedMax = 1_000
export const finishedTotalMax = 1_000_000
export const finishedRetentionMs = 604_800_000
/** Nothing but failures for so long (5 days) disables a webhook. */
export const failingMsMax = 432_000_000
/**
 * Attempts of one webhook at once; while less than half of all places are taken, so that a receiver far away
 * keeps up (16 at 100 ms are 160 a second); and while every attempt fails.
 */
export const attemptsPerWebhookMax = 4
export const attemptsPerWebhookQuietMax = 16
export const attemptsPerFailingMax = 1
/** Attempts under way: of all webhooks, and of those that only fail or are slow. */
export const attemptsMax = 1_024
export const attemptsOfFailingMax = 256
/** Attempts under way to one host (all ports and accounts), and of one account. */
export const attemptsPerHostMax = 16
export const attemptsPerAccountMax = 32
/** A test that is answered with a 2xx so long after it was asked for (24 h) verifies no host. */
export const testAgeMsMax = 86_400_000
/** A webhook whose last attempt took so long is slow. */
export const slowAttemptMs = 5_000
/** Calls to receivers under way, twice what the dispatcher asks for; beyond it a call fails at once. */
export const callsMax = 2_048

/** Wallets. Readings at once: the venue's quota is shared with live trades and their back-fill. */
export const walletSyncsMax = 8
/** Of these readings of wallets that were never read: the others are reserved for known wallets. */
export const walletFirstSyncsMax = 3
/** Addresses never asked for that one account or address may ask for in a minute. */
export const newWalletsPerMinute = 30
/** Readings, and separately addresses never asked for, that wait their turn; further ones are refused. */
export const walletSyncsWaitingMax = 64
/** A request waits so long for the venue, so that what is known can still be answered in time. */
export const walletWaitMsMax = 3_500
/** Bytes of wallets kept in memory with their figures; beyond, those asked for longest ago go. */
export const walletWarmBytesMax = 67_108_864
/** Wallets whose fills are taken from the stream; full: the one asked for longest ago is followed no more. */
export const walletsFollowedMax = 10_000
/** A wallet is followed for so long after it was last asked for: a day. */
export const walletFollowedMs = 86_400_000
/** Fills of followed wallets kept until the venue's history has them; full: the oldest goes. */
export const walletFillsMax = 65_536
/** Addresses remembered as never seen, and wallets remembered as whales; full: the oldest goes. */
export const unknownAddressesMax = 10_000
export const walletWhalesMax = 100_000
/** Markets whose facts are kept for the rules; full: the one looked up longest ago goes. About 500 bytes each. */
export const walletMarketsMax = 32_768

/** Shutdown: everything flushed and closed within this. */
export const shutdownMsMax = 15_000

assert(actorSliceMessagesMax < mailboxMessagesMax, 'a turn is smaller than a mailbox')
assert(tradeAgeMsCalm < tradeAgeMsMax, 'reading of trades goes on below where it stops')
assert(messageAgeMsCalm < messageAgeMsMax, 'books come back where there is room for them')
assert(systemRunMsMax < systemRunMsLateMax, 'behind a backlog turns may take longer')
assert(waitingWeightLow < waitingWeightMax, 'reading goes on below where it stops')
assert(socketBufferBytesLow < socketBufferBytesSoft, 'catching up ends below where lagging begins')
assert(socketBufferBytesSoft < socketBufferBytesMax, 'lagging begins before the cut')
assert(scanMsMax < requestDeadlineMs, 'a long scan is refused before it times out')
assert(whaleSpreadMs < whaleRetentionMs, 'fills that come in time find their transaction')
assert(whaleRowUsdMin <= whaleMessageUsdMin, 'a whale that is published is stored')
assert(
  passwordWaitMsMax < accountWorkMsMax,
  'a request that waits for a hash is refused before it times out',
)
assert(accountWorkMsMax < requestDeadlineMs, 'a late sign-up is refused before it times out')
assert(pastQueryMsMax < requestDeadlineMs, 'a slow venue is given up before the request is')
assert(
  attemptsPerWebhookMax < attemptsPerWebhookQuietMax,
  'a webhook has more attempts at once when it is quiet',
)
assert(walletWaitMsMax < requestDeadlineMs, 'a wallet that is slow is answered before the deadline')
assert(attemptsMax < callsMax, 'what the dispatcher asks for is never refused')
assert(attemptsPerHostMax <= attemptsPerAccountMax, 'an account alone may use a host fully')
assert(attemptsPerAccountMax < attemptsOfFailingMax, 'one account leaves places to the others')
assert(attemptsOfFailingMax < attemptsMax, 'endpoints that fail leave places to the others')
assert(pendingPerWebhookMax <= pendingTotalMax, 'one webhook alone may have all it may have')
assert(commandBytesMax < frameBytesMax, 'an oversized command can still be answered')
