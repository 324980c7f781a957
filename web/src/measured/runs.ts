// Runs as they are kept or dropped: what kind of document it is, and its
// figures by name, so that two runs of one kind can be held together.

import type { Note } from '../api/note'

export type Kind = 'bench' | 'prediction' | 'simulation' | 'probe' | 'validation'

export interface Run {
  id: string
  kind: Kind
  title: string
  name?: string // that its user gave it: then it is the title
  started: string
  document: Json
}

export type Json = Record<string, unknown>

export interface RunFigure {
  name: string
  value: number
  unit: 's' | 'B/s' | 'FLOP/s' | 'tokens/s' | 'requests/s' | 'share' | 'count' | string
  better?: 'less' | 'more'
  few?: boolean // a quantile so far out that these requests do not bear it
}

/** leastOf is how many requests the interval of a quantile takes: internal/compare's Least, which a test holds it to. */
export const leastOf: Record<string, number> = { p99: 368 }

const few = (dist: unknown, q: string): boolean => Number(at(dist, 'n')) < (leastOf[q] ?? 0)

// A document that was dropped is known by its file's name, and stays in the browser that it was dropped in.
const prefix = 'file:'
export const isFile = (id: string): boolean => id.startsWith(prefix)
export const fileOf = (id: string): string => id.slice(prefix.length)

/** kindOf tells a document by its own fields; undefined where it is none of ours. */
export function kindOf(d: Json): Kind | undefined {
  if (Array.isArray(d.stages) && typeof d.url === 'string') return 'bench'
  if (typeof d.record === 'string' && Array.isArray(d.results)) return 'probe'
  if (Array.isArray(d.predictions) && typeof d.metrics === 'object') return 'validation'
  if (Array.isArray(d.points) && typeof d.best === 'object') return 'prediction'
  if (typeof d.whole === 'object' && typeof d.load === 'object') return 'simulation'
  return undefined
}

/** runOf makes a run of a dropped document. */
export function runOf(name: string, d: Json): Run | undefined {
  const kind = kindOf(d)
  if (!kind) return undefined
  const started = text(d.started) || text(d.when)
  const title = { bench: () => `${text(d.model)} @ ${text(d.url)}`, probe: () => text(d.source) || name, validation: () => name, prediction: () => `${text(d.model)} (${name})`, simulation: () => `${text(d.model)} @ ${text(d.cluster)}` }[kind]()
  return { id: prefix + name, kind, title, started, document: d }
}

const text = (v: unknown): string => (typeof v === 'string' ? v : '')
const list = (v: unknown): Json[] => (Array.isArray(v) ? (v as Json[]) : [])
const at = (d: unknown, ...path: string[]): unknown => path.reduce((x: unknown, k) => (x && typeof x === 'object' ? (x as Json)[k] : undefined), d)

/** Level words the load of a bench stage: in flight, or requests per second; 0 of both is a trace, or was not stated. */
export type Level = (concurrency: number, rate: number, mode?: string) => string

const levelOf = (s: Json, level: Level): string => level(Number(s.concurrency), Number(s.rate), text(s.mode))

/** Doubt is a warning and what of the run it is about, '' for the whole. */
export interface Doubt {
  where: string
  text: string
}

/** doubtsOf a run: what its document warns of, as a whole and of single stages, with kinds and figures where it has them. Why a client is not valid is about its stage and notValid. */
export function doubtsOf(d: Json, level: Level, notValid: string): { lines: Doubt[]; notes: Note[] } {
  const of = (x: Json, where: string): Doubt[] => texts(x.warnings).map((text) => ({ where, text }))
  const all = [...of(d, ''), ...stages(d).flatMap((s) => [...(invalid(s) ? texts(at(s, 'client', 'reasons')).map((text) => ({ where: `${levelOf(s, level)}, ${notValid}`, text })) : []), ...of(s, levelOf(s, level))])]
  const lines = [...new Set(all.map((x) => x.text))].map((text) => ({ text, where: [...new Set(all.filter((x) => x.text === text && x.where).map((x) => x.where))].join('; ') }))
  return { lines, notes: [d, ...stages(d)].flatMap((x) => list(x.notes) as unknown as Note[]) }
}

/** invalidIn lists the loads of a bench whose client was the bottleneck, or is not known not to be. */
export const invalidIn = (d: Json, level: Level): string[] => stages(d).filter(invalid).map((s) => levelOf(s, level))

const invalid = (s: Json): boolean => at(s, 'client', 'valid') === false
const texts = (v: unknown): string[] => (Array.isArray(v) ? v.map(String) : [])

export const stages = (d: Json): Json[] => list(d.stages)

