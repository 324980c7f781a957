// What the server words without a code, in Vietnamese: refusals and doubts by the format string that makes them (internal/plan,
// internal/unit, internal/ask, internal/compare, and of other packages what this page can come upon), names of operations, layers and causes as they are. Tests hold both lists equal to the sources.

import names from './names.vi.json' with { type: 'json' }
import phrases from './phrases.vi.json' with { type: 'json' }

const escaped = (s: string): string => s.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** fieldNames writes flags as the API does: as the fields of the same name. */
const fieldNames = (s: string): string => s.replace(/--([a-z%][a-z0-9-]*)/g, (_, name: string) => name.replaceAll('-', '_'))

const verbs: Record<string, string> = { d: '(-?\\d+)', f: '(-?\\d+(?:\\.\\d+)?)', g: '(\\S+)', v: '(\\S+)', q: '("(?:[^"\\\\]|\\\\.)*")', s: '(.+?)' }

// The parts of which a quantity's error is made: what was expected, and why it is not that.
const what = (k: string): boolean => /^an? [a-z ]+$/.test(k)
const why = (k: string): boolean => /^(is|has|names|does) /.test(k)
const quantity = '%s as %s %s: '

interface Phrase {
  at: RegExp
  said: string
  rounded: boolean[] // which values are figures that were cut to a few digits: they are written in the language's way
  weight: number // letters that are fixed: the most telling pattern goes first
}

function phrase(format: string, said: string): Phrase {
  const parts = fieldNames(format).split(/%(?:\.\d)?([dfgvqs])/).map((p, i) => (i % 2 ? p : p.replaceAll('%%', '%')))
  const at = parts.map((p, i) => (i % 2 ? verbs[p]! : escaped(p))).join('')
  const rounded = [...format.matchAll(/%(\.\d)?[dfgvqs]/g)].map((m) => m[1] !== undefined)
  return { at: new RegExp(`^${at}$`), said, rounded, weight: parts.filter((_, i) => i % 2 === 0).join('').length }
}

let made: { whole: Phrase[]; fragments: Phrase[] } | undefined

/** all patterns; made when they are first needed, as English readers never need them. */
function all(): { whole: Phrase[]; fragments: Phrase[] } {
  if (made) return made
  const list = Object.entries(phrases as Record<string, string>)
  const fragments = list.filter(([k]) => what(k) || why(k)).map(([k, v]) => phrase(k, v))
  const either = (of: (k: string) => boolean): string => '(' + list.filter(([k]) => of(k)).map(([k]) => phrase(k, '').at.source.slice(1, -1).replace(/\((?!\?)/g, '(?:')).join('|') + ')'
  const whole = list
    .filter(([k]) => !what(k) && !why(k))
    .map(([k, v]) => {
      if (!k.startsWith(quantity)) return phrase(k, v)
      const rest = phrase(k.slice(quantity.length - 2), v)
      return { at: new RegExp(`^${verbs.q} as ${either(what)} ${either(why)}${rest.at.source.slice(1)}`), said: v, rounded: [], weight: rest.weight }
    })
  whole.sort((a, b) => b.weight - a.weight)
  return (made = { whole, fragments })
}

const fill = (p: Phrase, found: RegExpExecArray): string =>
  p.said.replace(/\{(\d)\}/g, (_, i: string) => {
    const value = found[Number(i) + 1]!
    for (const f of all().fragments) {
      const part = f.at.exec(value)
      if (part) return fill(f, part)
    }
    return p.rounded[Number(i)] ? figures.format(Number(value)) : mends(listed(value))
  })

const figures = new Intl.NumberFormat('vi', { maximumSignificantDigits: 4 })

// What a bench measured, as its reasons name it; TTFT stays.
const times: Record<string, string> = { 'gap between chunks': 'khoảng cách giữa các mảnh', 'time of a request': 'thời gian của một yêu cầu', 'load not stated': 'tải không được nêu' }

/** listed words a value that is a time's name, a load, or sentences of the list joined by semicolons. */
function listed(value: string): string {
  const load = /^(\d+) in flight$/.exec(value)
  if (load) return `${load[1]} yêu cầu đồng thời`
  return times[value] ?? value.split('; ').map((x) => wholly(x) ?? x).join('; ')
}

/** wholly words a sentence that the list has. */
function wholly(text: string): string | undefined {
  for (const p of all().whole) {
    const found = p.at.exec(text)
    if (found) return fill(p, found)
  }
  return undefined
}

// Kinds of words that a field chooses from, and examples of quantities, as sentences of the list hold them. A count's example is one that every field of a count takes.
const kinds: Record<string, string> = { 'plan key': 'khóa kế hoạch', schedule: 'lịch', field: 'trường', '15360 or 14.8T': '15360', '0.193ms': '0,193ms', '2, $2 or 2USD': '2, $2 hoặc 2USD', '0.85 or 85%': '0.85 hoặc 85%' }

/** mends words a part of a sentence: a kind, an example, a guess at what was meant, what may be used. */
const mends = (s: string): string =>
  kinds[s] ??
  s
    .replace(/^did you mean (.+)\?$/, (_, names: string) => `có phải ý bạn là ${names.replaceAll(' or ', ' hoặc ')}?`)
    .replace(', or modules joined by +:', ', hoặc các khối nối bằng +:')
    .replace(/^use (one of )?(.+)$/, (_, one: string | undefined, names: string) => `hãy dùng ${one ? 'một trong ' : ''}${names.replaceAll(' or ', ' hoặc ')}`)
    .replace(/^((?:[\w=-]+, )*[\w=-]+) or ([\w=-]+)$/, '$1 hoặc $2')
    .replace(/^\/docs lists the fields$/, '/docs liệt kê các trường')

// Parts of a value that a refusal is about.
const pieces: Record<string, string> = { acceptance: 'tỷ lệ chấp nhận' }

/** inVietnamese words a sentence of the server; undefined where the list lacks it, and it stays English. */
export function inVietnamese(text: string): string | undefined {
  const name = (names as Record<string, string>)[text]
  if (name) return name
  const whole = wholly(text)
  if (whole) return whole
  const named = /^([\w .[\]"=:/]{1,60}?): (.+)$/.exec(text) // of a field
  const rest = named && inVietnamese(named[2]!)
  return rest ? `${pieces[named[1]!] ?? named[1]!.replace(/^speculation "/, '"')}: ${rest}` : undefined
}

/** nameInVietnamese words an operation, or a layer behind whose name its count stands. */
export function nameInVietnamese(text: string): string | undefined {
  const [, name, count] = /^(.*?)( x \d+)?$/.exec(text)!
  const said = (names as Record<string, string>)[name!]
  return said && said + (count ?? '').replace('x', '×')
}
