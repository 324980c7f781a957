import { get, post } from '../api/client'
import type { ClusterDoc } from '../api/catalogue'
import type { PlanDoc, PlanKeys } from '../api/training'
import { unpack } from '../share/pack'
import type { Training } from '../state'
import { editedName } from '../i18n/refusal'
import { above, asNumber, pointed } from '../ui/numbers'

/** Walls are factors on the machine's figures, peak and achieved alike; 1 is the machine as it is. */
export interface Walls {
  network: number
  'scale-up': number
  hbm: number
}

export const wallsOf = (s: Training): Walls => ({ network: Number(s.net), 'scale-up': Number(s.up), hbm: Number(s.hbm) })

export const moved = (w: Walls): boolean => w.network !== 1 || w['scale-up'] !== 1 || w.hbm !== 1

/** Edits of the cluster that are asked for by text; empty is as catalogued. */
export const edited = (s: Training): boolean => s.mem !== '' || s.nodeGpus !== '' || s.nic !== ''

const clusters = new Map<string, Promise<ClusterDoc>>()

/** clusterOf is a cluster's document, asked for once; a name that is not known is asked for again. */
export function clusterOf(name: string): Promise<ClusterDoc> {
  const known = clusters.get(name)
  if (known) return known
  const asked = get<ClusterDoc>('clusters/' + encodeURIComponent(name))
  asked.catch(() => clusters.delete(name))
  clusters.set(name, asked)
  return asked
}

/** numbers of the question, as they are read. */
export const numbers = { batch: 'whole', seq: 'whole', mtp: 'whole', nodeGpus: 'whole', nic: 'decimal', mem: 'decimal', tokens: 'decimal', price: 'decimal' } as const

/** requestOf is the body of a question about training; an edited cluster is sent as a whole. */
export async function requestOf(s: Training): Promise<Record<string, unknown>> {
  const body: Record<string, unknown> = {
    model: s.config ? await unpack(s.config) : s.model,
    cluster: edited(s) ? clusterBody(s, await clusterOf(s.cluster)) : s.cluster,
    global_batch: asNumber(s.batch),
    seq: asNumber(s.seq),
    precision: s.precision,
    top: 8,
  }
  if (s.mtp.trim() && s.mtp.trim() !== '0') body.mtp = asNumber(s.mtp)
  if (s.plan.trim()) body.plan = s.plan.trim()
  if (s.tokens.trim()) body.tokens = pointed(s.tokens)
  if (s.price.trim()) body.price = pointed(s.price)
  const walls = wallsOf(s)
  if (moved(walls)) body.turn = walls
  return body
}

/** clusterBody states the cluster with the edited figures, in the keys of a cluster file. */
export function clusterBody(s: Training, c: ClusterDoc): Record<string, unknown> {
  const giga = (v: number) => v / 1e9
  const nic = s.nic ? above(s, 'nic') : c.node.nic_bytes_per_second_per_gpu && giga(c.node.nic_bytes_per_second_per_gpu.value)
  const node: Record<string, unknown> = { gpus: s.nodeGpus ? above(s, 'nodeGpus') : c.node.gpus, scale_up_kind: c.node.scale_up_kind }
  if (nic) Object.assign(node, { nic_kind: c.node.nic_kind, nic_gb_per_s_per_gpu: nic, shared_nic: c.node.shared_nic })
  if (c.node.nic_latency_seconds) node.nic_latency_us = c.node.nic_latency_seconds.value * 1e6
  const body: Record<string, unknown> = {
    name: editedName(c.name),
    device: c.device.name,
    gpus: c.gpus,
    node,
    fabric: { rails: c.node.rails, oversubscription: c.node.oversubscription },
  }
  const achieved: Record<string, number> = {}
  if (s.nic) achieved.nic_gb_per_s = above(s, 'nic')
  if (s.mem) {
    body.peak = { memory_gb: above(s, 'mem') }
    // What drivers report of the catalogue's device does not hold for the edited one.
    if (c.device.figures.some((x) => x.name === 'memory' && x.achieved)) achieved.memory_gb = above(s, 'mem')
  }
  if (Object.keys(achieved).length) body.achieved = achieved
  if (c.price_usd_per_gpu_hour) body.price_usd_per_gpu_hour = c.price_usd_per_gpu_hour
  return body
}

const quiet: Record<string, string | number> = {
  tp: 1, pp: 1, cp: 1, ep: 1, etp: 1, vpp: 1, fsdp: 0, shard: 0, sp: 0, rank: 0,
  offload: 'none', overlap: 'all', attention: 'flash', tuning: 'full', cpcomm: 'ring', recompute: 'none',
}

/** shortPlan is the plan as people write it: what stands at its default is left out. */
export function shortPlan(p: PlanDoc): string {
  if (p.text) return p.text
  const order = ['tp', 'pp', 'vpp', 'dp', 'cp', 'ep', 'etp', 'zero', 'shard', 'schedule', 'mbs', 'recompute', 'sp', 'cpcomm', 'offload', 'overlap', 'tuning', 'rank', 'attention']
  return order.filter((k) => shown(p.plan, k)).map((k) => `${k}=${p.plan[k]}`).join(',')
}

function shown(p: PlanKeys, k: string): boolean {
  if (p[k] === undefined || p[k] === quiet[k]) return false
  if (k === 'schedule') return Number(p.pp) > 1
  if (k === 'cpcomm') return Number(p.cp) > 1
  return true
}

/** layoutOf is a plan with every key fixed but the precision, which the question states. */
export function layoutOf(p: PlanKeys): PlanKeys {
  const { precision: _, ...rest } = p
  return rest
}

/**
 * familyOf is the question that an alternative answers: plain FSDP is asked for by its word, which lets
 * ranks take uneven shares of a batch; another alternative is asked for as it was found.
 */
export function familyOf(p: PlanKeys): PlanKeys | string {
  if (p.fsdp !== 1) return layoutOf(p)
  return p.shard ? `fsdp,shard=${p.shard}` : 'fsdp'
}

/** Priced is a plan under the figures of the moment: its result, or why it has none. */
export interface Priced {
  text: string // as people write it
  sent: PlanKeys // as the API takes it
  result?: PlanDoc
  error?: string
}

export const asPriced = (p: PlanDoc): Priced => ({ text: shortPlan(p), sent: layoutOf(p.plan), result: p })

/** price evaluates complete plans under a question's figures; nothing is searched, one that is not legal tells why. */
export async function price(s: Training, plans: (PlanKeys | string)[], signal: AbortSignal): Promise<{ result?: PlanDoc; error?: string }[]> {
  const { plan: _, ...body } = await requestOf(s)
  const doc = await post<{ plans: { plan: PlanDoc | null; error?: string }[] }>('train/price', { ...body, plans }, signal)
  return doc.plans.map((p) => (p.plan ? { result: p.plan } : { error: p.error ?? '' }))
}
