// Collects errors, so that a start reports all invalid variables at once.

export class EnvironmentReader {
  readonly problems: string[] = []
  readonly #env: Readonly<Record<string, string | undefined>>
  readonly #defaults: Readonly<Record<string, { readonly default: string }>>

  constructor(
    env: Readonly<Record<string, string | undefined>>,
    defaults: Readonly<Record<string, { readonly default: string }>>,
  ) {
    this.#env = env
    this.#defaults = defaults
  }

  /** The default if the variable is unset or empty. */
  text(name: string): string {
    const value = this.#env[name]
    return value === undefined || value === '' ? (this.#defaults[name]?.default ?? '') : value
  }

  /** Null if the variable is unset or empty. */
  optional(name: string): string | null {
    const value = this.text(name)
    return value === '' ? null : value
  }

  /** Reports that a variable's value is invalid, and what is accepted. */
  refuse(name: string, accepts: string): void {
    const value = this.text(name)
    // A URL may contain a password before its host and is then not shown.
    const isSecret = /SECRET|PASSWORD|CLUSTER_KEY/.test(name) || value.includes('@')
    const hidden = value === '' ? 'not set' : '(not shown)'
    const shown = isSecret ? hidden : JSON.stringify(value.slice(0, 80))
    this.problems.push(`${name} is ${shown}; it accepts ${accepts}`)
  }

  integer(name: string, low: number, high: number): number {
    const value = this.text(name)
    const parsed = /^\d+$/.test(value) ? Number(value) : Number.NaN
    if (parsed >= low && parsed <= high) return parsed
    this.refuse(name, `a whole number from ${low} to ${high}`)
    return low
  }

  decimal(name: string, low: number, high: number): number {
    const value = this.text(name)
    const parsed = /^\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
    if (parsed >= low && parsed <= high) return parsed
    this.refuse(name, `a number from ${low} to ${high}`)
    return low
  }

  choice(name: string, accepts: readonly string[]): string {
    const value = this.text(name).toLowerCase()
    if (!accepts.includes(value)) {
      this.refuse(name, accepts.map((item) => `"${item}"`).join(', '))
    }
    return value
  }

  isOn(name: string): boolean {
    return this.choice(name, ['on', 'off']) === 'on'
  }

  /** A URL without trailing slashes. Null if the variable is unset. */
  url(name: string, ...protocols: readonly string[]): string | null {
    const value = this.optional(name)
    if (value === null) return null
    if (!URL.canParse(value) || !protocols.includes(new URL(value).protocol)) {
      this.refuse(
        name,
        `a URL that begins with ${protocols.map((item) => `${item}//`).join(' or ')}`,
      )
    }
    return value.replace(/\/+$/, '')
  }

  /** A comma-separated list of known items. `off`: none. `on`: all except the items of `further`. */
  subset(
    name: string,
    allowed: readonly string[],
    additional: readonly string[] = [],
  ): readonly string[] {
    const value = this.text(name).toLowerCase()
    if (value === 'off') return []
    if (value === 'on') return allowed
    const named = value.split(',').map((item) => item.trim())
    const accepted = [...allowed, ...additional]
    if (!named.every((item) => accepted.includes(item))) {
      this.refuse(name, `"off", "on", or a comma list of ${accepted.join(', ')}`)
    }
    return named
  }
}
