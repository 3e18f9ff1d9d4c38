// Types of the part of autocannon that bench/rest/load.ts uses. The package itself has no types.

declare module 'autocannon' {
  export interface Options {
    readonly url: string
    readonly connections: number
    /** Duration in seconds. */
    readonly duration: number
    /** Interval in milliseconds at which autocannon checks whether the duration is over. */
    readonly sampleInt: number
    readonly headers: Readonly<Record<string, string>>
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
