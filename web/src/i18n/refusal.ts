// A refusal as the page says it: in its language, under the name that the form gives the field.

import type { Problem } from '../api/client'
import type { Dict, Speech } from '.'
import { inVietnamese } from './phrases'
import { enProblems, viProblems } from './problems'

// What the forms call a key of the address, or a field of the API.
const labels = (t: Dict): Record<string, string> => ({
  model: t.ask.model, cluster: t.ask.cluster, precision: t.ask.precision, plan: t.ask.plan,
  nic: t.ask.nic, mem: t.ask.memory, nodeGpus: t.ask.nodeGpus, batch: t.ask.batch, global_batch: t.ask.batch, seq: t.ask.seq, mtp: t.ask.mtp, tokens: t.ask.tokens, price: t.ask.price,
  isl: t.serving.isl, osl: t.serving.osl, concurrency: t.serving.concurrency, 'slo: ttft': t.serving.ttft, 'slo: tpot': t.serving.tpot, ttft: t.serving.ttft, tpot: t.serving.tpot, rtt: t.serving.rtt, net_rtt: t.serving.rtt,
  spec: t.serving.spec, weights: t.serving.weights, kv: t.serving.kv, engine: t.serving.engine, url: t.measured.service, requests: t.measured.perStage,
})
export const labelOf = (field: string, t: Dict): string => labels(t)[field] ?? field

/** labelled is a refusal that begins with a field's name, under the name that the form gives it. */
export function labelled(text: string, t: Dict): string {
  const [, name, rest] = /^(slo: \w+|\w+)(:? .*)$/s.exec(text) ?? []
  const noun = name === 'plan' && !rest!.startsWith(':') // "plan key …", "plan tp=3 …"
  return name && rest && labels(t)[name] && !noun ? labels(t)[name] + rest : text
}

// Keys of a cluster's description, as the fields of the form that edit them.
const edits: Record<string, string> = { 'node.gpus': 'nodeGpus', 'node.nic_gb_per_s_per_gpu': 'nic', 'achieved.nic_gb_per_s': 'nic', 'peak.memory_gb': 'mem', 'achieved.memory_gb': 'mem' }

/** editedName is the name under which a cluster with edited figures is asked about. */
export const editedName = (name: string): string => name + suffix
const suffix = '-edited'

// Keys of the address whose fields the API calls otherwise.
const asked: Record<string, string> = { batch: 'global_batch', rtt: 'net_rtt' }

/** fieldOf is the field of the form that a refusal is about: of an edited cluster the figure that was edited. */
export function fieldOf(error: Problem): string {
  const edit = edits[String(error.values.key)]
  if (edit) return edit
  return error.code === 'nodes_unfilled' && String(error.values.cluster).endsWith(suffix) ? 'nodeGpus' : (asked[error.field] ?? error.field)
}

/** Refusal is the sentence, and whether it is left in the server's English on a page of another language. */
export interface Refusal {
  text: string
  english: boolean
}

/** refusal words what the server refused. */
export function refusal(error: Problem, { lang, t, f }: Speech): Refusal {
  const own = lang === 'vi' ? (viProblems[error.code]?.(error.values, f) ?? inVietnamese(error.detail)) : enProblems[error.code]?.(error.values, f)
  const label = labels(t)[fieldOf(error)]
  const text = labelled(own ?? error.detail, t)
  return { text: label && !text.startsWith(label) ? `${label}: ${text}` : text, english: lang !== 'en' && own === undefined }
}
