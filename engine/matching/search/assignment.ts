// One-to-one assignment of maximum total weight among scored pairs. Greedy if there are too many.

/** A scored pair. `weight` is above 0. */
export interface Edge {
  readonly row: number
  readonly column: number
  readonly weight: number
}

/** Maximum rows or columns for an exact assignment. 200 rows of eight edges each take some 50 ms. */
const EXACT_MAX = 200
/** Tolerance for comparing sums of weights of up to a million. */
const ROUNDING = 1e-8

/**
 * Chooses edges so that each row and column has at most one. Maximum total weight, or greedy above EXACT_MAX. In no
 * particular order.
 */
export function assign<Kind extends Edge>(edges: readonly Kind[]): readonly Kind[] {
  const rows = new Set(edges.map(({ row }) => row))
  const columns = new Set(edges.map(({ column }) => column))
  // Sorted, so that the result does not depend on the order of the edges. Of equal weights the first rows are chosen.
  const sorted = [...edges].sort((one, other) => one.row - other.row || one.column - other.column)
  return Math.max(rows.size, columns.size) <= EXACT_MAX ? exact(sorted) : greedy(sorted)
}

/** Repeatedly chooses the heaviest edge whose row and column are free. */
function greedy<Kind extends Edge>(edges: readonly Kind[]): readonly Kind[] {
  const rows = new Set<number>()
  const columns = new Set<number>()
  const sorted = [...edges].sort((one, other) => other.weight - one.weight)
  return sorted.filter(({ row, column }) => {
    if (rows.has(row) || columns.has(column)) return false
    rows.add(row)
    columns.add(column)
    return true
  })
}

/**
 * Repeatedly adds the alternating path of greatest gain, until no path has a gain. Each intermediate assignment has the
 * maximum weight of its size. Paths are found with Bellman-Ford. Source: Edmonds and Karp 1972.
 */
function exact<Kind extends Edge>(edges: readonly Kind[]): readonly Kind[] {
  const ofRow = new Map<number, Kind>()
  const takenColumns = new Set<number>()
  for (;;) {
    const paths = pathsTo(edges, ofRow)
    let best: Path<Kind> | undefined
    for (const [column, path] of paths) {
      if (!takenColumns.has(column) && path.gain > (best?.gain ?? ROUNDING)) best = path
    }
    if (best === undefined) return [...ofRow.values()]
    takenColumns.add(best.last.column)
    for (let path: Path<Kind> | undefined = best; path !== undefined; ) {
      const { last } = path
      const replaced = ofRow.get(last.row)
      ofRow.set(last.row, last)
      path = replaced && paths.get(replaced.column)
    }
  }
}

/** A path from a free row. Each added edge replaces the previous edge of its row. */
interface Path<Kind> {
  readonly last: Kind
  readonly gain: number
}

/** For each column, the path of greatest gain to it. */
function pathsTo<Kind extends Edge>(
  edges: readonly Kind[],
  ofRow: ReadonlyMap<number, Kind>,
): ReadonlyMap<number, Path<Kind>> {
  const paths = new Map<number, Path<Kind>>()
  const gainAt = (row: number): number => {
    const held = ofRow.get(row)
    if (held === undefined) return 0
    return (paths.get(held.column)?.gain ?? Number.NEGATIVE_INFINITY) - held.weight
  }
  for (let isBetter = true; isBetter; ) {
    isBetter = false
    for (const last of edges) {
      if (ofRow.get(last.row) === last) continue
      const gain = gainAt(last.row) + last.weight
      if (gain <= (paths.get(last.column)?.gain ?? Number.NEGATIVE_INFINITY) + ROUNDING) continue
      paths.set(last.column, { last, gain })
      isBetter = true
    }
  }
  return paths
}
