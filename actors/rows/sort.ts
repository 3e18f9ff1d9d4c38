/**
 * Returns the positions 0 to `count` - 1, sorted by their keys. NaN is an unknown key and comes last in both orders.
 * Equal keys are sorted by position.
 */
export function sortedPositions(
  keys: Float64Array,
  count: number,
  order: 'asc' | 'desc',
): Uint32Array {
  const sign = order === 'asc' ? 1 : -1
  const positions = new Uint32Array(count)
  for (let position = 0; position < count; position += 1) positions[position] = position
  return positions.sort((one, other) => {
    const left = keys[one] ?? Number.NaN
    const right = keys[other] ?? Number.NaN
    if (left === right) return one - other
    const difference = sign * (left - right)
    if (!Number.isNaN(difference)) return difference
    return Number(Number.isNaN(left)) - Number(Number.isNaN(right)) || one - other
  })
}
