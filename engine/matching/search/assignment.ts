// One-to-one assignment: the choice of greatest total weight among the scored pairs of a group of subjects, and the
// greedy choice where a group is too large. Pure. Upholds CORPUS2, CORPUS3.

/** A scored pair: rows and columns are counted from 0, the weight is above 0. */
export interface Edge {
  readonly row: number
  readonly column: number
  readonly weight: number
}

/** Rows or columns above which the greedy assignment is taken: 200 rows take some 10 ms. */
const EXACT_MAX = 200

/** A one-to-one choice among the edges: of greatest total weight, or greedy among very many rows or columns; in no particular order. */
export function assign<Kind extends Edge>(edges: readonly Kind[]): readonly Kind[] {
  const rows = numbered(edges.map(({ row }) => row))
  const columns = numbered(edges.map(({ column }) => column))
  return Math.max(rows.size, columns.size) <= EXACT_MAX
    ? exact(edges, rows, columns)
    : greedy(edges)
}

/** The heaviest edge first, as long as both its ends are free; ties by row, then column. */
function greedy<Kind extends Edge>(edges: readonly Kind[]): readonly Kind[] {
  const rows = new Set<number>()
  const columns = new Set<number>()
  const sorted = [...edges].sort(
    (one, other) => other.weight - one.weight || one.row - other.row || one.column - other.column,
  )
  return sorted.filter(({ row, column }) => {
    if (rows.has(row) || columns.has(column)) return false
    rows.add(row)
    columns.add(column)
    return true
  })
}

function numbered(values: readonly number[]): Map<number, number> {
  const numbers = new Map<number, number>()
  for (const value of [...values].sort((one, other) => one - other)) {
    if (!numbers.has(value)) numbers.set(value, numbers.size)
  }
  return numbers
}

/**
 * The Hungarian method by shortest augmenting paths, on a square whose missing edges weigh nothing.
 * Source: Kuhn 1955, in the O(n³) form of Jonker and Volgenant 1987.
 */
function exact<Kind extends Edge>(
  edges: readonly Kind[],
  rows: ReadonlyMap<number, number>,
  columns: ReadonlyMap<number, number>,
): readonly Kind[] {
  const size = Math.max(rows.size, columns.size)
  const costs = new Float64Array(size * size)
  const chosen = new Map<number, Kind>()
  for (const edge of edges) {
    const at = (rows.get(edge.row) ?? 0) * size + (columns.get(edge.column) ?? 0)
    if (-edge.weight >= (costs[at] ?? 0)) continue
    costs[at] = -edge.weight
    chosen.set(at, edge)
  }
  const rowOf = solve(costs, size)
  const found: Kind[] = []
  for (let column = 0; column < size; column += 1) {
    const edge = chosen.get(((rowOf[column + 1] ?? 0) - 1) * size + column)
    if (edge !== undefined) found.push(edge)
  }
  return found
}

/** By column (from 1) the row (from 1) of the cheapest assignment of a square of costs. */
function solve(costs: Float64Array, size: number): Int32Array {
  const rowPrices = new Float64Array(size + 1)
  const columnPrices = new Float64Array(size + 1)
  const rowOf = new Int32Array(size + 1)
  const cameFrom = new Int32Array(size + 1)
  for (let row = 1; row <= size; row += 1) {
    rowOf[0] = row
    let column = 0
    const least = new Float64Array(size + 1).fill(Number.POSITIVE_INFINITY)
    const isUsed = new Uint8Array(size + 1)
    do {
      isUsed[column] = 1
      const from = rowOf[column] ?? 0
      let delta = Number.POSITIVE_INFINITY
      let next = 0
      for (let to = 1; to <= size; to += 1) {
        if (isUsed[to] === 1) continue
        const cost =
          (costs[(from - 1) * size + to - 1] ?? 0) -
          (rowPrices[from] ?? 0) -
          (columnPrices[to] ?? 0)
        if (cost < (least[to] ?? 0)) {
          least[to] = cost
          cameFrom[to] = column
        }
        if ((least[to] ?? 0) < delta) {
          delta = least[to] ?? 0
          next = to
        }
      }
      for (let to = 0; to <= size; to += 1) {
        if (isUsed[to] === 1) {
          const taken = rowOf[to] ?? 0
          rowPrices[taken] = (rowPrices[taken] ?? 0) + delta
          columnPrices[to] = (columnPrices[to] ?? 0) - delta
        } else {
          least[to] = (least[to] ?? 0) - delta
        }
      }
      column = next
    } while (rowOf[column] !== 0)
    do {
      const before = cameFrom[column] ?? 0
      rowOf[column] = rowOf[before] ?? 0
      column = before
    } while (column !== 0)
  }
  return rowOf
}
