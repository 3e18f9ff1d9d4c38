import { isObject, type Json, type JsonObject } from '../schemas-of.ts'
import { line, type Markup, markup, type Part, prose, sample } from './markup.ts'
import { fieldTable, kind, nameOf, recordId, type Shapes, text } from './shapes.ts'

/** An entry in the table of contents and in the search. */
export interface Entry {
  readonly id: string
  readonly method: string | null
  readonly name: string
}

export interface Group {
  readonly id: string
  readonly name: string
  readonly entries: readonly Entry[]
  readonly body: Markup
}

/** A collapsed entry. A link to its `id` opens it. */
export function folded(entry: Entry, summary: Part, body: Part): Markup {
  const { id, method, name } = entry
  const badge =
    method === null ? null : markup`<span class="tag method ${method}">${method}</span> `
  return markup`<details class="card entry" data-entry="${id}"><summary><h4>${badge}<code>${name}</code></h4> <span class="muted">${summary}</span></summary>
<div class="stack inside" id="${id}">${body}</div></details>
`
}

/** Operations grouped by tag, in the order of the document. */
export function operationGroups(document: JsonObject, shapes: Shapes): readonly Group[] {
  const written: { tag: string; entry: Entry; markup: Markup }[] = []
  for (const [path, methods] of entriesOf(document.paths)) {
    for (const [method, operation] of entriesOf(methods)) {
      const id = text(operation.operationId ?? '')
      const entry = { id, method: method.toUpperCase(), name: path }
      const { summary = '', tags } = operation
      const tag = Array.isArray(tags) ? text(tags[0] ?? '') : ''
      const body = operationBody(entry, operation, document, shapes)
      written.push({ tag, entry, markup: folded(entry, line(text(summary)), body) })
    }
  }
  const tags = Array.isArray(document.tags) ? document.tags.filter(isObject) : []
  return tags.map(({ name: tagName = '', description = '' }) => {
    const name = text(tagName)
    const own = written.filter(({ tag }) => tag === name)
    const intro = markup`<p>${line(text(description))}</p>`
    return {
      id: `group-${name.toLowerCase().replace(/\W+/g, '-')}`,
      name,
      entries: own.map(({ entry }) => entry),
      body: markup`${intro}${own.map((one) => one.markup)}`,
    }
  })
}

function operationBody(
  entry: Entry,
  operation: JsonObject,
  document: JsonObject,
  shapes: Shapes,
): Markup {
  const { description, responses } = operation
  return markup`${typeof description === 'string' ? prose(description) : null}
${accessLine(operation)}
${tryForm(entry, operation, shapes)}
${entriesOf(responses).map(([status, response]) => answer(entry.id, status, response, document, shapes))}`
}

function accessLine({ security }: JsonObject): Markup {
  return markup`<p class="muted">${ACCESS[accessOf(security)] ?? null}</p>`
}

const ACCESS: Readonly<Record<string, Part>> = {
  public: 'Needs no key.',
  token: markup`Needs the token of a log-in: <code>Authorization: Bearer</code>.`,
  caller: markup`Needs a key in <code>X-API-Key</code>, or a key or token in <code>Authorization: Bearer</code>.`,
}

function accessOf(security: Json | undefined): string {
  const ways = Array.isArray(security) ? security.filter(isObject) : []
  if (ways.length === 0) return 'public'
  return ways.some((way) => way.ApiKey !== undefined) ? 'caller' : 'token'
}

/** Form with parameters, body and send button. The form of a WebSocket handshake has no button. */
function tryForm(entry: Entry, operation: JsonObject, shapes: Shapes): Markup {
  const { parameters, requestBody, responses, security } = operation
  const listed = Array.isArray(parameters) ? parameters.filter(isObject) : []
  const fields = listed.map((parameter) => parameterField(entry.id, parameter, shapes))
  const inside = markup`${fields.length === 0 ? null : markup`<h5>Parameters</h5>`}${fields}${bodyField(
    entry.id,
    requestBody,
    shapes,
  )}`
  if (isObject(responses) && responses['101'] !== undefined) return inside
  return markup`<form data-method="${entry.method}" data-path="${entry.name}" data-access="${accessOf(security)}">${inside}
<div class="row"><button class="primary">Send</button><button type="button" data-copy>Copy as curl</button></div>
<pre data-line></pre><div class="stack" data-answer role="status"></div></form>`
}

function parameterField(operation: string, parameter: JsonObject, shapes: Shapes): Markup {
  const {
    name: given = '',
    in: location = '',
    required,
    description = '',
    schema,
    example,
  } = parameter
  const name = text(given)
  const id = `${operation}.${name}`
  const rule = isObject(schema) ? schema : {}
  const shown = Array.isArray(example) ? example.map(text).join(',') : text(example ?? '')
  return markup`<div class="parameter"><div><label for="${id}"><code>${name}</code></label> <span class="muted">${kind(rule, shapes)}${
    required === true ? ', required' : null
  }</span><p id="${id}-meaning">${line(text(description))} Example: <code>${shown}</code></p></div>
${input(id, name, text(location), rule, shown, required === true)}</div>
`
}

