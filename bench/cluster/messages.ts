// The cluster bench's commands to its gateways and its engine of many markets, and their reports, over the channel that
// `fork` gives.

export type GatewayCommand =
  | {
      readonly kind: 'open'
      /** Variables of the environment. */
      readonly nats: Readonly<Record<string, string>>
      readonly jwtSecret: string
      readonly name: string
    }
  | { readonly kind: 'look' }

export type GatewayReport =
  | { readonly kind: 'listening'; readonly port: number }
  | {
      readonly kind: 'looked'
      readonly processorMicros: number
      /** Mirrors that were given up. */
      readonly faultCount: number
    }

export type EngineCommand =
  | {
      readonly kind: 'open'
      readonly nats: Readonly<Record<string, string>>
      readonly dataDir: string
    }
  /** Makes an account that has this quota, with a key. */
  | { readonly kind: 'account'; readonly requestsPerMinute: number }
  /** Revokes the key of the account that was made last. */
  | { readonly kind: 'revoke' }

export type EngineReport =
  | { readonly kind: 'leading'; readonly marketCount: number; readonly checkpointBytes: number }
  | { readonly kind: 'key'; readonly key: string }
  /** As a request would have been answered. */
  | { readonly kind: 'revoked' }
