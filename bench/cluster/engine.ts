// Engine process of the cluster bench with many markets. It leads the cluster, and creates and revokes keys.

import { connectCluster } from '../../engine/app/leader.ts'
import { systemClock } from '../../engine/clock.ts'
import { checkpointObject } from '../../engine/cluster/checkpoint.ts'
import { loadConfig } from '../../engine/config.ts'
import type { AccountId, KeyId } from '../../engine/ids.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { openStorage } from '../harness.ts'
import { serve } from '../in-child.ts'
import { type QuietEngine, startQuietEngine } from '../quiet-engine.ts'

const clock = systemClock
let quiet: QuietEngine | null = null
let made: { readonly account: AccountId; readonly key: KeyId } | null = null
let accountCount = 0

function accounts(): QuietEngine['engine']['accounts'] {
  if (quiet === null) throw new Error('the engine is not open')
  return quiet.engine.accounts
}

export const api = serve({
  async open(nats: Readonly<Record<string, string>>, dataDir: string) {
    const parts = { clock, log: silentLog, metrics: new Metrics() }
    const cluster = await connectCluster(loadConfig(nats), parts)
    quiet = await startQuietEngine(await openStorage(dataDir), clock, { cluster })
    // The first checkpoint exists before the engine becomes leader.
    const checkpoint = await cluster.getObject(checkpointObject)
    const { marketCount } = quiet.engine.catalog
    return { marketCount, checkpointBytes: checkpoint?.length ?? 0 }
  },
  async account(requestsPerMinute: number): Promise<string> {
    const { directory } = accounts()
    accountCount += 1
    const email = `bench${accountCount}@example.com`
    const plan = { tier: 'enterprise', requestsPerMinute, socketsMax: null } as const
    const account = await directory.add({ email, passwordHash: null, tier: plan.tier })
    await directory.setTier(account, plan)
    const { key, view } = await accounts().createKey(account.id, 'bench')
    made = { account: account.id, key: view.id }
    return key
  },
  async revoke(): Promise<void> {
    if (made !== null) await accounts().revokeKey(made.account, made.key)
  },
})
