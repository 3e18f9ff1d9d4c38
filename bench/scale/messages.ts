// The scale bench's commands to its server and the server's reports, over the channel that `fork` gives.

export type ScaleCommand =
  | { readonly kind: 'open'; readonly dataDir: string }
  | { readonly kind: 'look' }
  /** The same after the garbage of the main thread was collected. */
  | { readonly kind: 'settle' }
  /** Gives so many events to owners all over the catalogue, to so many different ones (null: to any). */
  | { readonly kind: 'route'; readonly count: number; readonly ownersMax: number | null }

export type ScaleReport =
  | {
      readonly kind: 'serving'
      readonly port: number
      readonly apiKey: string
      /** From the process's start to listening, the loading of its programs included. */
      readonly startMs: number
      readonly marketCount: number
      /** Ids and questions of some of them, evenly spread. */
      readonly some: readonly { readonly id: string; readonly question: string }[]
    }
  | {
      readonly kind: 'looked'
      /** Memory of the whole process that is no page of a file. */
      readonly anonymousBytes: number
      /** In use in the main thread's heap, and outside of it. */
      readonly heapBytes: number
      readonly externalBytes: number
      readonly processorMicros: number
    }
  /** Times of one event each, in nanoseconds; compressed, in Base64. */
  | { readonly kind: 'routed'; readonly times: string }
