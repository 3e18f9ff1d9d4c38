// Commands and reports of the cluster bench's gateways and large engine, over the `fork` channel.

export type GatewayCommand =
  | {
      readonly kind: 'open'
      /** Environment variables. */
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
      /** Mirrors that failed. */
      readonly faultCount: number
    }

export type EngineCommand =
  | {
      readonly kind: 'open'
      readonly nats: Readonly<Record<string, string>>
      readonly dataDir: string
    }
  /** Creates an account with this quota, and a key. */
  | { readonly kind: 'account'; readonly requestsPerMinute: number }
  /** Revokes the key of the newest account. */
  | { readonly kind: 'revoke' }

export type EngineReport =
  | { readonly kind: 'leading'; readonly marketCount: number; readonly checkpointBytes: number }
  | { readonly kind: 'key'; readonly key: string }
  /** When a request would have been answered. */
  | { readonly kind: 'revoked' }
