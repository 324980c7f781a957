import type { Point } from '../api/serving'
import { unpack } from '../share/pack'
import type { Serving } from '../state'
import { above, asNumber, listed } from '../ui/numbers'

/** numbers of the question, as they are read. */
export const numbers = { isl: 'whole', osl: 'whole', ttft: 'decimal', tpot: 'decimal', price: 'list', rtt: 'list' } as const

/** requestOf is the body of a question about serving. */
export async function requestOf(s: Serving): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {
    model: s.config ? await unpack(s.config) : s.model,
    cluster: s.clusters,
    isl: asNumber(s.isl),
    osl: asNumber(s.osl),
    concurrency: s.concurrency,
  }
  const slo = [s.ttft.trim() && `ttft=${above(s, 'ttft')}s`, s.tpot.trim() && `tpot=${above(s, 'tpot')}ms`].filter(Boolean).join(',')
  if (slo) body.slo = slo
  const optional = { plan: s.plan, spec: s.spec, weights: s.weights, kv: s.kv, net_rtt: listed(s.rtt), price: listed(s.price), engine: s.engine }
  for (const [k, v] of Object.entries(optional)) if (v.trim()) body[k] = v.trim()
  return body
}

/** planText is a serving plan as --plan takes it. */
export function planText(p: Point['plan']): string {
  if (p.prefill !== undefined) return `prefill:${p.prefill},workers=${p.prefill_workers};decode:${p.decode},workers=${p.decode_workers}`
  return ['tp', 'pp', 'dp', 'ep', 'dcp', 'replicas', 'redundant']
    .filter((k) => p[k] !== undefined && !(k === 'redundant' && p[k] === 0) && !(k !== 'tp' && p[k] === 1))
    .map((k) => `${k}=${p[k]}`)
    .join(',')
}