/** figuresOf lists what a run measured, SI. */
export function figuresOf(r: Run, level: Level): RunFigure[] {
  const out: RunFigure[] = []
  const add = (name: string, v: unknown, unit: string, factor = 1, better?: 'less' | 'more', few = false) => {
    if (typeof v === 'number' && Number.isFinite(v)) out.push({ name, value: v * factor, unit, better, few })
  }
  if (r.kind === 'bench')
    for (const s of stages(r.document)) {
      const l = levelOf(s, level)
      for (const [k, name] of [['ttft_ms', 'TTFT'], ['tpot_ms', 'TPOT'], ['e2e_ms', 'E2E']] as const)
        for (const q of ['p50', 'p99'] as const) add(`${l}: ${name} ${q}`, at(s, k, q), 's', 1e-3, 'less', few(s[k], q))
      add(`${l}: output`, s.output_tokens_per_second, 'tokens/s', 1, 'more')
      add(`${l}: goodput`, s.goodput, 'requests/s', 1, 'more')
      add(`${l}: failed`, at(s, 'requests', 'failed'), 'count', 1, 'less')
    }
  if (r.kind === 'probe')
    for (const x of list(r.document.results)) {
      const shape = [x.m, x.n, x.k].every((v) => Number(v) > 0) ? ` ${String(x.m)}x${String(x.n)}x${String(x.k)}` : ''
      const name = [text(x.device), text(x.kind), text(x.what) + shape, text(x.format), Number(x.bytes) > 0 ? `${String(x.bytes)} B` : ''].filter(Boolean).join(' ')
      const unit = text(x.unit)
      add(name, x.value, unit === 'bytes/s' ? 'B/s' : unit, 1, unit === 's' ? 'less' : 'more')
    }
  if (r.kind === 'validation')
    for (const [k, m] of Object.entries((r.document.metrics ?? {}) as Record<string, Json>))
      for (const q of ['median_ape', 'mape', 'p90_ape', 'bias']) add(`${k}: ${q}`, m[q], 'share', 1, q === 'bias' ? undefined : 'less')
  if (r.kind === 'prediction')
    for (const p of list(r.document.points)) {
      const l = [text(p.cluster), text(p.spec) === 'none' ? '' : text(p.spec), level(Number(p.concurrency), 0)].filter(Boolean).join(', ')
      add(`${l}: TTFT`, p.ttft_seconds, 's', 1, 'less')
      add(`${l}: TPOT`, p.tpot_seconds, 's', 1, 'less')
      add(`${l}: output`, p.output_tokens_per_second, 'tokens/s', 1, 'more')
    }
  if (r.kind === 'simulation') {
    const s = r.document.steady ?? r.document.whole
    for (const [k, name] of [['ttft_seconds', 'TTFT'], ['tpot_seconds', 'TPOT'], ['e2e_seconds', 'E2E']] as const)
      for (const q of ['mean', 'p50', 'p99'] as const) add(`${name} ${q}`, at(s, k, q), 's', 1, 'less', few(at(s, k), q))
    add('output', at(s, 'output_tokens_per_second'), 'tokens/s', 1, 'more')
  }
  return out
}

/** Beside is one figure of two runs, SI; null where a run does not have it. */
export type Beside = Omit<RunFigure, 'value' | 'few'> & { a: number | null; b: number | null; fewA?: boolean; fewB?: boolean }

/** beside lays the figures of two runs side by side: those of a in its order, then those that only b has. */
export function beside(a: RunFigure[], b: RunFigure[]): Beside[] {
  const rows = new Map<string, Beside>(a.map(({ value, few, ...x }) => [x.name, { ...x, a: value, b: null, fewA: few }]))
  for (const { value, few, ...x } of b) rows.set(x.name, { ...x, a: rows.get(x.name)?.a ?? null, b: value, fewA: rows.get(x.name)?.fewA, fewB: few })
  return [...rows.values()]
}

/** pairs of a validation: what was predicted beside what was measured. */
export function pairsOf(d: Json): { id: string; measured: number; predicted: number; text: string }[] {
  return list(d.predictions)
    .map((p) => ({ id: text(p.id), measured: Number(p.measured), predicted: Number(p.predicted), text: ['model', 'gpu', 'engine', 'plan'].map((k) => text(p[k])).filter(Boolean).join(', ') }))
    .filter((p) => p.measured > 0 && p.predicted > 0)
}

/** groupsOf a validation, the farthest from the measurement first. */
export function groupsOf(d: Json): { name: string; n: number; median: number; bias: number }[] {
  return list(d.groups)
    .map((g) => ({
      name: Object.values((g.key ?? {}) as Json).filter((v) => v !== '' && v !== null).map(String).join(', '),
      n: Number(g.n),
      median: Number(g.median_ape),
      bias: Number(g.bias),
    }))
    .filter((g) => g.n > 0 && Number.isFinite(g.median))
    .sort((a, b) => b.median - a.median)
}

/** Load of a bench and its means, SI; null = the run does not state it, which is not 0. */
export interface Load {
  concurrency: number
  ttft: number | null
  tpot: number | null
  output: number | null
  isl: number
  osl: number
}

const stated = (v: unknown, factor = 1): number | null => (typeof v === 'number' && Number.isFinite(v) ? v * factor : null)

/** loadsOf a bench: its closed stages, which a prediction can answer. */
export function loadsOf(d: Json): Load[] {
  return stages(d)
    .filter((s) => Number(s.concurrency) > 0 && !(Number(s.rate) > 0))
    .map((s) => ({
      concurrency: Number(s.concurrency),
      ttft: stated(at(s, 'ttft_ms', 'mean'), 1e-3),
      tpot: stated(at(s, 'tpot_ms', 'mean'), 1e-3),
      output: stated(s.output_tokens_per_second),
      isl: Math.round(Number(at(s, 'input_tokens', 'mean')) || 0),
      osl: Math.round(Number(at(s, 'output_tokens', 'mean')) || 0),
    }))
}
