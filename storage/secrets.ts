// The two secret files of DATA_DIR, both with mode 600. `secrets` is created on first use. `local-key` is the key of
// the local account. Never log their contents.

import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { parseObject, readText, writeDurably } from '../engine/process/durable-file.ts'

interface Secrets {
  /** Signs login tokens. 64 hex digits. */
  readonly jwtSecret: string
  /** Encrypts webhook secrets. 64 hex digits. */
  readonly secretsKey: string
}

/**
 * Loads the secrets of a data folder, or creates them on first use. Throws if the file is damaged: new secrets would
 * end every session and make encrypted data unreadable.
 */
export function loadSecrets(dataDir: string): Secrets {
  const path = join(dataDir, 'secrets')
  const text = readText(path)
  if (text !== null) {
    const secrets = parseSecrets(text)
    if (secrets !== null) return secrets
    throw new Error(
      `${path} is damaged. Restore it from a backup, or remove it: then all sign-ins end and ` +
        'webhook secrets must be rotated.',
    )
  }
  const made: Secrets = {
    jwtSecret: randomBytes(32).toString('hex'),
    secretsKey: randomBytes(32).toString('hex'),
  }
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeDurably(path, `${JSON.stringify(made)}\n`)
  return made
}

/** Null before the first start. */
export function readLocalKey(dataDir: string): string | null {
  const text = readText(join(dataDir, 'local-key'))?.trim() ?? ''
  return text === '' ? null : text
}

/** Stored so that every start can print the key. */
export function writeLocalKey(dataDir: string, key: string): void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  writeDurably(join(dataDir, 'local-key'), `${key}\n`)
}

function parseSecrets(text: string): Secrets | null {
  const { jwtSecret, secretsKey } = parseObject(text)
  return isSecret(jwtSecret) && isSecret(secretsKey) ? { jwtSecret, secretsKey } : null
}

function isSecret(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
}
