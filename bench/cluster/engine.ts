// Engine process of the cluster bench with many markets, on a prepared data folder. It leads, and creates and revokes
// keys.

import { connectCluster } from '../../engine/app/leader.ts'
import { systemClock } from '../../engine/clock.ts'
import { checkpointObject } from '../../engine/cluster/checkpoint.ts'
import { loadConfig } from '../../engine/config.ts'
import type { AccountId, KeyId } from '../../engine/ids.ts'
import { silentLog } from '../../engine/process/log.ts'
import { Metrics } from '../../engine/process/metrics.ts'
import { openStorage } from '../harness.ts'
import { Reports, takeCommands } from '../in-child.ts'
import { type QuietEngine, startQuietEngine } from '../quiet-engine.ts'
import type { EngineCommand, EngineReport } from './messages.ts'

const clock = systemClock
const { report } = new Reports<EngineReport>()
let quiet: QuietEngine | null = null
let made: { readonly account: AccountId; readonly key: KeyId } | null = null
let accountCount = 0

async function open({ nats, dataDir }: EngineCommand & { kind: 'open' }): Promise<void> {
  const parts = { clock, log: silentLog, metrics: new Metrics() }
  const cluster = await connectCluster(loadConfig(nats), parts)
  quiet = await startQuietEngine(await openStorage(dataDir), clock, { cluster })
  // Written before the engine becomes leader.
  const checkpoint = await cluster.getObject(checkpointObject)
  const { marketCount } = quiet.engine.catalog
  report({ kind: 'leading', marketCount, checkpointBytes: checkpoint?.length ?? 0 })
}

async function makeAccount({ accounts }: QuietEngine['engine'], requestsPerMinute: number) {
  accountCount += 1
  const email = `bench${accountCount}@example.com`
  const plan = { tier: 'enterprise', requestsPerMinute, socketsMax: null } as const
  const account = await accounts.directory.add({ email, passwordHash: null, tier: plan.tier })
  await accounts.directory.setTier(account, plan)
  const { key, view } = await accounts.createKey(account.id, 'bench')
  made = { account: account.id, key: view.id }
  report({ kind: 'key', key })
}

takeCommands(async (command: EngineCommand) => {
  if (command.kind === 'open') return open(command)
  if (quiet === null) throw new Error('the engine is not open')
  const { engine } = quiet
  if (command.kind === 'account') return makeAccount(engine, command.requestsPerMinute)
  if (made !== null) await engine.accounts.revokeKey(made.account, made.key)
  report({ kind: 'revoked' })
})
