// The types of what bench/rest/load.ts uses of the package autocannon, which brings none.

declare module 'autocannon' {
  export interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    /** How often it looks whether it is over, in milliseconds. */
    readonly sampleInt: number
    readonly headers: Readonly<Record<string, string>>
    /** Sent in turn by each connection. */
    readonly requests: readonly Request[]
  }

  export interface Request {
    readonly path: string
    readonly onResponse?: (status: number, body: string) => void
  }

  export interface Result {
    readonly '2xx': number
    readonly non2xx: number
    readonly errors: number
    readonly timeouts: number
  }

  export default function autocannon(options: Options): Promise<Result>
}
