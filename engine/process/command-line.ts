// Parses the arguments of commands. A descriptor (usage, options, examples) defines the help text, the parser and the
// error messages.

import { parseArgs } from 'node:util'
import { systemClock } from '../clock.ts'

interface OptionSpec {
  /** Name of the option's value in the help text, such as `FILE`. Null: the option is a switch. */
  readonly takes: string | null
  readonly means: string
  /** Whether the option may be repeated. It then takes all arguments up to the next option. */
  readonly isMany?: boolean
}

export interface CommandSpec<Name extends string = string> {
  readonly name: string
  readonly about: string
  /** Arguments and options of each form of the command, without its name. Default: none. */
  readonly usage?: readonly string[]
  readonly positionals?: Readonly<Record<string, string>>
  /** Minimum and maximum number of positional arguments. Default: 0. */
  readonly positionalCounts?: readonly [least: number, most: number]
  readonly options?: Readonly<Record<Name, OptionSpec>>
  readonly examples?: readonly string[]
  /** Text below the examples, such as exit codes and environment variables. */
  readonly notes: readonly string[]
}

export class UsageError extends Error {}

/** `above` is exclusive, `max` is inclusive. */
interface NumberRange {
  readonly above: number
  readonly max: number
  readonly isInteger?: boolean
}

export class Arguments<Name extends string = string> {
  readonly positionals: readonly string[]
  readonly #values: ReadonlyMap<string, readonly string[]>

  constructor(positionals: readonly string[], values: ReadonlyMap<string, readonly string[]>) {
    this.positionals = positionals
    this.#values = values
  }

  has(option: Name): boolean {
    return this.#values.has(option)
  }

  /** The last value if the option is repeated. Null: the option is absent. */
  text(option: Name): string | null {
    return this.texts(option).at(-1) ?? null
  }

  texts(option: Name): readonly string[] {
    return this.#values.get(option) ?? []
  }

  /** Null: the option is absent. Throws UsageError for a number out of range. */
  number(option: Name, { above, max, isInteger = false }: NumberRange): number | null {
    const text = this.text(option)
    if (text === null) return null
    const value = text.trim() === '' ? Number.NaN : Number(text)
    if (value > above && value <= max && (!isInteger || Number.isInteger(value))) return value
    const what = `${isInteger ? 'a whole number' : 'a number'} above ${above}`
    const upTo = max === Number.POSITIVE_INFINITY ? '' : ` and up to ${max}`
    throw new UsageError(`--${option} is ${text}; it accepts ${what}${upTo}`)
  }
}

/** Returns `'help'` if help is requested. Throws UsageError for invalid arguments. */
export function readArguments<Name extends string>(
  command: CommandSpec<Name>,
  args: readonly string[],
): Arguments<Name> | 'help' {
  const { name, options = {}, positionalCounts = [0, 0], usage = [''] } = command
  const specs = new Map<string, OptionSpec>(Object.entries<OptionSpec>(options))
  const parseOptions = [...specs].map(
    ([option, { takes }]): [string, { type: 'string' | 'boolean' }] => [
      option,
      { type: takes === null ? 'boolean' : 'string' },
    ],
  )
  const { tokens } = parseArgs({
    args: [...args],
    options: { ...Object.fromEntries(parseOptions), help: { type: 'boolean', short: 'h' } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  if (tokens.some((token) => token.kind === 'option' && token.name === 'help')) return 'help'
  const positionals: string[] = []
  const values = new Map<string, string[]>()
  let open: string[] | null = null
  for (const token of tokens) {
    if (token.kind === 'positional') (open ?? positionals).push(token.value)
    if (token.kind !== 'option') continue
    const spec = specs.get(token.name)
    if (spec === undefined) {
      const accepted = [...specs.keys(), 'help'].map((option) => `--${option}`).join(', ')
      throw new UsageError(`${token.rawName} is no option of ${name}; it accepts ${accepted}`)
    }
    const given = values.get(token.name) ?? []
    values.set(token.name, given)
    open = spec.isMany === true ? given : null
    given.push(optionValue(token, spec))
  }
  const [least, most] = positionalCounts
  const extra = positionals[most]
  const takes = most === 0 ? 'no arguments, only options' : usage.join(' or ')
  if (extra !== undefined) {
    throw new UsageError(`${extra} is one argument too many; ${name} takes ${takes}`)
  }
  if (positionals.length < least) {
    throw new UsageError(`${name} takes ${takes} (${name} -- --help says more)`)
  }
  return new Arguments(positionals, values)
}

interface OptionToken {
  readonly rawName: string
  readonly value?: string | undefined
  readonly inlineValue?: boolean | undefined
}

function optionValue({ rawName, value, inlineValue }: OptionToken, { takes }: OptionSpec): string {
  if (takes === null) {
    if (value === undefined) return ''
    throw new UsageError(`${rawName} is a switch and takes no value, ${value} was given`)
  }
  if (value === undefined || (inlineValue !== true && value.startsWith('--'))) {
    throw new UsageError(`${rawName} needs a value: ${rawName} ${takes}`)
  }
  return value
}

export function helpOf({
  name,
  about,
  usage = [''],
  positionals = {},
  options = {},
  examples = [''],
  notes,
}: CommandSpec): string {
  const typed = (rest: string): string => (rest === '' ? `  ${name}` : `  ${name} -- ${rest}`)
  const optionRows = Object.entries(options).map(([option, { takes, means }]): [string, string] => [
    takes === null ? `--${option}` : `--${option} ${takes}`,
    means,
  ])
  const positionalRows = Object.entries(positionals)
  const parts = [
    [about],
    ['Usage:', ...usage.map(typed)],
    positionalRows.length === 0 ? [] : ['Arguments:', ...table(positionalRows)],
    ['Options:', ...table([...optionRows, ['--help', 'this text']])],
    ['Examples:', ...examples.map(typed)],
    notes,
  ]
  const texts = parts.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'))
  return `${texts.join('\n\n')}\n`
}

function table(rows: readonly (readonly [string, string])[]): readonly string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`)
}

interface ProgressStream {
  readonly isTTY?: boolean
  write(text: string): unknown
}

export interface Progress {
  /** Replaces the text, at most ten times a second within a phase. */
  show(text: string, isNewPhase?: boolean): void
  end(): void
}

const PROGRESS_EVERY_MS = 100
const CLEAR_LINE = '\r\u001b[2K'

/** The progress line writes nothing if the stream is not a terminal. */
export function openProgress(
  stream: ProgressStream = process.stderr,
  nowMs: () => number = () => systemClock.monotonicMs(),
): Progress {
  if (stream.isTTY !== true) return { show: () => undefined, end: () => undefined }
  let nextAtMs = Number.NEGATIVE_INFINITY
  return {
    show: (text, isNewPhase = false) => {
      if (!isNewPhase && nowMs() < nextAtMs) return
      nextAtMs = nowMs() + PROGRESS_EVERY_MS
      stream.write(`${CLEAR_LINE}${text}`)
    },
    end: () => void stream.write(CLEAR_LINE),
  }
}
