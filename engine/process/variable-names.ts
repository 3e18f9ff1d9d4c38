// Finds misspelt names of environment variables.

/** Variables of Node, V8 and the C library, which `.env` may also set. */
const RUNTIME_NAME = /^(?:NODE_|UV_|MALLOC_|SSL_|TZ$)/
const SHORT_NAME_MAX = 7

type Variables = Readonly<Record<string, string | undefined>>

/**
 * Returns one sentence for each name of `file` (the variables of `.env`) that is not in `known`, and for each name of
 * the environment that differs from an unset known name by one or two characters or by letter case.
 */
export function variableProblems(
  { env, file }: { readonly env: Variables; readonly file: Variables },
  known: readonly string[],
): readonly string[] {
  const isUnknown = (name: string) => !known.includes(name) && !RUNTIME_NAME.test(name)
  const inFile = Object.keys(file)
    .filter(isUnknown)
    .map((name) => {
      const nearest = nearestName(name, known)
      const advice = nearest === null ? '`npm start -- --help` lists all' : `use ${nearest}`
      return `${name} in .env is not a variable of Twinbook: ${advice}.`
    })
  const inEnv = Object.keys(env)
    .filter((name) => isUnknown(name) && !(name in file))
    .flatMap((name) => {
      const nearest = nearestName(name, known)
      // The name may belong to another program.
      if (nearest === null || env[nearest] !== undefined) return []
      return [`${name} is not a variable of Twinbook: use ${nearest}, or set ${nearest} as well.`]
    })
  return [...inFile, ...inEnv]
}

/** Null: no name is similar. */
function nearestName(name: string, known: readonly string[]): string | null {
  const upper = name.toUpperCase()
  const [nearest] = known
    // The distance is at least the difference of the lengths, and slow to compute for each pair of names.
    .filter((candidate) => Math.abs(candidate.length - upper.length) <= editsMaxOf(candidate))
    .map((candidate) => ({ candidate, edits: editDistance(upper, candidate) }))
    .filter(({ candidate, edits }) => edits <= editsMaxOf(candidate))
    .sort((one, other) => one.edits - other.edits)
  return nearest?.candidate ?? null
}

const editsMaxOf = (name: string): number => (name.length > SHORT_NAME_MAX ? 2 : 1)

/** Levenshtein distance. */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let line = 0; line < one.length; line += 1) {
    const next = [line + 1]
    for (let column = 0; column < other.length; column += 1) {
      const replaced = (row[column] ?? 0) + (one[line] === other[column] ? 0 : 1)
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1))
    }
    row = next
  }
  return row[other.length] ?? 0
}
