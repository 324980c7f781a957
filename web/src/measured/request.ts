import type { Language } from '../i18n'
import { asNumber, clear } from '../ui/numbers'

/** Load is what the form of a bench says, as it is typed. */
export interface Load extends Record<string, string> {
  url: string
  model: string
  isl: string
  osl: string
  concurrency: string
  requests: string // per stage
}

const numbers = { isl: 'whole', osl: 'whole', requests: 'whole' } as const

/** requestOf is the body of a bench; it throws where a number could be read in another language's way. */
export function requestOf(typed: Load, lang: Language): Record<string, unknown> {
  const q = clear(typed, numbers, lang)
  return { ...q, isl: asNumber(q.isl), osl: asNumber(q.osl), requests: asNumber(q.requests) }
}
