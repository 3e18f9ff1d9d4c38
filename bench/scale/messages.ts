// Commands and reports of the scale bench's server, over the `fork` channel.

export type ScaleCommand =
  | { readonly kind: 'open'; readonly dataDir: string }
  | { readonly kind: 'look' }
  /** Reports again after a garbage collection of the main thread. */
  | { readonly kind: 'settle' }
  /** Sends this many events to actors across the catalogue, to at most this many different ones (null: to any). */
  | { readonly kind: 'route'; readonly count: number; readonly walletsMax: number | null }

export type ScaleReport =
  | {
      readonly kind: 'serving'
      readonly port: number
      readonly apiKey: string
      /** From the process's start until it listens, including module loading. */
      readonly startMs: number
      readonly marketCount: number
      /** Ids and questions of some markets, evenly spread. */
      readonly some: readonly { readonly id: string; readonly question: string }[]
    }
  | {
      readonly kind: 'looked'
      /** Memory of the whole process, except file pages. */
      readonly anonymousBytes: number
      /** In use in the main thread's heap, and outside of it. */
      readonly heapBytes: number
      readonly externalBytes: number
      readonly processorMicros: number
    }
  /** Times of one event each, in nanoseconds; compressed, in Base64. */
  | { readonly kind: 'routed'; readonly times: string }
