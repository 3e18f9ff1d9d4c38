// Finds the wallet of an address: in memory, on disk, else by asking the venue. An owner's (EOA) address resolves to its
// proxy wallet, whose record keeps the owner. At the end of the file: the questions to the venue under way, and how long
// a request waits.

import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import {
  walletReadingsWaitingMax,
  walletStrangersMax,
  walletsUnknownPerMinute,
} from '../../engine/limits.ts'
import { onAbort } from '../../engine/on-abort.ts'
import { HOUR_MS, MINUTE_MS } from '../../engine/units.ts'
import type { VenueWallets, WalletEvent, WalletProfile } from '../../engine/wallet.ts'
import type { StoredWallet, WalletTable } from '../../storage/contract/wallets.ts'
import { Slots, SlotsFull } from '../slots.ts'
import { VenueBudget } from '../venue-budget.ts'
import { newRecord, type OpenedTally, openedTally } from './stored.ts'
import type { WarmWallet, WarmWallets } from './warm-wallets.ts'

interface CallerParts {
  readonly table: WalletTable
  readonly clock: Clock
  readonly warmWallets: WarmWallets
  /** Ends everything. */
  readonly signal: AbortSignal
  /** Brings a wallet into memory. */
  readonly takeIn: (record: StoredWallet, opened: OpenedTally | null) => WarmWallet
  /** What our own log of trades knows of a wallet. */
  readonly ownTrades: (address: WalletAddress) => Promise<readonly WalletEvent[]>
  /** Called for a wallet that was not known before. */
  readonly onNew: (record: StoredWallet) => void
  readonly onFailure: (address: WalletAddress, error: unknown) => void
}

type Asked = Pick<VenueWallets, 'profile'>

/** Who asks for a wallet, and for how long. */
export interface WalletAsked {
  readonly deadline: WalletDeadline
  readonly requester: Requester
}

const TOO_MANY = 'too many wallets are being asked for'

/** A wallet's profile is asked for again after this: its name may have changed. */
const PROFILE_MS = 6 * HOUR_MS

export class WalletAddresses {
  readonly #parts: CallerParts
  readonly #profiles: WalletProfiles
  /** Wallets that are being brought into memory; bounded by the requests for them. */
  readonly #opening = new Map<WalletAddress, Promise<WarmWallet>>()

  constructor(parts: CallerParts) {
    this.#parts = parts
    this.#profiles = new WalletProfiles(parts.clock)
  }