function input(
  id: string,
  name: string,
  location: string,
  { enum: choices, type }: JsonObject,
  example: string,
  isRequired: boolean,
): Markup {
  const options = type === 'boolean' ? ['true', 'false'] : choices
  const common = markup`id="${id}" name="${name}" data-in="${location}" aria-describedby="${id}-meaning"`
  if (Array.isArray(options)) {
    const first = isRequired ? null : markup`<option value="">not given</option>`
    return markup`<select ${common}>${first}${options.map((option) => markup`<option>${text(option)}</option>`)}</select>`
  }
  const value = isRequired ? markup`value="${example}" required` : markup`placeholder="${example}"`
  return markup`<input ${common} ${value} autocomplete="off" autocapitalize="off" spellcheck="false">`
}

function bodyField(operation: string, body: Json | undefined, shapes: Shapes): Markup | null {
  const media = mediaOf(body)
  if (media === null) return null
  const schema = isObject(media.schema) ? media.schema : {}
  const examples = entriesOf(media.examples).map(
    ([name, { value = null }]) => [name, value] as const,
  )
  const [first, ...others] = examples
  const id = `${operation}.body`
  return markup`<h5><label for="${id}">Body</label></h5><p>${kind(schema, shapes)} in JSON.</p>
<textarea id="${id}" rows="8" data-in="body" autocomplete="off" autocapitalize="off" spellcheck="false">${JSON.stringify(first?.[1] ?? {}, null, 2)}</textarea>
${others.map(([name, value]) => markup`<p>Another, <code>${name}</code>:</p>${sample(value)}`)}
${fieldTable(schema, `the body of ${operation}`, shapes)}`
}

/** Error responses are collapsed. */
function answer(
  operation: string,
  status: string,
  response: JsonObject,
  document: JsonObject,
  shapes: Shapes,
): Markup {
  const { description = '', content } = response
  const [type] = entriesOf(content)[0] ?? ['']
  const media = mediaOf(response)
  const schema = media !== null && isObject(media.schema) ? media.schema : null
  const is = status < '300' ? 'good' : status < '400' ? '' : 'bad'
  const head = markup`<span class="tag ${is}">${status}</span> ${line(text(description))}`
  if (media === null || schema === null) return markup`<p>${head}</p>`
  const record = markup`${type === 'application/json' ? kind(schema, shapes) : type}`
  const body = sample(exampleOf(media, document))
  if (status < '300') return markup`<h5>${head}</h5><p>${record}, for example:</p>${body}`
  return markup`<details data-answer-of="${operation}"><summary>${head}</summary><p>${record}, for example:</p>${body}</details>`
}

function exampleOf({ example, examples }: JsonObject, document: JsonObject): Json {
  if (example !== undefined) return example
  const [, named] = entriesOf(examples)[0] ?? []
  if (named === undefined) return null
  if (typeof named.$ref !== 'string') return named.value ?? null
  const { components } = document
  const shared = isObject(components) ? components.examples : null
  const found = isObject(shared) ? shared[nameOf(named.$ref)] : null
  return isObject(found) ? (found.value ?? null) : null
}

export function webhookGroup(document: JsonObject, shapes: Shapes): Group {
  const written = entriesOf(document.webhooks).map(([name, methods]) => {
    const [, operation = {}] = entriesOf(methods)[0] ?? []
    const { operationId = '', summary = '', description = '', parameters, requestBody } = operation
    const entry = { id: text(operationId), method: null, name }
    const media = mediaOf(requestBody) ?? {}
    const headers = Array.isArray(parameters) ? parameters.filter(isObject) : []
    const body = markup`${prose(text(description))}<h5>Headers</h5><dl>${headers.map(
      (header) =>
        markup`<dt><code>${text(header.name ?? '')}</code></dt><dd>${line(text(header.description ?? ''))}</dd>`,
    )}</dl><h5>Body</h5>${sample(exampleOf(media, document))}
${isObject(media.schema) ? fieldTable(media.schema, name, shapes) : null}`
    return { entry, markup: folded(entry, line(text(summary)), body) }
  })
  return {
    id: 'events',
    name: 'Events',
    entries: written.map(({ entry }) => entry),
    body: markup`<p>What is posted to a webhook: make one with <a href="#createWebhook">POST /v1/webhooks</a>.</p>${written.map((one) => one.markup)}`,
  }
}

export function recordGroup(shapes: Shapes): Group {
  const written = entriesOf(shapes.all).map(([name, schema]) => {
    const entry = { id: recordId(name), method: null, name }
    const table = fieldTable(schema, name, shapes)
    const { description } = schema
    const summary = typeof description === 'string' ? line(description) : null
    return { entry, markup: folded(entry, summary, table) }
  })
  return {
    id: 'records',
    name: 'Records',
    entries: written.map(({ entry }) => entry),
    body: markup`<p>What answers and bodies are made of.</p>${written.map((one) => one.markup)}`,
  }
}

function mediaOf(body: Json | undefined): JsonObject | null {
  const [, media] = entriesOf(isObject(body) ? body.content : null)[0] ?? []
  return media ?? null
}

/** Members of an object whose values are objects. */
export function entriesOf(value: Json | undefined): readonly (readonly [string, JsonObject])[] {
  if (!isObject(value)) return []
  return Object.entries(value).flatMap(([name, member]) =>
    isObject(member) ? [[name, member] as const] : [],
  )
}
