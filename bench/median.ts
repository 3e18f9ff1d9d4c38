// The middle one of some figures: what a bench tells of runs that alternate, where one that met with something
// else on the machine must not count. Not for: times of single operations, which go into histograms (harness.ts).

/** The upper of two in the middle; NaN of none. */
export function median(figures: readonly number[]): number {
  return [...figures].sort((one, other) => one - other)[figures.length >> 1] ?? Number.NaN
}
