export type PasswordTask =
  | { readonly kind: 'hash'; readonly password: string; readonly salt: Uint8Array }
  | { readonly kind: 'verify'; readonly password: string; readonly encoded: string }

export type PasswordResult =
  | { readonly kind: 'hashed'; readonly encoded: string }
  | { readonly kind: 'verified'; readonly isRight: boolean }

/** argon2id with OWASP's minimum parameters: 19 MiB, 2 passes, 1 lane. */
export const ARGON2ID = {
  memorySize: 19_456,
  iterations: 2,
  parallelism: 1,
  hashLength: 32,
} as const
