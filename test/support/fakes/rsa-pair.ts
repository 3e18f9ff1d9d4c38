// The one RSA key pair of a test process: the search for primes takes longer than most tests that sign with it.

import { generateKeyPairSync } from 'node:crypto'

export const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
