// The private key of Kalshi key id `sim`, stored in a file for clients of `npm run venues`. Only the file's owner can
// read it. An existing file may contain a key of any supported type.

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE_NAME = 'sim-kalshi.pem'

/** Creates an RSA key if the file does not exist. Throws if the file is not a private key. */
export function loadKalshiKey(dataDir: string): {
  file: string
  kind: string
  publicKeyPem: string
} {
  const file = join(dataDir, FILE_NAME)
  if (!existsSync(file)) {
    mkdirSync(dataDir, { recursive: true })
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
    writeFileSync(file, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  }
  const privateKey = createPrivateKey(readFileSync(file))
  const publicKey = createPublicKey(privateKey)
  const kind = publicKey.asymmetricKeyType ?? 'unknown'
  return { file, kind, publicKeyPem: publicKey.export({ type: 'spki', format: 'pem' }).toString() }
}
