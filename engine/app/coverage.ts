import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { OpenVenue } from '../../actors/venue/event-routes.ts'
import type { AdminHandlers } from '../admin/admin-socket.ts'
import { type Config, ConfigError } from '../config.ts'
import { ALL_MARKETS, type CoveragePolicy, readCoveragePolicy } from '../coverage-policy.ts'
import { EngineError } from '../errors.ts'
import { readText, writeDurably } from '../process/durable-file.ts'
import type { Venue } from '../venues/venue.ts'

export interface CoverageChoice {
  readonly policy: CoveragePolicy
  readonly because: string
}

export const COVER_ALL: CoverageChoice = { policy: ALL_MARKETS, because: 'default' }

type CoverageConfig = Pick<Config, 'coverage' | 'dataDir' | 'venues'>

/**
 * Reads and stores the operator's policy. COVERAGE takes precedence over the stored policy, which takes precedence over
 * the default.
 */
export class CoverageSettings {
  readonly #config: CoverageConfig
  readonly #path: string
  #stored: CoveragePolicy | null

  /** Throws ConfigError if the stored policy is invalid. */
  constructor(config: CoverageConfig) {
    this.#config = config
    this.#path = join(config.dataDir, 'coverage')
    this.#stored = readStored(this.#path)
  }

  get isSetByVariable(): boolean {
    return this.#config.coverage !== null
  }

  /** Real venues have a default policy that fits their limits. */
  choiceOf({ booksWithinLimits: fitting }: Pick<Venue, 'booksWithinLimits'>): CoverageChoice {
    const { coverage, venues } = this.#config
    if (coverage !== null) return { policy: coverage, because: 'COVERAGE' }
    if (this.#stored !== null) return { policy: this.#stored, because: 'npm run coverage' }
    if (venues.kind !== 'live' || fitting === undefined) return COVER_ALL
    const { count, because } = fitting
    const policy = { text: `top:${count}`, rules: [{ kind: 'top' as const, count }] }
    return { policy, because: `default: ${because}` }
  }

  /** Stores the policy for later starts. Null: removes the stored policy. */
  store(policy: CoveragePolicy | null): void {
    this.#stored = policy
    mkdirSync(this.#config.dataDir, { recursive: true, mode: 0o700 })
    writeDurably(this.#path, policy === null ? '' : `${policy.text}\n`)
  }
}

function readStored(path: string): CoveragePolicy | null {
  const text = readText(path)?.trim() ?? ''
  if (text === '') return null
  const policy = readCoveragePolicy(text)
  if ('problem' in policy) throw new ConfigError([`${path}: ${policy.problem}`])
  return policy
}

export function coverageHandlers(
  settings: CoverageSettings,
  venues: ReadonlyMap<string, OpenVenue>,
): AdminHandlers {
  const rows = () => Array.from(venues.values(), rowOf)
  return {
    /** → `{venues}` */
    'coverage.show': () => ({ venues: rows() }),
    /** `{policy}` → `{venues, is_temporary}`. The policy `default` removes the stored policy. */
    'coverage.set': async ({ policy: text }) => {
      if (typeof text !== 'string') throw new EngineError('BAD_REQUEST', 'policy must be a text')
      const policy = text === 'default' ? null : readCoveragePolicy(text)
      if (policy !== null && 'problem' in policy)
        throw new EngineError('BAD_REQUEST', policy.problem)
      settings.store(policy)
      await Promise.all(
        Array.from(venues.values(), ({ venue, actor }) => {
          const { policy: chosen, because } =
            policy === null ? settings.choiceOf(venue) : { policy, because: 'npm run coverage' }
          return actor.setCoverage(chosen, because)
        }),
      )
      return { venues: rows(), is_temporary: policy !== null && settings.isSetByVariable }
    },
  }
}

function rowOf({ actor }: OpenVenue) {
  const { policy, counts } = actor.coverage
  const { open, wanted, covered, live, byReason } = counts
  const figures = { open, wanted, covered, live, by_reason: byReason }
  return { venue: actor.platform, policy, because: actor.coverageBecause, ...figures }
}
