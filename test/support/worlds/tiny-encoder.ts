// Writes a minimal sentence encoder: `model.onnx` maps each token to a vector, and `tokenizer.json` splits at spaces.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Known words with their vectors. Every other word becomes `[UNK]`. */
export type TinyVocabulary = Readonly<Record<string, readonly number[]>>

export interface TinyModel {
  /** Name, element type and shape of the inputs. Type 7 is int64. */
  readonly inputs?: readonly (readonly [string, number])[]
  readonly output?: string
}

/** Writes the folder, passes it to the test, and removes it afterwards. */
export async function withTinyEncoder(
  terms: TinyVocabulary,
  use: (folder: string, vectors: TinyVocabulary) => Promise<void> | void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tiny-encoder-'))
  try {
    const width = Object.values(terms)[0]?.length ?? 1
    const none = Array.from({ length: width }, () => 0)
    const vectors = { '[PAD]': none, '[UNK]': none, '[CLS]': none, '[SEP]': none, ...terms }
    writeFileSync(join(folder, 'model.onnx'), tinyModel(Object.values(vectors)))
    writeFileSync(join(folder, 'tokenizer.json'), tinyTokenizer(Object.keys(vectors)))
    await use(folder, vectors)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A lower-case BERT WordPiece tokenizer in the usual file format. */
export function tinyTokenizer(terms: readonly string[]): string {
  const special = (id: string) => ({ SpecialToken: { id, type_id: 0 } })
  return JSON.stringify({
    version: '1.0',
    truncation: null,
    padding: null,
    added_tokens: ['[PAD]', '[UNK]', '[CLS]', '[SEP]'].map((content, id) => ({
      ...{ id, content, special: true, normalized: false },
      ...{ single_word: false, lstrip: false, rstrip: false },
    })),
    normalizer: {
      type: 'BertNormalizer',
      ...{ clean_text: true, handle_chinese_chars: true, strip_accents: null, lowercase: true },
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [special('[CLS]'), { Sequence: { id: 'A', type_id: 0 } }, special('[SEP]')],
      pair: [],
      special_tokens: {},
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      ...{ unk_token: '[UNK]', continuing_subword_prefix: '##', max_input_chars_per_word: 100 },
      vocab: Object.fromEntries(terms.map((term, id) => [term, id])),
    },
  })
}

const INPUTS = [
  ['input_ids', 7],
  ['attention_mask', 7],
  ['token_type_ids', 7],
] as const

/** `last_hidden_state = Gather(table, input_ids)` as the bytes of a ModelProto (onnx.proto3). */
export function tinyModel(
  table: readonly (readonly number[])[],
  { inputs = INPUTS, output = 'last_hidden_state' }: TinyModel = {},
): Uint8Array {
  const width = table[0]?.length ?? 0
  const weights = message([
    [1, table.length],
    [1, width],
    [2, FLOAT],
    [8, 'table'],
    [9, new Uint8Array(new Float32Array(table.flat()).buffer)],
  ])
  const gather = message([
    [1, 'table'],
    [1, inputs[0]?.[0] ?? ''],
    [2, output],
    [4, 'Gather'],
  ])
  const graph = message([
    [1, gather],
    [2, 'tiny'],
    [5, weights],
    ...inputs.map(([name, type]): Field => [11, value(name, type, ['batch', 'sequence'])]),
    [12, value(output, FLOAT, ['batch', 'sequence', width])],
  ])
  return message([
    [1, 8],
    [7, graph],
    [8, message([[2, 13]])],
  ])
}

const FLOAT = 1

type Field = readonly [number, number | string | Uint8Array]

function value(name: string, type: number, shape: readonly (number | string)[]): Uint8Array {
  const dims = shape.map(
    (size): Field => [1, message([typeof size === 'number' ? [1, size] : [2, size]])],
  )
  const tensor = message([
    [1, type],
    [2, message(dims)],
  ])
  return message([
    [1, name],
    [2, message([[1, tensor]])],
  ])
}

/** Encodes a protocol buffers message. Numbers are varints, and other fields are length-delimited. */
function message(fields: readonly Field[]): Uint8Array {
  return Buffer.concat(
    fields.map(([field, content]) => {
      if (typeof content === 'number') return Buffer.concat([varint(field * 8), varint(content)])
      const bytes = typeof content === 'string' ? Buffer.from(content) : content
      return Buffer.concat([varint(field * 8 + 2), varint(bytes.length), bytes])
    }),
  )
}

function varint(number: number): Uint8Array {
  const bytes: number[] = []
  let rest = number
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Uint8Array.from([...bytes, rest])
}
