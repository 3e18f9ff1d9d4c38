// @ts-check

import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const NAMED_MAX = 3

/**
 * Returns why this installation cannot start, in one sentence with the action, or null. Runs on unsupported versions of
 * Node and without packages.
 * @param {string} root folder of package.json
 * @param {string} nodeVersion such as `20.15.0`
 * @returns {string | null}
 */
export function installationProblem(root, nodeVersion) {
  /** @type {{ engines: { node: string }, dependencies: Record<string, string> }} */
  const { engines, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const [major = 0, minor = 0, below = 0] = numbersIn(engines.node)
  const [ownMajor = 0, ownMinor = 0] = numbersIn(nodeVersion)
  const isTooOld = ownMajor < major || (ownMajor === major && ownMinor < minor)
  if (isTooOld || ownMajor >= below) {
    const accepts = `Node ${major}.${minor} or a later version below ${below}`
    return `Twinbook needs ${accepts}, but this is Node ${nodeVersion}: install Node ${below - 1} from https://nodejs.org.`
  }
  const missing = Object.keys(dependencies).filter(
    (name) => !existsSync(join(root, 'node_modules', name)),
  )
  if (missing.length === 0) return null
  const more = missing.length - NAMED_MAX
  const names = missing.slice(0, NAMED_MAX).join(', ') + (more > 0 ? ` and ${more} more` : '')
  return `Packages are missing in ${join(root, 'node_modules')} (${names}): run \`npm ci\` in ${root}.`
}

/** @param {string} text */
const numbersIn = (text) => [...text.matchAll(/\d+/g)].map(Number)
