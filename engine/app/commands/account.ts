// `npm run account -- ACTION`: lists accounts, sets their tiers, disables, enables, logs out and deletes
// them. Sends the command over the socket of the engine that holds the data folder. Without an engine it
// opens the folder itself. Exit codes: 0 done, 1 rejected or not possible now, 2 for an invalid request or
// setting.

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

/** How long to wait for an engine that starts or stops: it holds the folder and has no socket. */
const WAIT_MS_MAX = 5_000
const POLL_MS = 100

type SendCommand = (command: string, request: AdminRequest) => Promise<unknown>

/** Runs `action` on the running engine, or else on the data folder itself. */
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
  // Opening the storage would create it.
  if (!existsSync(environmentPath(dataDir, 'accounts'))) {
    const detail = `no engine ever ran in ${dataDir}; set DATA_DIR to the folder of one that did`
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

/** Removes the webhooks of a deleted account, because no engine is running that would do it. */
function removeWebhooks(storage: Storage, account: AccountId, reason: DeactivationReason): void {
  if (reason !== 'deleted') return
  for (const webhook of [...storage.webhooks.all()]) {
    // Awaited with the account's own removal, which follows it in the same transaction.
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

/** An account as actors/accounts/account-commands.ts returns it. */
interface AccountRow {
  readonly email: string
  readonly tier: string
  readonly requests_per_minute: number
  readonly sockets: number
  readonly keys: number
  readonly is_disabled: boolean
  readonly created_at: number
  readonly webhooks: number
  readonly pending_deliveries: number
  readonly throttled_deliveries: number
  readonly requests_now: number
  readonly streams_now: number
}

const HEADINGS = [
  ...['e-mail', 'tier', 'requests/min', 'streams', 'keys', 'state', 'since'],
  ...['webhooks', 'pending', 'throttled', 'requests now', 'streams now'],
]

function cells(row: AccountRow): readonly string[] {
  const { requests_per_minute: requests, sockets, keys, created_at: seconds } = row
  const state = row.is_disabled ? 'disabled' : 'active'
  const since = new Date(seconds * 1_000).toISOString().slice(0, 10)
  const { webhooks, pending_deliveries: pending, throttled_deliveries: throttled } = row
  const limits = [`${requests}`, `${sockets}`, `${keys}`]
  const now = [`${row.requests_now}`, `${row.streams_now}`]
  const figures = [`${webhooks}`, `${pending}`, `${throttled}`, ...now]
  return [printable(row.email), row.tier, ...limits, state, since, ...figures]
}

async function list(send: SendCommand): Promise<void> {
  const table: (readonly string[])[] = [HEADINGS]
  for (let after: unknown = null; ; ) {
    const answer = await send('account.list', after === null ? {} : { after })
    if (!isRecord(answer) || !Array.isArray(answer.accounts)) throw new Error('no list came')
    for (const row of answer.accounts) table.push(cells(rowIn(row)))
    after = answer.next
    if (typeof after !== 'string') break
  }
  const widths = HEADINGS.map((_, at) => Math.max(...table.map((row) => row[at]?.length ?? 0)))
  for (const row of table) printLine(row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  '))
}

async function change(send: SendCommand, command: string, request: AdminRequest): Promise<void> {
  const row = rowIn(await send(command, request))
  const [email, tier, requests, sockets, keys, state] = cells(row)
  if (command === 'account.delete')
    return printLine(`${email}: deleted, with its keys (${keys}) and webhooks`)
  if (command === 'account.log-out')
    return printLine(`${email}: logged out everywhere; its keys (${keys}) go on`)
  printLine(`${email}: ${tier}, ${requests} requests a minute, ${sockets} streams, ${state}`)
}

/** Escapes an e-mail, which may contain terminal control characters. */
function printable(text: string): string {
  return text.replace(/[\p{C}]/gu, '?')
}

function printLine(line: string): void {
  process.stdout.write(`${line.trimEnd()}\n`)
}

function rowIn(value: unknown): AccountRow {
  if (!isRow(value)) throw new Error('the answer is no account')
  return value
}

function isRow(value: unknown): value is AccountRow {
  if (!isRecord(value)) return false
  const { email, tier, requests_per_minute, sockets, keys, is_disabled, created_at } = value
  const { webhooks, pending_deliveries, throttled_deliveries, requests_now, streams_now } = value
  const figures = [webhooks, pending_deliveries, throttled_deliveries, requests_now, streams_now]
  const numbers = [requests_per_minute, sockets, keys, created_at, ...figures]
  const hasTexts = typeof email === 'string' && typeof tier === 'string'
  const hasNumbers = numbers.every((number) => typeof number === 'number')
  return hasTexts && hasNumbers && typeof is_disabled === 'boolean'
}

await runCommand(ACCOUNT_COMMAND, async (given) => {
  const { command, request } = readAccountRequest(given)
  const { dataDir } = loadConfig(process.env)
  await withAccounts(dataDir, (send) =>
    command === 'account.list' ? list(send) : change(send, command, request),
  )
})
