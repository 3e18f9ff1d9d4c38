// Compares responses with the types of kalshi-typescript 3.30.0, because the SDK does not validate them.

import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const FOLDER = fileURLToPath(
  new URL('node_modules/kalshi-typescript/dist/models/', import.meta.url),
)
/** Fields that the live venue sends although SDK 3.30.0 does not declare them. */
const RECORDED = new Set(['available_on_brokers'])
const interfaces = new Map()
const enums = new Map()

for (const name of readdirSync(FOLDER)) {
  if (!name.endsWith('.d.ts')) continue
  const text = readFileSync(FOLDER + name, 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\{\s*\[key: string\]: ([^;]+);\s*\}/g, 'Map<$1>')
  for (const [, type, body] of text.matchAll(/export interface (\w+) \{([^}]*)\}/g)) {
    const fields = [...body.matchAll(/'(\w+)'(\??): ([^;]+);/g)]
    interfaces.set(
      type,
      fields.map(([, key, mark, kind]) => ({ key, isOptional: mark === '?', kind: kind.trim() })),
    )
  }
  for (const [, type, body] of text.matchAll(/export declare const (\w+): \{([^}]*)\}/g)) {
    enums.set(type, new Set([...body.matchAll(/: ("[^"]*"|-?\d+)/g)].map(([, v]) => JSON.parse(v))))
  }
}

/** Returns the differences with their paths. An undeclared key is a difference. */
export function differences(value, kind, path = kind) {
  const choices = kind.split(' | ')
  if (value === null) return choices.includes('null') ? [] : [`${path}: null`]
  const type = choices.filter((each) => each !== 'null')[0] ?? ''
  const list = /^Array<(.+)>$/.exec(type)
  if (list) {
    if (!Array.isArray(value)) return [`${path}: no array`]
    return value.flatMap((item, position) => differences(item, list[1], `${path}[${position}]`))
  }
  if (['string', 'number', 'boolean', 'object'].includes(type)) {
    const isRight = typeof value === type
    return isRight ? [] : [`${path}: ${typeof value} for ${type}`]
  }
  if (type === 'any') return []
  const map = /^Map<(.+)>$/.exec(type)
  if (map) {
    const inner = ([key, item]) => differences(item, map[1], `${path}.${key}`)
    return typeof value === 'object' ? Object.entries(value).flatMap(inner) : [`${path}: no object`]
  }
  const options = enums.get(type)
  if (options) return options.has(value) ? [] : [`${path}: ${JSON.stringify(value)} is no ${type}`]
  const fields = interfaces.get(type)
  if (fields === undefined) return [`${path}: type ${type} is not declared`]
  if (typeof value !== 'object') return [`${path}: ${typeof value} for ${type}`]
  const known = new Set(fields.map(({ key }) => key))
  const strange = Object.keys(value)
    .filter((key) => !known.has(key) && !RECORDED.has(key))
    .map((key) => `${path}.${key}: not declared`)
  const wrong = fields.flatMap(({ key, isOptional, kind: inner }) => {
    if (!(key in value)) return isOptional ? [] : [`${path}.${key}: absent`]
    return differences(value[key], inner, `${path}.${key}`)
  })
  return [...strange, ...wrong]
}
