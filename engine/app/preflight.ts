// Checks before a start that need the file system or the network.

import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { dirname, resolve } from 'node:path'
import { type Config, ConfigError } from '../config.ts'
import type { Log } from '../process/log.ts'
import type { VenueAddresses } from '../venues/venues.ts'

const CONNECT_MS_MAX = 5_000

/** Creates nothing. Throws ConfigError if the recording does not exist or the data folder cannot be used. */
export function assertPaths({ venues, dataDir, role }: Config): void {
  if (venues.kind === 'replay' && !existsSync(venues.file)) {
    throw new ConfigError([
      `VENUES is "replay:${venues.file}"; it accepts replay: and the path of an existing recording`,
    ])
  }
  if (role === 'gateway') return
  let existing = resolve(dataDir)
  while (!existsSync(existing)) existing = dirname(existing)
  if (!statSync(existing).isDirectory()) {
    throw new ConfigError([
      `DATA_DIR is "${dataDir}", but ${existing} is a file; it accepts a folder`,
    ])
  }
  try {
    accessSync(existing, constants.W_OK | constants.X_OK)
  } catch {
    throw new ConfigError([
      `DATA_DIR is "${dataDir}", but this user may not write to ${existing}; it accepts a writable folder`,
    ])
  }
}

/** Logs one warning if no host of the venues accepts a TCP connection within five seconds. */
export async function warnWithoutNetwork(
  { polymarket, kalshi }: VenueAddresses,
  log: Log,
): Promise<void> {
  const { gamma, clob, data, marketWs, rtdsWs } = polymarket
  const urls = [gamma, clob, data, marketWs, rtdsWs, kalshi.restUrl, kalshi.wsUrl]
  const hosts = [...new Map(urls.map((url) => [new URL(url).host, new URL(url)])).values()]
  try {
    await Promise.any(hosts.map(reach))
  } catch (error) {
    const [first] = error instanceof AggregateError ? error.errors : [error]
    log.warn(
      { reason: Reflect.get(Object(first), 'code') ?? 'timeout' },
      'no venue is reachable: check the network of this machine; Twinbook serves stored data and tries again',
    )
  }
}

function reach({ hostname, port, protocol }: URL): Promise<void> {
  const isSecure = protocol === 'https:' || protocol === 'wss:'
  return new Promise((resolveReach, reject) => {
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: port === '' ? (isSecure ? 443 : 80) : Number(port),
      timeout: CONNECT_MS_MAX,
    })
    const fail = (error?: Error) => {
      socket.destroy()
      reject(error ?? new Error('timeout'))
    }
    socket.once('connect', () => {
      socket.destroy()
      resolveReach()
    })
    socket.once('timeout', () => fail()).once('error', fail)
  })
}
