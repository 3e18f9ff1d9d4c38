// Accounts of the engine at a gateway. A revocation takes effect before the changed record arrives. Changes of accounts
// are forwarded to the engine.

import type { Clock } from '../../engine/clock.ts'
import type { ClusterLog, LogSubscription } from '../../engine/cluster/cluster-log.ts'
import { revocationMessage } from '../../engine/cluster/gateway-messages.ts'
import { EngineError } from '../../engine/errors.ts'
import type { PasswordPool } from '../../engine/passwords/passwords.ts'
import type { Log } from '../../engine/process/log.ts'
import { readAccountEntry } from '../../storage/cluster-accounts.ts'
import type { AccountTable } from '../../storage/contract/storage.ts'
import { Accounts } from '../accounts/accounts.ts'
import type { ConnectionSlots } from '../accounts/connection-slots.ts'
import type { AccountQuotas, QuotaKind } from '../accounts/quotas.ts'

const rejectForwarded = (): Promise<never> =>
  Promise.reject(new EngineError('UNAVAILABLE', 'only the engine changes accounts'))

/** Stores nothing, because a gateway reads all records from the log at each start. */
const NO_TABLE: AccountTable = {
  accounts: () => [],
  keys: () => [],
  endedTokens: () => [],
  putAccount: rejectForwarded,
  removeAccount: rejectForwarded,
  putKey: rejectForwarded,
  removeKey: rejectForwarded,
  putEndedToken: rejectForwarded,
  removeEndedToken: rejectForwarded,
}
const NO_PASSWORDS: PasswordPool = {
  decoyHash: '',
  hash: rejectForwarded,
  verify: rejectForwarded,
  close: async () => undefined,
}

/** Reads all records, then follows later changes. Rejects with LogError. */
export async function followAccounts(
  cluster: ClusterLog,
  parts: {
    readonly clock: Clock
    readonly log: Log
    readonly jwtSecret: string
    readonly jwtSecretPrevious: string | null
    readonly quotas: (kind: QuotaKind) => AccountQuotas
    readonly connectionSlots: ConnectionSlots
  },
): Promise<{ readonly accounts: Accounts; readonly stop: () => Promise<void> }> {
  const { clock, log, jwtSecret, jwtSecretPrevious, quotas, connectionSlots } = parts
  const secrets = { jwtSecret, jwtSecretPrevious }
  const accounts = new Accounts({
    ...{ storage: NO_TABLE, clock, passwords: NO_PASSWORDS, quotas, connectionSlots },
    ...secrets,
  })
  const subscriptions: LogSubscription[] = []
  subscriptions.push(
    cluster.subscribe('revoked', (body) => {
      const revocation = revocationMessage.decode(body)
      if (revocation === null) return log.warn('a revocation could not be read')
      accounts.directory.followEnd(revocation)
    }),
  )
  const bucket = await cluster.bucket('accounts')
  await new Promise<void>((resolve, reject) => {
    const watching = bucket.watch({
      onEntry(entry) {
        const read = readAccountEntry(entry)
        if (read === null) log.error({ key: entry.key }, 'a record of an account could not be read')
        else accounts.directory.follow(read)
      },
      onSnapshotEnd: resolve,
    })
    watching.then((subscription) => subscriptions.push(subscription), reject)
  })
  return {
    accounts,
    stop: async () => {
      await Promise.all(subscriptions.map((subscription) => subscription.stop()))
    },
  }
}
