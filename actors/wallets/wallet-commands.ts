// Commands of the admin socket that inspect wallets. `npm run wallet` sends them.

import type { AdminHandlers, AdminRequest } from '../../engine/admin/admin-socket.ts'
import { EngineError } from '../../engine/errors.ts'
import { type WalletAddress, walletAddress } from '../../engine/ids.ts'
import { formatTime, toNumber } from '../../engine/units.ts'
import type { WalletEvent } from '../../engine/wallet.ts'
import type { LedgerDifference } from './ledger-merge.ts'
import type { Wallets } from './wallets.ts'

const UNLISTED_MAX = 1_000

/**
 * `wallet.show` (`{address}`) returns the wallet's profile and totals, and its differences from the venue's positions.
 */
export function walletHandlers(wallets: Pick<Wallets, 'inspect'>): AdminHandlers {
  return {
    'wallet.show': async (request) => {
      const address = addressIn(request)
      const found = await wallets.inspect(address)
      if (found !== null) return shown(found)
      throw new EngineError('NOT_FOUND', `${address} was never seen at the venue`)
    },
  }
}

type Found = NonNullable<Awaited<ReturnType<Wallets['inspect']>>>

function shown({ view, record, comparison, resyncs, difference, unlisted }: Found) {
  const { profile, totals, unrealized, isComplete, issues, lacking, asOfMs } = view
  const { realized, volume, fees, income, firstTradeMs, lastTradeMs, ...others } = totals
  const { comboRealized, ...counts } = others
  return {
    ...{ address: profile.proxy, owner: profile.eoa, handle: profile.handle },
    ...{
      pseudonym: profile.pseudonym,
      is_complete: isComplete,
      doubts: issues,
      as_of: formatTime(asOfMs),
    },
    totals: {
      ...{ realized: toNumber(realized), unrealized: toNumber(unrealized) },
      ...{ volume: toNumber(volume), fees: toNumber(fees), income: toNumber(income) },
      ...counts,
      combos: comboRealized === null ? null : toNumber(comboRealized),
      first_trade_at: firstTradeMs === null ? null : formatTime(firstTradeMs),
      last_trade_at: lastTradeMs === null ? null : formatTime(lastTradeMs),
    },
    ledger: {
      events: record.events,
      blocks: record.blocks,
      settled_to: formatTime(record.settledToMs),
    },
    venue_lacks: {
      ...{ events: lacking, settled: record.lacking, behind_the_ledger: lacking - record.lacking },
      // Null: the venue returned either all of the settled events or none.
      told_to:
        record.listedToMs === null || record.listedToMs === 0
          ? null
          : formatTime(record.listedToMs),
      asked_again: resyncs,
      difference: difference === null ? null : differing(difference),
      not_told: unlisted.slice(0, UNLISTED_MAX).map(eventShown),
    },
    comparison: comparison === null ? null : compared(comparison),
  }
}

function differing({ atMs, lackingCount, lacking, ...more }: LedgerDifference) {
  return {
    ...{ at: formatTime(atMs), lacks: lackingCount },
    ...{ had_more: more.addedCount, told_otherwise: more.changedCount },
    table: lacking.slice(0, UNLISTED_MAX).map(eventShown),
  }
}

function eventShown({ timeMs, kind, size, usd, market, txHash }: WalletEvent) {
  const at = formatTime(timeMs)
  return { at, kind, size: toNumber(size), usd: toNumber(usd), market, tx: txHash }
}

function compared({ atMs, positions, differences }: NonNullable<Found['comparison']>) {
  const sorted = [...differences].sort(
    (one, other) => Math.abs(other.ours - other.theirs) - Math.abs(one.ours - one.theirs),
  )
  return {
    ...{ at: formatTime(atMs), venue_positions: positions, differences: differences.length },
    // Contracts and dollars are both in micros.
    table: sorted.slice(0, UNLISTED_MAX).map(({ token, market, what, ours, theirs }) => ({
      ...{ market, token, what, ours: ours / 1e6, theirs: theirs / 1e6 },
    })),
  }
}

function addressIn({ address }: AdminRequest): WalletAddress {
  const found = typeof address === 'string' ? walletAddress(address) : null
  if (found !== null) return found
  throw new EngineError('BAD_REQUEST', 'address must be 0x and 40 hex digits')
}