  /**
   * The wallet of an address, in memory from now on; null when neither the venue nor our log of trades knows the address.
   * `venue` is null while it is not connected. Rejects with EngineError UNAVAILABLE when the venue does not answer in time,
   * and RATE_LIMITED when the requester asked for too many unknown addresses within a minute.
   */
  async warmOf(
    address: WalletAddress,
    venue: Asked | null,
    asked: WalletAsked,
  ): Promise<WarmWallet | null> {
    const { table, warmWallets, clock } = this.#parts
    const proxy = table.proxyOf(address) ?? address
    const known = warmWallets.use(proxy)
    if (known !== null) return known
    const record = table.get(proxy)
    if (record !== null) return this.#takenIn(record)
    if (this.#profiles.isStranger(address)) return null
    const profiled = await this.#profileOf(address, venue, asked)
    const own = profiled === null ? await asked.deadline.wait(this.#parts.ownTrades(address)) : []
    if (own === 'late') throw unavailable('our own trades are not looked through in time')
    if (profiled === null && own.length === 0) return null
    const profile = profiled ?? nameless(address)
    if (address !== profile.proxy) table.putOwner(address, profile.proxy)
    if (profile.eoa !== null) table.putOwner(profile.eoa, profile.proxy)
    // A request by the other address may have brought the wallet into memory meanwhile, or long ago.
    const warm = warmWallets.use(profile.proxy) ?? (await this.#takenInOf(profile))
    warm.wallet.setProfile(profile)
    warm.profiledMs = clock.monotonicMs()
    warm.wallet.keep(own)
    return warm
  }

  async #takenInOf(profile: WalletProfile): Promise<WarmWallet> {
    const { table, clock, takeIn, onNew } = this.#parts
    const kept = table.get(profile.proxy)
    if (kept !== null) return this.#takenIn(kept)
    const record = newRecord(profile, clock.nowMs())
    table.put(record)
    onNew(record)
    return takeIn(record, null)
  }

  /** Concurrent requests share one opening. Nothing changes the record of a wallet that is not in memory. */
  #takenIn(record: StoredWallet): Promise<WarmWallet> {
    const known = this.#opening.get(record.proxy)
    if (known !== undefined) return known
    const { table, takeIn } = this.#parts
    const opening = openedTally(table, record)
      .then((opened) => takeIn(record, opened))
      .finally(() => this.#opening.delete(record.proxy))
    this.#opening.set(record.proxy, opening)
    return opening
  }

  async #profileOf(
    address: WalletAddress,
    venue: Asked | null,
    { deadline, requester }: WalletAsked,
  ): Promise<WalletProfile | null> {
    if (venue === null) throw unavailable('the venue of wallets is not connected')
    const { signal } = this.#parts
    const asked = this.#profiles.ask(address, venue, { signal, requester })
    if (asked === 'full') throw unavailable(TOO_MANY)
    let profile: WalletProfile | null | 'late'
    try {
      profile = await deadline.wait(asked)
    } catch (cause) {
      if (cause instanceof SlotsFull) throw unavailable(TOO_MANY)
      this.#parts.onFailure(address, cause)
      throw unavailable('the venue does not answer for this address', cause)
    }
    if (profile === 'late') throw unavailable('the venue does not answer for this address in time')
    return profile
  }

  /** Asks for the wallet's profile again, some hours after the last time. */
  renew(warm: WarmWallet, venue: Asked): void {
    const { clock, warmWallets, signal, onFailure } = this.#parts
    const nowMs = clock.monotonicMs()
    const { proxy } = warm.wallet.record
    if (warm.profiledMs !== null && nowMs - warm.profiledMs < PROFILE_MS) return
    warm.profiledMs = nowMs
    const asked = this.#profiles.ask(proxy, venue, { signal, requester: SYSTEM })
    if (asked === 'full') return
    asked
      .then((profile) => {
        // A wallet that left the memory meanwhile would put its old record over a newer one.
        const isHere = warmWallets.peek(proxy) === warm
        if (isHere && profile?.proxy === proxy) warm.wallet.setProfile(profile)
      })
      .catch((error: unknown) => onFailure(proxy, error))
  }
}

/** A wallet of which the venue knows nothing. */
function nameless(proxy: WalletAddress): WalletProfile {
  return { proxy, eoa: null, handle: null, pseudonym: null, image: null }
}

export function unavailable(detail: string, cause?: unknown): EngineError {
  return new EngineError('UNAVAILABLE', detail, { cause, retryAfterSeconds: 1 })
}

/** Profiles asked for at once, and of these by one requester: short questions, which precede everything else of a first request. */
const RUNNING_MAX = 4
const RUNNING_OF_ONE_MAX = 2
interface ProfileCall {
  readonly signal: AbortSignal
  readonly requester: Requester
}

/** An address that the venue does not know is asked for again after this. */
const STRANGER_MS = MINUTE_MS

/**
 * Asks the venue for the profile of an address: one question for all requests that wait for it, few at once. An address that the
 * venue never saw is not asked for again for a minute.
 */
class WalletProfiles {
  readonly #clock: Clock
  readonly #slots: Slots
  readonly #budget: VenueBudget
  /** Questions under way; as many as may run and wait. */
  readonly #asked = new Map<WalletAddress, Promise<WalletProfile | null>>()
  /** Until when an address counts as unknown to the venue (monotonic); the oldest first. */
  readonly #strangers = new Map<WalletAddress, number>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#slots = new Slots({
      runningMax: RUNNING_MAX,
      waitingMax: walletReadingsWaitingMax,
      runningOfOneMax: RUNNING_OF_ONE_MAX,
    })
    this.#budget = new VenueBudget(clock, walletsUnknownPerMinute, 'wallets')
  }

  isStranger(address: WalletAddress): boolean {
    return this.#clock.monotonicMs() < (this.#strangers.get(address) ?? 0)
  }

  /** Null: the venue does not know the address. `full`: too many questions. Rejects when the venue does not answer. */
  ask(
    address: WalletAddress,
    venue: Asked,
    by: ProfileCall,
  ): Promise<WalletProfile | null> | 'full' {
    const known = this.#asked.get(address)
    if (known !== undefined) return known
    if (this.#slots.isFull(by.requester)) return 'full'
    this.#budget.take(by.requester)
    const asked = this.#ask(address, venue, by).finally(() => this.#asked.delete(address))
    this.#asked.set(address, asked)
    // The request may have ended; the question goes on.
    asked.catch(() => undefined)
    return asked
  }

  async #ask(
    address: WalletAddress,
    venue: Asked,
    { signal, requester }: ProfileCall,
  ): Promise<WalletProfile | null> {
    const profile = await this.#slots.run(signal, () => venue.profile(address, signal), requester)
    if (profile === null) this.#noteStranger(address)
    return profile
  }

  /** Full: the address that was asked for longest ago is forgotten. */
  #noteStranger(address: WalletAddress): void {
    this.#strangers.delete(address)
    this.#strangers.set(address, this.#clock.monotonicMs() + STRANGER_MS)
    for (const oldest of this.#strangers.keys()) {
      if (this.#strangers.size <= walletStrangersMax) break
      this.#strangers.delete(oldest)
    }
  }
}

/**
 * How long one request waits for a wallet: until its deadline, until its signal aborts, or until everything stops. The
 * work that it waits for goes on. Call `end` when the request is answered.
 */
export class WalletDeadline {
  readonly #late = new AbortController()
  readonly #ends: (() => void)[]

  constructor(clock: Clock, waitMs: number, signals: readonly AbortSignal[]) {
    const abort = () => this.#late.abort()
    this.#ends = [clock.after(waitMs, abort), ...signals.map((signal) => onAbort(signal, abort))]
  }

  /** The result of the work, or `late`; rejects as the work does. */
  wait<Result>(work: Promise<Result>): Promise<Result | 'late'> {
    return new Promise((resolve, reject) => {
      const forget = onAbort(this.#late.signal, () => resolve('late'))
      work.then(resolve, reject).finally(forget)
    })
  }

  end(): void {
    for (const end of this.#ends) end()
  }
}
