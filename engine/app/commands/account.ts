// `npm run account -- ACTION`. Sends the command to the running engine over the admin socket. Without an engine it
// opens the data folder itself.

import { existsSync } from 'node:fs'
import { accountHandlers, type WebhooksOf } from '../../../actors/accounts/account-commands.ts'
import { AccountDirectory, type DeactivationReason } from '../../../actors/accounts/directory.ts'
import type { Storage } from '../../../storage/contract/storage.ts'
import { openLmdbStorage } from '../../../storage/lmdb/lmdb.ts'
import { lockHolder } from '../../../storage/lmdb/lock.ts'
import { environmentPath } from '../../../storage/lmdb/sentinel.ts'
import { connectAdmin } from '../../admin/admin-client.ts'
import type { AdminRequest } from '../../admin/admin-socket.ts'
import { pause, systemClock } from '../../clock.ts'
import { loadConfig } from '../../config.ts'
import { EngineError } from '../../errors.ts'
import type { AccountId } from '../../ids.ts'
import { isRecord } from '../../json-record.ts'
import { openLog } from '../../process/log.ts'
import { Metrics } from '../../process/metrics.ts'
import type { WebhookNumber } from '../../webhooks/webhook.ts'
import { ACCOUNT_COMMAND, readAccountRequest } from './account-arguments.ts'
import { runCommand } from './run-command.ts'

/** Time to wait for an engine that starts or stops: it holds the folder but has no socket. */
const WAIT_MS_MAX = 5_000
const POLL_MS = 100

type SendCommand = (command: string, request: AdminRequest) => Promise<unknown>

async function withAccounts(
  dataDir: string,
  action: (send: SendCommand) => Promise<void>,
): Promise<void> {
  const endsAtMs = systemClock.monotonicMs() + WAIT_MS_MAX
  for (;;) {
    const holder = lockHolder(dataDir)
    if (holder === null) return withFolder(dataDir, action)
    const client = await connectAdmin(dataDir, systemClock)
    if (client !== null) {
      try {
        return await action((command, request) => client.send(command, request))
      } finally {
        client.close()
      }
    }
    if (systemClock.monotonicMs() > endsAtMs) {
      const who = `process ${holder} holds ${dataDir} and does not answer at its engine.sock`
      throw new EngineError('UNAVAILABLE', `${who}; try again, or stop it`)
    }
    await pause(systemClock, POLL_MS)
  }
}

async function withFolder(
  dataDir: string,
  action: (send: SendCommand) => Promise<void>,
): Promise<void> {
  // Opening the storage would create the folder.
  if (!existsSync(environmentPath(dataDir, 'accounts'))) {
    const detail = `${dataDir} has no data of an engine; set DATA_DIR to an engine’s data folder`
    throw new EngineError('UNAVAILABLE', detail)
  }
  const parts = { clock: systemClock, log: openLog('warn'), metrics: new Metrics() }
  const storage = await openLmdbStorage({ dataDir, ...parts })
  try {
    const directory = new AccountDirectory(storage.accounts, systemClock)
    directory.watch({
      onAccountDeactivated: (account, reason) => removeWebhooks(storage, account, reason),
    })
    const handlers = accountHandlers(directory, webhooksIn(storage))
    await action(async (command, request) => handlers[command]?.(request))
  } finally {
    await storage.close()
  }
}

/** Without a running engine, nothing else removes the webhooks of a deleted account. */
function removeWebhooks(storage: Storage, account: AccountId, reason: DeactivationReason): void {
  if (reason !== 'deleted') return
  for (const webhook of [...storage.webhooks.all()]) {
    // The following removal of the account waits for the same commit and reports its failure.
    if (webhook.accountId === account) storage.webhooks.remove(webhook).catch(() => undefined)
  }
}

function webhooksIn(storage: Storage): WebhooksOf {
  const numbers = new Map<AccountId, WebhookNumber[]>()
  for (const { accountId, number } of storage.webhooks.all()) {
    numbers.set(accountId, [...(numbers.get(accountId) ?? []), number])
  }
  return (id) => (numbers.get(id) ?? []).map((number) => storage.outbox.state(number))
}

const HEADINGS = [
  ...['e-mail', 'tier', 'requests/min', 'streams', 'keys', 'state', 'since'],
  ...['webhooks', 'pending', 'throttled', 'requests now', 'streams now'],
]

function cells(row: unknown): readonly string[] {
  if (!isRecord(row) || typeof row.created_at !== 'number') {
    throw new Error('the response is not an account')
  }
  const since = new Date(row.created_at * 1_000).toISOString().slice(0, 10)
  return [
    // An e-mail address may contain terminal control characters.
    String(row.email).replace(/[\p{C}]/gu, '?'),
    ...[row.tier, row.requests_per_minute, row.sockets, row.keys].map(String),
    ...[row.is_disabled === true ? 'disabled' : 'active', since],
    ...[row.webhooks, row.pending_deliveries, row.throttled_deliveries].map(String),
    ...[row.requests_now, row.streams_now].map(String),
  ]
}

async function list(send: SendCommand): Promise<void> {
  const table: (readonly string[])[] = [HEADINGS]
  for (let after: unknown = null; ; ) {
    const answer = await send('account.list', after === null ? {} : { after })
    if (!isRecord(answer) || !Array.isArray(answer.accounts))
      throw new Error('the response has no list of accounts')
    for (const row of answer.accounts) table.push(cells(row))
    after = answer.next
    if (typeof after !== 'string') break
  }
  const widths = HEADINGS.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)))
  for (const row of table) printLine(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
}

async function change(send: SendCommand, command: string, request: AdminRequest): Promise<void> {
  const [email, tier, requests, sockets, keys, state] = cells(await send(command, request))
  if (command === 'account.delete')
    return printLine(`${email}: deleted, with its keys (${keys}) and webhooks`)
  if (command === 'account.log-out')
    return printLine(`${email}: logged out everywhere; its keys (${keys}) go on`)
  printLine(`${email}: ${tier}, ${requests} requests a minute, ${sockets} streams, ${state}`)
}

function printLine(line: string): void {
  process.stdout.write(`${line.trimEnd()}\n`)
}

await runCommand(ACCOUNT_COMMAND, async (given) => {
  const { command, request } = readAccountRequest(given)
  const { dataDir } = loadConfig(process.env)
  await withAccounts(dataDir, (send) =>
    command === 'account.list' ? list(send) : change(send, command, request),
  )
})
