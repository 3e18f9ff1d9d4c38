// Venue a's trades, put together: the activity stream, the ledger that gives them identity, the check
// of doubtful rows and the back-fill. Not for: books (feed.ts). Upholds POLYFEED6 to POLYFEED9.

import type { VenueEvent } from '../../../events.ts'
import type { HttpClient } from '../../../fetch.ts'
import type { WalletAddress } from '../../../ids.ts'
import type { TimeMs } from '../../../units.ts'
import type { FrameTap, SocketFeed } from '../../feed.ts'
import type { TradesRead, VenueParts } from '../../venue.ts'
import type { Intake } from '../intake.ts'
import { FollowedWallets } from '../wallets/follow.ts'
import { ActivityFeed } from './activity.ts'
import { BackFill, type BackFillRange } from './back-fill.ts'
import { TradeCheck } from './check.ts'
import { TradeHistory } from './history.ts'
import { TradeLedger } from './trades.ts'

export interface TradeFeedParts {
  readonly venue: VenueParts
  readonly data: HttpClient
  readonly url: string
  readonly tap: FrameTap | null
  readonly intake: Intake
  readonly emit: (event: VenueEvent) => void
  readonly silentAfterMs: number
  /** Ends every back-fill under way. */
  readonly signal: AbortSignal
}

/** All trades of the venue, streamed, checked and back-filled. */
export class TradeFeed {
  readonly #activity: ActivityFeed
  readonly #backFill: BackFill
  readonly #check: TradeCheck
  readonly #followed: FollowedWallets

  constructor(parts: TradeFeedParts) {
    const { venue, intake, emit, signal } = parts
    const { clock } = venue
    const history = new TradeHistory({
      data: parts.data,
      doubts: intake.doubts,
      onRejected: (reason) => intake.reject(reason, 'a row of the Data API'),
      onOverflow: (second) => intake.trouble('trades_beyond_limit', `second ${second}`),
    })
    const ledger = new TradeLedger({
      emit,
      onSuspicion: (suspicion) => this.#check.add(suspicion),
    })
    const onGivenUp = (sinceMs: TimeMs, reason: string) => this.#activity.doubt(sinceMs, reason)
    const onChecked = (fate: string) => intake.ignore(fate)
    const followed = new FollowedWallets({ intake, roleOf: (row) => ledger.roleOf(row) })
    this.#followed = followed
    this.#activity = new ActivityFeed({ ...parts, ledger, followed, history })
    this.#check = new TradeCheck({ clock, history, onGivenUp, onChecked }, ledger)
    this.#backFill = new BackFill({ clock, history, ledger, intake, emit, onGivenUp, signal })
  }

  get socket(): SocketFeed {
    return this.#activity.socket
  }

  start(): void {
    this.#activity.start()
    this.#check.start()
  }

  stop(): Promise<void> {
    this.#check.stop()
    return this.#activity.stop()
  }

  fetch(range: BackFillRange): Promise<TradesRead> {
    return this.#backFill.fetch(range)
  }

  /** From now on the wallet's fills are emitted as `walletFill`. */
  follow(address: WalletAddress): void {
    this.#followed.follow(address)
  }

  unfollow(address: WalletAddress): void {
    this.#followed.unfollow(address)
  }
}
