// Finds the wallet of an address: in memory, on disk, else by asking the venue. An owner's (EOA) address resolves to its
// proxy wallet, whose record keeps the owner. At the end of the file: the questions to the venue under way, and how long
// a request waits.

import type { Clock } from '../../engine/clock.ts'
import { EngineError } from '../../engine/errors.ts'
import { type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import {
  newWalletsPerMinute,
  unknownAddressesMax,
  walletSyncsWaitingMax,
} from '../../engine/limits.ts'
import { onAbort } from '../../engine/on-abort.ts'
import { HOUR_MS, MINUTE_MS } from '../../engine/units.ts'
import type { VenueWallets, WalletEvent, WalletProfile } from '../../engine/wallet.ts'
import type { StoredWallet, WalletTable } from '../../storage/contract/wallets.ts'
import { Slots, SlotsFull } from '../slots.ts'
import { VenueBudget } from '../venue-budget.ts'
import { loadPnlState, newRecord, type OpenedPnlState } from './stored-wallet.ts'
import type { WarmWallet, WarmWallets } from './warm-wallets.ts'

interface WalletAddressParts {
  readonly table: WalletTable
  readonly clock: Clock
  readonly warmWallets: WarmWallets
  /** Ends everything. */
  readonly signal: AbortSignal
  /** Brings a wallet into memory. */
  readonly load: (record: StoredWallet, opened: OpenedPnlState | null) => WarmWallet
  /** What our own log of trades knows of a wallet. */
  readonly ownTrades: (address: WalletAddress) => Promise<readonly WalletEvent[]>
  /** Called for a wallet that was not known before. */
  readonly onNew: (record: StoredWallet) => void
  readonly onFailure: (address: WalletAddress, error: unknown) => void
}

type ProfileSource = Pick<VenueWallets, 'profile'>

/** Who asks for a wallet, and for how long. */
export interface WalletRequest {
  readonly deadline: WalletDeadline
  readonly requester: Requester
}

const TOO_MANY = 'too many wallets are being asked for'

/** A wallet's profile is asked for again after this: its name may have changed. */
const PROFILE_MS = 6 * HOUR_MS

export class WalletAddresses {
  readonly #parts: WalletAddressParts
  readonly #profiles: WalletProfiles
  /** Wallets that are being brought into memory; bounded by the requests for them. */
  readonly #created = new Map<WalletAddress, Promise<WarmWallet>>()

  constructor(parts: WalletAddressParts) {
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
    venue: ProfileSource | null,
    request: WalletRequest,
  ): Promise<WarmWallet | null> {
    const { table, warmWallets, clock } = this.#parts
    const proxy = table.proxyOf(address) ?? address
    const cached = warmWallets.use(proxy)
    if (cached !== null) return cached
    const record = table.get(proxy)
    if (record !== null) return this.#loaded(record)
    if (this.#profiles.isUnknown(address)) return null
    const profiled = await this.#profileOf(address, venue, request)
    const own = profiled === null ? await request.deadline.wait(this.#parts.ownTrades(address)) : []
    if (own === 'late') throw unavailable('our own trades are not looked through in time')
    if (profiled === null && own.length === 0) return null
    const profile = profiled ?? nameless(address)
    if (address !== profile.proxy) table.putOwner(address, profile.proxy)
    if (profile.eoa !== null) table.putOwner(profile.eoa, profile.proxy)
    // A request by the other address may have brought the wallet into memory meanwhile, or long ago.
    const warm = warmWallets.use(profile.proxy) ?? (await this.#loadedFor(profile))
    warm.wallet.setProfile(profile)
    warm.profiledMs = clock.monotonicMs()
    warm.wallet.addEvents(own)
    return warm
  }

  async #loadedFor(profile: WalletProfile): Promise<WarmWallet> {
    const { table, clock, load, onNew } = this.#parts
    const stored = table.get(profile.proxy)
    if (stored !== null) return this.#loaded(stored)
    const record = newRecord(profile, clock.nowMs())
    table.put(record)
    onNew(record)
    return load(record, null)
  }

  /** Concurrent requests share one opening. Nothing changes the record of a wallet that is not in memory. */
  #loaded(record: StoredWallet): Promise<WarmWallet> {
    const opening = this.#created.get(record.proxy)
    if (opening !== undefined) return opening
    const { table, load } = this.#parts
    const created = loadPnlState(table, record)
      .then((opened) => load(record, opened))
      .finally(() => this.#created.delete(record.proxy))
    this.#created.set(record.proxy, created)
    return created
  }

  async #profileOf(
    address: WalletAddress,
    venue: ProfileSource | null,
    { deadline, requester }: WalletRequest,
  ): Promise<WalletProfile | null> {
    if (venue === null) throw unavailable('the venue of wallets is not connected')
    const { signal } = this.#parts
    const pending = this.#profiles.fetch(address, venue, { signal, requester })
    if (pending === 'full') throw unavailable(TOO_MANY)
    let profile: WalletProfile | null | 'late'
    try {
      profile = await deadline.wait(pending)
    } catch (cause) {
      if (cause instanceof SlotsFull) throw unavailable(TOO_MANY)
      this.#parts.onFailure(address, cause)
      throw unavailable('the venue does not answer for this address', cause)
    }
    if (profile === 'late') throw unavailable('the venue does not answer for this address in time')
    return profile
  }

  /** Asks for the wallet's profile again, some hours after the last time. */
  renew(warm: WarmWallet, venue: ProfileSource): void {
    const { clock, warmWallets, signal, onFailure } = this.#parts
    const nowMs = clock.monotonicMs()
    const { proxy } = warm.wallet.record
    if (warm.profiledMs !== null && nowMs - warm.profiledMs < PROFILE_MS) return
    warm.profiledMs = nowMs
    const pending = this.#profiles.fetch(proxy, venue, { signal, requester: SYSTEM })
    if (pending === 'full') return
    pending
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
const UNKNOWN_MS = MINUTE_MS

/**
 * Asks the venue for the profile of an address: one question for all requests that wait for it, few at once. An address that the
 * venue never saw is not asked for again for a minute.
 */
class WalletProfiles {
  readonly #clock: Clock
  readonly #slots: Slots
  readonly #budget: VenueBudget
  /** Questions under way; as many as may run and wait. */
  readonly #fetches = new Map<WalletAddress, Promise<WalletProfile | null>>()
  /** Until when an address counts as unknown to the venue (monotonic); the oldest first. */
  readonly #unknownAddresses = new Map<WalletAddress, number>()

  constructor(clock: Clock) {
    this.#clock = clock
    this.#slots = new Slots({
      runningMax: RUNNING_MAX,
      waitingMax: walletSyncsWaitingMax,
      runningOfOneMax: RUNNING_OF_ONE_MAX,
    })
    this.#budget = new VenueBudget(clock, newWalletsPerMinute, 'wallets')
  }

  isUnknown(address: WalletAddress): boolean {
    return this.#clock.monotonicMs() < (this.#unknownAddresses.get(address) ?? 0)
  }

  /** Null: the venue does not know the address. `full`: too many questions. Rejects when the venue does not answer. */
  fetch(
    address: WalletAddress,
    venue: ProfileSource,
    by: ProfileCall,
  ): Promise<WalletProfile | null> | 'full' {
    const existing = this.#fetches.get(address)
    if (existing !== undefined) return existing
    if (this.#slots.isFull(by.requester)) return 'full'
    this.#budget.take(by.requester)
    const fetching = this.#fetch(address, venue, by).finally(() => this.#fetches.delete(address))
    this.#fetches.set(address, fetching)
    // The request may have ended; the question goes on.
    fetching.catch(() => undefined)
    return fetching
  }

  async #fetch(
    address: WalletAddress,
    venue: ProfileSource,
    { signal, requester }: ProfileCall,
  ): Promise<WalletProfile | null> {
    const profile = await this.#slots.run(signal, () => venue.profile(address, signal), requester)
    if (profile === null) this.#noteUnknown(address)
    return profile
  }

  /** Full: the address that was asked for longest ago is forgotten. */
  #noteUnknown(address: WalletAddress): void {
    this.#unknownAddresses.delete(address)
    this.#unknownAddresses.set(address, this.#clock.monotonicMs() + UNKNOWN_MS)
    for (const oldest of this.#unknownAddresses.keys()) {
      if (this.#unknownAddresses.size <= unknownAddressesMax) break
      this.#unknownAddresses.delete(oldest)
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
      const unsubscribe = onAbort(this.#late.signal, () => resolve('late'))
      work.then(resolve, reject).finally(unsubscribe)
    })
  }

  end(): void {
    for (const end of this.#ends) end()
  }
}
