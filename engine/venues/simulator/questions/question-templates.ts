// Templates of both venues for each kind of question (words.json). Values of one cycle (families.ts) fill them. In the
// file `both` applies to both venues, and `a` and `b` override it. `like` names an entry that supplies absent fields.
// `{phrase}` is the answer: a strike, a bucket or a name.

import { readFileSync } from 'node:fs'
import type { SimPairKind, SimTopic, SimVenue } from '../model.ts'

export interface Templates {
  readonly series: string
  readonly seriesTitle: string
  /** The date part of Kalshi's event ticker. Not used at venue a. */
  readonly stamp: string
  readonly title: string
  readonly subtitle: string
  readonly category: string
  readonly tags: readonly string[]
  readonly question: string
  readonly clause: string
  /** The opposite question, for the trap opposite_side. */
  readonly negatedQuestion?: string
  readonly negatedClause?: string
  readonly remarks: string
  /** The remarks under the trap other_rules. */
  readonly otherRemarks?: string
}

interface KindTerms {
  readonly topic: SimTopic
  readonly share: number
  /** Approximate time from the announcement to the close. */
  readonly lifeMinutes: number
  readonly traps: readonly SimPairKind[]
}

interface Entry {
  readonly kind?: KindTerms
  readonly like?: string
  readonly both?: Partial<Templates>
  readonly a?: Partial<Templates>
  readonly b?: Partial<Templates>
}

const PLAIN: Templates = {
  series: '',
  seriesTitle: '',
  stamp: '{stampDay}',
  title: '',
  subtitle: '',
  category: '',
  tags: [],
  question: '',
  clause: '',
  remarks: '',
}
const PLAIN_B: Partial<Templates> = { subtitle: 'On {shortDate}' }

const ENTRIES: Readonly<Record<string, Entry>> = JSON.parse(
  readFileSync(new URL('./words.json', import.meta.url), 'utf8'),
)

export function termsOf(kind: string): KindTerms {
  const terms = ENTRIES[kind]?.kind
  if (terms === undefined) throw new RangeError(`no kind ${kind}`)
  return terms
}

const templates = new Map<string, Templates>()

export function templatesOf(kind: string, venue: SimVenue): Templates {
  const key = `${venue} ${kind}`
  const cached = templates.get(key) ?? mergedTemplates(kind, venue)
  templates.set(key, cached)
  return cached
}

function mergedTemplates(kind: string, venue: SimVenue): Templates {
  const own = ENTRIES[kind]
  if (own === undefined) throw new RangeError(`no words for ${kind}`)
  const lent = own.like === undefined ? {} : ENTRIES[own.like]
  return {
    ...{ ...PLAIN, ...lent?.both, ...own.both },
    ...(venue === 'b' ? PLAIN_B : {}),
    ...{ ...lent?.[venue], ...own[venue] },
  }
}

/**
 * `{name}` is replaced by a value. `{name:lower}` is the value in lower case. `{name:letters}` is its letters and
 * digits in capitals. Modifiers may be combined.
 */
export function fill(template: string, values: Readonly<Record<string, string>>): string {
  const parts = parsed.get(template) ?? partsOf(template)
  parsed.set(template, parts)
  let text = ''
  for (const { before, name, forms } of parts) {
    text += before
    if (name === null) continue
    const value = values[name]
    if (value === undefined) throw new RangeError(`no value for {${name}} in "${template}"`)
    text += forms.reduce((formed, form) => {
      if (form === 'lower') return formed.toLowerCase()
      return formed.toUpperCase().replace(/[^A-Z0-9]/g, '')
    }, value)
  }
  return text
}

interface TemplatePart {
  readonly before: string
  /** Null: the end of the template. */
  readonly name: string | null
  readonly forms: readonly string[]
}

/** The cache is bounded, because all templates come from two files. */
const parsed = new Map<string, readonly TemplatePart[]>()

function partsOf(template: string): readonly TemplatePart[] {
  const parts: TemplatePart[] = []
  let end = 0
  for (const match of template.matchAll(/\{(\w+)((?::\w+)*)\}/g)) {
    const [all, name = '', forms = ''] = match
    parts.push({ before: template.slice(end, match.index), name, forms: forms.split(':').slice(1) })
    end = match.index + all.length
  }
  return [...parts, { before: template.slice(end), name: null, forms: [] }]
}
