// A dropped config.json travels in the address: compacted, deflated, base64url.
import { damaged, Problem } from '../api/client'

export async function pack(config: unknown): Promise<string> {
  const bytes = await pipe(new TextEncoder().encode(JSON.stringify(config)), new CompressionStream('deflate-raw'))
  let text = ''
  for (const b of bytes) text += String.fromCharCode(b)
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')
}

/** unpack throws where the text is not what pack() wrote: a link was cut or changed on its way. */
export async function unpack(text: string): Promise<unknown> {
  try {
    return await inflate(text)
  } catch {
    throw new Problem('', damaged, 'model')
  }
}

async function inflate(text: string): Promise<unknown> {
  const raw = atob(text.replaceAll('-', '+').replaceAll('_', '/'))
  const bytes = Uint8Array.from(raw, (c) => c.charCodeAt(0))
  return JSON.parse(new TextDecoder().decode(await pipe(bytes, new DecompressionStream('deflate-raw'))))
}

async function pipe(bytes: Uint8Array<ArrayBuffer>, through: TransformStream<BufferSource, Uint8Array>): Promise<Uint8Array> {
  const stream = new Blob([bytes]).stream().pipeThrough(through as unknown as ReadableWritablePair<Uint8Array, Uint8Array<ArrayBuffer>>)
  return new Uint8Array(await new Response(stream as ReadableStream<Uint8Array<ArrayBuffer>>).arrayBuffer())
}
