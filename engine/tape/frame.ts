// Frames of tape files: a kind, the lengths and the CRC-32C of two parts, then the parts. A reader detects an
// incomplete or damaged frame and finds the next frame.
//
//   kind u32 · head length u32 · body length u32 · CRC-32C u32 · head · body

import { crc32c } from './crc32c.ts'

/** First bytes of each kind of frame. */
export const FRAME_KINDS = {
  /** First frame of a file. It states venue and run. */
  file: 0x54_50_46_31,
  block: 0x54_50_42_31,
  /** Last frame of a closed file. */
  index: 0x54_50_49_31,
  /** A batch in the journal. */
  batch: 0x54_50_4a_31,
} as const
export type FrameKind = keyof typeof FRAME_KINDS

const KINDS = Object.keys(FRAME_KINDS).filter((name): name is FrameKind => name in FRAME_KINDS)
export const FRAME_HEADER_BYTES = 16
const CHECKSUM_AT = 12
/** Longer parts count as damaged. */
const PART_BYTES_MAX = 64 * 1_024 * 1_024

export interface Frame {
  readonly kind: FrameKind
  readonly head: Buffer
  readonly body: Buffer
  readonly length: number
}

export interface FrameHeader {
  readonly kind: FrameKind
  readonly headLength: number
  readonly bodyLength: number
  readonly length: number
}

export function encodeFrame(
  kind: FrameKind,
  head: Uint8Array,
  body: Uint8Array = new Uint8Array(),
): Buffer {
  const bytes = Buffer.allocUnsafe(FRAME_HEADER_BYTES + head.length + body.length)
  bytes.writeUInt32BE(FRAME_KINDS[kind], 0)
  bytes.writeUInt32BE(head.length, 4)
  bytes.writeUInt32BE(body.length, 8)
  bytes.set(head, FRAME_HEADER_BYTES)
  bytes.set(body, FRAME_HEADER_BYTES + head.length)
  bytes.writeUInt32BE(checksumOf(bytes), CHECKSUM_AT)
  return bytes
}

/** Null unless the first 16 bytes have the form of a frame header. */
export function readFrameHeader(bytes: Buffer): FrameHeader | null {
  if (bytes.length < FRAME_HEADER_BYTES) return null
  const magic = bytes.readUInt32BE(0)
  const kind = KINDS.find((name) => FRAME_KINDS[name] === magic)
  const [headLength, bodyLength] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)]
  if (kind === undefined || headLength > PART_BYTES_MAX || bodyLength > PART_BYTES_MAX) return null
  return { kind, headLength, bodyLength, length: FRAME_HEADER_BYTES + headLength + bodyLength }
}

/** Reads the frame at the beginning of the bytes. Null if the frame is incomplete or damaged. */
export function readFrame(bytes: Buffer): Frame | null {
  const header = readFrameHeader(bytes)
  if (header === null || bytes.length < header.length) return null
  const frame = bytes.subarray(0, header.length)
  if (frame.readUInt32BE(CHECKSUM_AT) !== checksumOf(frame)) return null
  const bodyAt = FRAME_HEADER_BYTES + header.headLength
  return {
    kind: header.kind,
    head: frame.subarray(FRAME_HEADER_BYTES, bodyAt),
    body: frame.subarray(bodyAt),
    length: header.length,
  }
}

/** Offset of the next intact frame at or after `from`. Null if there is none. */
export function findFrame(bytes: Buffer, from: number): number | null {
  const magics = KINDS.map((kind) => {
    const magic = Buffer.alloc(4)
    magic.writeUInt32BE(FRAME_KINDS[kind])
    return magic
  })
  for (let at = from; at < bytes.length; at += 1) {
    const found = magics.map((magic) => bytes.indexOf(magic, at)).filter((index) => index >= 0)
    if (found.length === 0) return null
    at = Math.min(...found)
    if (readFrame(bytes.subarray(at)) !== null) return at
  }
  return null
}

function checksumOf(frame: Buffer): number {
  return crc32c([frame.subarray(0, CHECKSUM_AT), frame.subarray(FRAME_HEADER_BYTES)])
}
