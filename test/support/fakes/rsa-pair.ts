// The only RSA key pair of a test process: generating one takes longer than most tests that use it.

import { generateKeyPairSync } from 'node:crypto'

export const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
