// The private key of a simulated Kalshi as a file for an engine that is started beside it.

import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Writes it beside a data folder, and says where it is. */
export function writeKalshiKey(dataDir: string, pem: string): string {
  const file = join(dirname(dataDir), 'sim-kalshi.pem')
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, pem)
  return file
}
