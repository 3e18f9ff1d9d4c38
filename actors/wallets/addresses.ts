// Resolves an address to its wallet: from memory, from disk, or by a venue request. The address may be that of the
// wallet (the proxy) or of its owner (the EOA).

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../engine/clock.ts'
import { type Requester, SYSTEM } from '../../engine/fair-queue.ts'
import type { WalletAddress } from '../../engine/ids.ts'
import {
  newWalletsPerMinute,
  unknownAddressesMax,
  walletSyncsWaitingMax,
} from '../../engine/limits.ts'
import { putLast } from '../../engine/put-last.ts'
import { HOUR_MS, MINUTE_MS, TIME_ZERO, type TimeMs } from '../../engine/units.ts'

import type { VenueWallets, WalletEvent, WalletProfile } from '../../engine/wallet.ts'
import { PnlState } from '../../engine/wallets/pnl-state.ts'
import type { WalletTable } from '../../storage/contract/storage.ts'
import { type StoredWallet, WALLET_RULES } from '../../storage/contract/wallets.ts'
import { type Deadline, unavailable } from '../deadline.ts'
import { Slots, SlotsFull } from '../slots.ts'
import { VenueBudget } from '../venue-budget.ts'
import type { WarmWallet, WarmWallets } from './warm-wallets.ts'

interface WalletAddressParts {
  readonly table: WalletTable
  readonly clock: Clock
  readonly warmWallets: WarmWallets
  readonly signal: AbortSignal
  readonly load: (record: StoredWallet, opened: PnlState | null) => WarmWallet
  readonly ownTrades: (address: WalletAddress) => Promise<readonly WalletEvent[]>
  readonly onNew: (record: StoredWallet) => void
  readonly onFailure: (address: WalletAddress, error: unknown) => void
}

type ProfileSource = Pick<VenueWallets, 'profile'>

export interface WalletRequest {
  readonly deadline: Deadline
  readonly requester: Requester
}

const TOO_MANY = 'too many wallets are being asked for'

/** The profile is requested again after this time, because a wallet's name may change. */
const PROFILE_MS = 6 * HOUR_MS

export class WalletAddresses {
  readonly #parts: WalletAddressParts
  readonly #profiles: WalletProfiles
  readonly #created = new Map<WalletAddress, Promise<WarmWallet>>()

  constructor(parts: WalletAddressParts) {
    this.#parts = parts
    this.#profiles = new WalletProfiles(parts.clock)
  }

  /**
   * Loads the wallet of an address into memory. Null if neither the venue nor the local trade log knows the address.
   * `venue` is null while it is not connected. Rejects with EngineError UNAVAILABLE if the venue does not answer in
   * time. Rejects with RATE_LIMITED if the requester requested too many unknown addresses within a minute.
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
    // A concurrent request by the other address may have loaded the wallet.
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
        // An evicted wallet may have been loaded again. Its old record would overwrite the newer one.
        const isHere = warmWallets.peek(proxy) === warm
        if (isHere && profile?.proxy === proxy) warm.wallet.setProfile(profile)
      })
      .catch((error: unknown) => onFailure(proxy, error))
  }
}

function nameless(proxy: WalletAddress): WalletProfile {
  return { proxy, eoa: null, handle: null, pseudonym: null, image: null }
}

const RUNNING_MAX = 4
const RUNNING_OF_ONE_MAX = 2
interface ProfileCall {
  readonly signal: AbortSignal
  readonly requester: Requester
}

/** An address that the venue does not know is requested again after this time. */
const UNKNOWN_MS = MINUTE_MS

/** All callers of an address share one profile request. An unknown address is not requested again for a minute. */
class WalletProfiles {
  readonly #clock: Clock
  readonly #slots: Slots
  readonly #budget: VenueBudget
  readonly #fetches = new Map<WalletAddress, Promise<WalletProfile | null>>()
  /** Unknown addresses with the monotonic time at which each may be requested again, oldest first. */
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

  /** Null: the venue does not know the address. `full`: too many requests. Rejects if the venue does not answer. */
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
    // The request continues after its caller has timed out.
    fetching.catch(() => undefined)
    return fetching
  }

  async #fetch(
    address: WalletAddress,
    venue: ProfileSource,
    { signal, requester }: ProfileCall,
  ): Promise<WalletProfile | null> {
    const profile = await this.#slots.run(signal, () => venue.profile(address, signal), requester)
    if (profile === null) {
      const untilMs = this.#clock.monotonicMs() + UNKNOWN_MS
      putLast(this.#unknownAddresses, [address, untilMs], unknownAddressesMax)
    }
    return profile
  }
}

/** Null if none is stored or it is damaged. */
async function loadPnlState(
  table: Pick<WalletTable, 'pnlState'>,
  { proxy, pnlEvents, events }: StoredWallet,
): Promise<PnlState | null> {
  if (pnlEvents === 0 || pnlEvents > events) return null
  await nextTurn()
  const bytes = table.pnlState(proxy)
  if (bytes === null) return null
  await nextTurn()
  return PnlState.unpack(bytes)
}

function newRecord(profile: WalletProfile, requestedAtMs: TimeMs): StoredWallet {
  return {
    ...profile,
    ...{ settledToMs: TIME_ZERO, isComplete: false, readAtMs: TIME_ZERO, requestedAtMs },
    ...{ events: 0, pnlEvents: 0, blocks: 0, side: 0, lacking: 0, listedToMs: null },
    rules: WALLET_RULES,
    ...{ totals: PnlState.empty().totals(), hours: [] },
  }
}
