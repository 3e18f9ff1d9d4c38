// Runs every script here against a running `npm run venues`, one after the other: they pause the
// same world. Prints their tables; ends with 1 when any row is not ok.

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const SCRIPTS = [
  'kalshi',
  'polymarket-clob',
  'polymarket-rtds',
  'polymarket-client',
  'polymarket-bindings',
  'polymarket-lifecycle',
  'ccxt',
  'kalshi-socket',
  'polymarket-socket',
]
const failed = SCRIPTS.filter((name) => {
  const file = fileURLToPath(new URL(`${name}.mjs`, import.meta.url))
  return spawnSync(process.execPath, [file, ...process.argv.slice(2)], { stdio: 'inherit' }).status
})
if (failed.length > 0) process.stdout.write(`not ok: ${failed.join(', ')}\n`)
process.exitCode = failed.length > 0 ? 1 : 0
