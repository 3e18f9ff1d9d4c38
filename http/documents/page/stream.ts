import { isObject, type Json, type JsonObject } from '../schemas-of.ts'
import { line, type Markup, markup, type Part, prose, sample } from './markup.ts'
import { type Entry, entriesOf, folded, type Group } from './operations.ts'
import { fieldTable, nameOf, type Shapes, text } from './shapes.ts'

const REPLAY_PROGRAM = `const to = Date.now()
const period = \`replay_from=\${to - 3_600_000}&replay_to=\${to}&speed=10\`
const socket = new WebSocket(\`ws://localhost:8080/v1/ws?api_key=KEY&\${period}\`)
socket.onopen = () => {
  socket.send(JSON.stringify({ action: 'subscribe', channel: 'trades', market_ids: ['*'] }))
}
socket.onmessage = ({ data }) => console.log(data)
socket.onclose = ({ code, reason }) => console.log(code, reason)
`

interface Stream {
  readonly document: JsonObject
  readonly messages: JsonObject
  readonly shapes: Shapes
}

export function streamGroups(document: JsonObject, onPage: Shapes): readonly Group[] {
  const components = isObject(document.components) ? document.components : {}
  const stream: Stream = {
    document,
    messages: isObject(components.messages) ? components.messages : {},
    shapes: {
      all: isObject(components.schemas) ? components.schemas : {},
      isOnPage: onPage.isOnPage,
    },
  }
  const operations = entriesOf(document.operations)
  const commands = operations.filter(([, { action }]) => action === 'receive')
  const channels = operations.filter(([, { action }]) => action === 'send')
  const sentNames = new Set(channels.flatMap(([, channel]) => messageNames(channel.messages)))
  const replies = entriesOf(stream.messages).filter(([name]) => {
    return !sentNames.has(name) && !name.endsWith('Command')
  })
  return [
    connecting(stream),
    group('commands', 'Commands', 'What a client sends.', commands, (operation) =>
      command(operation, stream),
    ),
    group(
      'channels',
      'Channels',
      'What the server sends of its own accord.',
      channels,
      (channel) => markup`${messageNames(channel.messages).map((name) => message(name, stream))}`,
    ),
    group(
      'replies',
      'Answers to commands',
      'Each names the command by its `id`.',
      replies,
      (reply) => messageBody(text(reply.name ?? ''), reply, stream),
    ),
    closing(stream),
  ]
}

function group(
  id: string,
  name: string,
  intro: string,
  members: readonly (readonly [string, JsonObject])[],
  bodyOf: (member: JsonObject) => Markup,
): Group {
  const written = members.map(([key, member]) => {
    const entry: Entry = { id: `stream-${key}`, method: null, name: titleOf(member) }
    return { entry, markup: folded(entry, line(text(member.summary ?? '')), bodyOf(member)) }
  })
  return {
    id: `stream-${id}`,
    name,
    entries: written.map(({ entry }) => entry),
    body: markup`<p>${line(intro)}</p>${written.map((one) => one.markup)}`,
  }
}

/** Removes the prefix or suffix that repeats the heading of the section. */
const titleOf = ({ title = '' }: JsonObject): string =>
  text(title)
    .replace(/ \((?:message|command)\)$/, '')
    .replace(/^channel /, '')

const messageNames = (messages: Json | undefined): readonly string[] =>
  Array.isArray(messages)
    ? messages.filter(isObject).map(({ $ref }) => nameOf(text($ref ?? '')))
    : []

function command(operation: JsonObject, stream: Stream): Markup {
  const reply = isObject(operation.reply) ? operation.reply : {}
  const answers = messageNames(reply.messages).map((name, index): Part => {
    const referenced = stream.messages[name]
    const shown = isObject(referenced) ? text(referenced.name ?? name) : name
    const link = shown === 'snapshot' ? 'stream-tellOrderbook' : `stream-${name}`
    return [index === 0 ? null : ', ', markup`<a href="#${link}"><code>${shown}</code></a>`]
  })
  return markup`${messageNames(operation.messages).map((name) => message(name, stream))}<p>Answered by ${answers}.</p>`
}

function message(name: string, stream: Stream): Markup {
  const found = stream.messages[name]
  if (!isObject(found)) return markup``
  const title = text(found.name ?? name)
  return markup`<h5><code>${title}</code> ${line(text(found.summary ?? ''))}</h5>${messageBody(title, found, stream)}`
}

function messageBody(name: string, { examples, payload }: JsonObject, { shapes }: Stream): Markup {
  const given = Array.isArray(examples) ? examples.filter(isObject) : []
  return markup`${given.map((example) => sample(example.payload))}${
    isObject(payload) ? fieldTable(payload, name, shapes) : null
  }`
}

function connecting({ document }: Stream): Group {
  const { info, channels } = document
  const [, channel = {}] = entriesOf(channels)[0] ?? []
  const bindings = isObject(channel.bindings) ? channel.bindings : {}
  const ws = isObject(bindings.ws) ? bindings.ws : {}
  const query = isObject(ws.query) ? ws.query : {}
  const rows = entriesOf(query.properties)
  const name = `${text(channel.address ?? '')}?…`
  const entry: Entry = { id: 'stream-connect', method: 'WS', name: text(channel.address ?? '') }
  const body = markup`${line(text(channel.description ?? ''))}
<dl>${rows.map(
    ([parameter, { description = '' }]) =>
      markup`<dt><code>${parameter}</code></dt><dd>${line(text(description))}</dd>`,
  )}</dl>
<p>A program that replays the trades of an hour at ten times the speed:</p>${sample(REPLAY_PROGRAM)}
<form data-stream="${text(channel.address ?? '')}"><div class="field"><label for="stream-command">Command to send to <code>${name}</code></label>
<textarea id="stream-command" rows="3" autocomplete="off" autocapitalize="off" spellcheck="false">{"action":"subscribe","id":1,"channel":"trades","market_ids":["*"]}</textarea></div>
<div class="row"><button class="primary">Connect and send</button><button type="button" data-stop>Disconnect</button></div>
<div class="stack" data-answer role="status"></div></form>`
  const description = isObject(info) ? text(info.description ?? '') : ''
  return {
    id: 'stream-connecting',
    name: 'Connecting',
    entries: [entry],
    body: markup`${prose(description)}${folded(entry, 'Connect, and try a command', body)}`,
  }
}

function closing({ document }: Stream): Group {
  const codes = document['x-close-codes']
  const rows = (Array.isArray(codes) ? codes : []).filter(isObject)
  return {
    id: 'stream-closing',
    name: 'Close codes',
    entries: [],
    body: markup`<div class="scroll-x" role="group" tabindex="0" aria-label="Close codes"><table class="list">
<thead><tr><th scope="col">Code</th><th scope="col">Reason</th><th scope="col">Come back</th></tr></thead>
<tbody>${rows.map(
      ({ code = '', reason = '', may_return }) =>
        markup`<tr><th scope="row">${text(code)}</th><td>${text(reason)}</td><td>${may_return === true ? 'yes' : 'no'}</td></tr>`,
    )}</tbody></table></div>`,
  }
}
