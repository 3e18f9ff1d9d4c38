// Shared by all tests of a process, because generating a pair takes longer than most tests.

import { generateKeyPairSync } from 'node:crypto'

export const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
export const publicKeyPem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
