import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'

const PLACES = ['engine', 'storage', 'actors', 'http', 'bench', 'test', '.github'] as const
/** Documents whose paths are not checked. */
const NOT_OURS = new Set(['bench/report/results.md'])

function documentsIn(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name)
    if (name === 'node_modules') return []
    if (statSync(path).isDirectory()) return documentsIn(path)
    return path.endsWith('.md') && !NOT_OURS.has(path) ? [path] : []
  })
}

const documents = ['README.md', 'CHANGELOG.md', ...PLACES.flatMap(documentsIn)]
const texts = new Map(documents.map((path) => [path, readFileSync(path, 'utf8')]))

function anchorOf(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase()
  return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-')
}

function anchorsOf(path: string): ReadonlySet<string> {
  const headings = (texts.get(path) ?? '').matchAll(/^#{1,6} (.+)$/gm)
  return new Set([...headings].map((match) => anchorOf(match[1] ?? '')))
}

/** Removes fenced code blocks, because brackets are code there. */
const prose = (text: string) => text.replace(/^```[\s\S]*?^```$/gm, '')

test('finds an existing file and heading for every link in the Markdown documents', () => {
  const offenders: string[] = []
  for (const [path, text] of texts) {
    for (const [, target = ''] of prose(text).matchAll(/\]\(([^)\s]+)\)/g)) {
      if (/^[a-z]+:/.test(target)) continue
      const [file = '', anchor] = target.split('#')
      const goal = file === '' ? path : normalize(join(dirname(path), file)).replace(/\/$/, '')
      const isThere = existsSync(goal)
      if (!isThere || (anchor !== undefined && !anchorsOf(goal).has(anchor))) {
        offenders.push(`${path}: ${target}`)
      }
    }
  }
  assert.deepEqual(offenders, [])
})

test('finds an existing file for every repository path in the Markdown documents', () => {
  const offenders: string[] = []
  for (const [path, text] of texts) {
    for (const [, named = ''] of prose(text).matchAll(/`([\w./-]+)`/g)) {
      const isPath = PLACES.some((position) => named.startsWith(`${position}/`))
      if (isPath && !existsSync(named)) offenders.push(`${path}: ${named}`)
    }
  }
  assert.deepEqual(offenders, [])
})
