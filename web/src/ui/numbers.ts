// Numbers that people type. Languages part thousands and decimals by opposite
// signs: what could be either is refused, never guessed.

import { badFigure, Problem, unclear } from '../api/client'
import { languages, type Language } from '../i18n'

const decimalComma = /^(\d+),(\d+)(\s*[a-zA-Z]*)$/
const group = /^([1-9]\d{0,2})([.,])(\d{3})(\s*[a-zA-Z]*)$/
const groups = /^[1-9]\d{0,2}(?:([.,])\d{3})(?:\1\d{3})+$/

/** pointed writes a decimal comma as the point that the server reads; 1,500 is left as it is, since it may be 1500. */
export const pointed = (text: string): string => (group.test(text.trim()) ? text.trim() : text.trim().replace(decimalComma, '$1.$2$3'))

/** listed writes a list that is parted by semicolons as the server reads it: items may have decimal commas. */
export const listed = (text: string): string => (text.includes(';') || withUnit(text) ? text.split(';').map(pointed).join(',') : text)

/** withUnit tells 0,5ms from a list: what stands before the comma has no unit, and a time needs one. */
const withUnit = (text: string): boolean => !group.test(text.trim()) && !!decimalComma.exec(text.trim())?.[3]

/** asNumber is a field's number; other text goes to the server, whose message names it, 1,5k as 1.5k. */
export const asNumber = (text: string): number | string => {
  const s = pointed(text)
  return s && !group.test(s) && Number.isFinite(Number(s)) ? Number(s) : s
}

/** above is a field's figure above zero; another is refused by the name of its field, as the form writes units that a message would quote. */
export function above<S extends Record<string, string>>(s: S, k: keyof S & string): number {
  const v = Number(pointed(s[k]!))
  if (s[k]!.trim() === '' || !Number.isFinite(v) || v <= 0) throw new Problem(s[k]!, badFigure, k)
  return v
}

/** ways are the ways to write what a text may mean; none where it is plain. */
export function ways(text: string, kind: Kind, lang: Language): string[] {
  const s = text.trim()
  if (kind === 'list' && withUnit(s)) return []
  if (kind === 'list') return lang === 'vi' && !s.includes(';') && /\d,\d/.test(s) ? [s.split(',').join('; '), ...(decimalComma.test(s) ? [s.replace(decimalComma, '$1.$2$3')] : [])] : []
  if (groups.test(s)) return [s.replace(/[.,]/g, '')]
  const [, front, sign, rest, unit] = group.exec(s) ?? []
  if (!rest || (kind === 'decimal' && lang === 'en' && sign === '.')) return []
  const less = `${Number(front + '.' + rest)}`
  const whole = !less.includes('.')
  if (kind === 'whole' && !whole) return [front! + rest + unit]
  return [front! + rest + unit, less + (whole || rest.endsWith('0') ? '' : '0') + unit] // 1.2340 is no group
}

type Kind = 'whole' | 'decimal' | 'list'

/** clear is the question, if none of its fields could be read in another language's way; else it throws what to write. */
export function clear<S extends Record<string, string>>(s: S, kinds: Partial<Record<keyof S & string, Kind>>, lang: Language): S {
  for (const [k, kind] of Object.entries(kinds) as [string, Kind][]) {
    const write = ways(s[k]!, kind, lang)
    if (write.length) throw new Problem(s[k]!, unclear, k, '', { write })
  }
  return s
}

/** settled is a question with its numbers written as every language reads them, once clear has let them pass: an address that is
 * passed on asks the same of whoever opens it. What no language doubts stays as it was typed. */
export function settled<S extends Record<string, string>>(s: S, kinds: Partial<Record<keyof S & string, Kind>>, lang: Language): S {
  const out: Record<string, string> = { ...s }
  for (const [k, kind] of Object.entries(kinds) as [string, Kind][]) {
    const text = s[k]!
    if (ways(text, kind, lang).length || (Object.keys(languages) as Language[]).every((x) => !ways(text, kind, x).length)) continue
    out[k] = kind === 'list' ? text.split(',').map((x) => x.trim()).join('; ') : pointed(text).replace(group, '$1.$30$4') // 1.2500 is no group
  }
  return out as S
}
