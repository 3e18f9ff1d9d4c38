// Types for the part of autocannon that bench/rest/load.ts uses; the package has none.

declare module 'autocannon' {
  export interface Options {
    readonly url: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
    /** Interval of the check for the end, in milliseconds. */
    readonly sampleInt: number
    readonly headers: Readonly<Record<string, string>>
    /** Sent in rotation by each connection. */
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
