// The one place that speaks to the server: JSON in, JSON out, progress by
// server-sent events, cancelled by aborting.

/** Problem is what went wrong, as the server words it (RFC 9457) or as the network failed. */
export class Problem extends Error {
  constructor(
    readonly detail: string,
    readonly status: number,
    readonly field = '',
    readonly code = '',
    readonly values: Record<string, unknown> = {},
  ) {
    super(detail)
  }
}

/** damaged is the status of a question that could not be read from the address, and so was not asked. */
export const damaged = -1

/** badFigure is the status of a question with a figure that is none: field names it, detail is what stands there. */
export const badFigure = -2

/** unclear is the status of a question with a number that languages read differently: field names it, values.write is how to write it. */
export const unclear = -3

const tokenKey = 'ridgeline.token'

/** setToken keeps the token of a server that listens beyond loopback for the browser session; false where only this page has it. */
export function setToken(token: string): boolean {
  try {
    sessionStorage.setItem(tokenKey, token)
    return true
  } catch {
    memoryToken = token
    return false
  }
}
let memoryToken = ''

function token(): string {
  try {
    return sessionStorage.getItem(tokenKey) ?? memoryToken
  } catch {
    return memoryToken // no storage
  }
}

/** hasToken tells whether one was given: where the server asks again, it is not the right one. */
export const hasToken = (): boolean => token() !== ''

function headers(accept: string): Record<string, string> {
  const h: Record<string, string> = { Accept: accept }
  if (token()) h.Authorization = 'Bearer ' + token()
  return h
}

async function request(path: string, init: RequestInit): Promise<Response> {
  let r: Response
  try {
    r = await fetch('/api/v1/' + path, init)
  } catch (e) {
    if (init.signal?.aborted) throw e
    throw new Problem('', 0)
  }
  if (!r.ok) throw await problem(r)
  return r
}

/** Told is a problem as the server sends it: as an answer, in a stream, or beside what it does not spoil. */
export interface Told {
  detail?: string
  title?: string
  status?: number
  field?: string
  code?: string
  values?: Record<string, unknown>
}

/** problemOf reads what the server tells; status is that of an answer without one. */
export const problemOf = (p: Told, status = 500): Problem => new Problem(p.detail || p.title || '', p.status ?? status, p.field, p.code, p.values)

async function problem(r: Response): Promise<Problem> {
  try {
    const p = (await r.json()) as Told
    return problemOf({ ...p, title: p.title || r.statusText }, r.status)
  } catch {
    return new Problem(r.statusText || String(r.status), r.status)
  }
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const r = await request(path, { headers: headers('application/json'), signal: signal ?? null })
  return (await r.json()) as T
}

export async function post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const r = await request(path, {
    method: 'POST',
    headers: { ...headers('application/json'), 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: signal ?? null,
  })
  return (await r.json()) as T
}

export interface Progress {
  done: number
  all: number
}

/** search posts a long question and hands out the events before its result; an error among them is thrown. */
export async function search<T>(path: string, body: unknown, signal: AbortSignal, onEvent: (name: string, data: unknown) => void): Promise<T> {
  let result: { of: T } | undefined
  await stream('POST', path, body, signal, (name, data) => {
    if (name === 'result') result = { of: data as T }
    else if (name === 'error') throw problemOf(data as Told)
    else onEvent(name, data)
  })
  if (!result) throw new Problem('', 0)
  return result.of
}

/** stream hands out each event of a server-sent stream until it ends. */
export async function stream(
  method: 'GET' | 'POST',
  path: string,
  body: unknown,
  signal: AbortSignal,
  onEvent: (name: string, data: unknown) => void,
): Promise<void> {
  const r = await request(path, {
    method,
    headers: { ...headers('text/event-stream'), ...(method === 'POST' ? { 'Content-Type': 'application/json' } : {}) },
    body: method === 'POST' ? JSON.stringify(body) : null,
    signal,
  })
  if (!r.headers.get('Content-Type')?.startsWith('text/event-stream')) {
    onEvent('result', await r.json())
    return
  }
  const reader = r.body!.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    rest += value
    const blocks = rest.split(/\r?\n\r?\n/)
    rest = blocks.pop()!
    for (const b of blocks) {
      const e = parseEvent(b)
      if (e) onEvent(e.name, e.data)
    }
  }
}

/** parseEvent reads one block of a stream; comments and empty blocks are none. */
export function parseEvent(block: string): { name: string; data: unknown } | undefined {
  let name = 'message'
  const data: string[] = []
  for (const line of block.split(/\r?\n/)) {
    if (line.startsWith('event:')) name = line.slice(6).trim()
    else if (line.startsWith('data:')) data.push(line.slice(5).trimStart())
  }
  return data.length ? { name, data: JSON.parse(data.join('\n')) } : undefined
}
