// The key pair of Kalshi key id `sim` as a file, for clients of `npm run venues`: made once, kept,
// readable by its owner alone. It opens nothing but the simulator. A file that is there already is used whatever its
// kind, so that a client's Ed25519 key can be tried.

import { createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const FILE_NAME = 'sim-kalshi.pem'

/** Reads the key of `dataDir`, or makes an RSA key. Throws when the file is there and is no private key. */
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
