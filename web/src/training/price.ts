import { useMemo } from 'preact/hooks'
import { post, type Problem } from '../api/client'
import type { BreakEven, SweepDoc } from '../api/training'
import { asProblem, useFollowing, useLoaded } from '../api/use'
import { sliders, type Training } from '../state'
import type { Answer } from './page'
import { asPriced, clusterOf, price, requestOf, type Priced } from './request'

export interface WallsState {
  plans: Priced[] // the ranked plans under the figures of the moment, in the order of the search
  best: Priced | undefined // the fastest of them that fits
  first: Priced | undefined // the search's best, priced anew
  at: Training // the figures of the moment, for which the plans are priced: the sliders may be ahead of them
  evens: BreakEven[] // of the search's best
  turns: Turns // where another plan takes the lead
  leads: Record<string, string> // by precision: the number of the plan that leads, '' where none fits
  moved: boolean
  pending: boolean // moved, and nothing is priced yet
  busy: boolean
  error: Problem | undefined
  failed: boolean // the walls stand where nothing can be priced: what is shown is as it was searched
}

/** Turns are the values of each figure at which another of the listed plans takes the lead. */
export type Turns = Record<Knob, { at: number; below: string; above: string }[]>
export type Knob = 'net' | 'up' | 'hbm' | 'batch'
const knobs: Record<Knob, string> = { net: 'network', up: 'scale-up', hbm: 'hbm', batch: 'batch' }

/** useWalls prices the plans of an answer again whenever a wall moves; nothing is searched. */
export function useWalls(answer: Answer, now: Training): WallsState {
  const ranked = useMemo(() => {
    const doc = answer.doc
    const list = doc.plans?.length ? doc.plans : [doc.best]
    return list.map(asPriced)
  }, [answer])
  const moved = sliders.some((k) => answer.asked[k] !== now[k])
  const key = moved ? JSON.stringify([sliders.map((k) => now[k]), ranked.map((p) => p.text), answer.asked]) : ''
  const loaded = useFollowing(key, (signal) => reprice(ranked, now, signal))
  const flips = useLoaded(JSON.stringify([answer.asked, ranked.map((p) => p.text)]), (signal) => sweep(ranked, answer, signal), 400)
  const failed = moved ? loaded.error : undefined
  const priced = moved && !failed ? loaded.value : undefined
  const plans = priced?.plans ?? ranked
  const best = leading(plans)
  return { plans, best, first: plans[0], at: priced?.at ?? answer.asked, pending: moved && !failed && !priced, evens: answer.doc.break_even ?? [], turns: flips.value?.turns ?? { net: [], up: [], hbm: [], batch: [] }, leads: flips.value?.leads ?? {}, moved, busy: moved && loaded.busy, error: failed ?? flips.error ?? flips.value?.error, failed: failed !== undefined }
}

/** knobsOf are the figures that a machine of so many GPUs and nodes has to turn: one node has no network, one GPU no link. */
export const knobsOf = (gpus: number, nodes: number): Knob[] => (Object.keys(knobs) as Knob[]).filter((k) => !(k === 'net' && nodes < 2) && !(k === 'up' && gpus < 2))

/** sweep asks, figure by figure and precision by precision, which plan leads where. What one question fails at does not lose the others' answers. */
async function sweep(plans: Priced[], { asked, doc }: Answer, signal: AbortSignal): Promise<{ turns: Turns; leads: Record<string, string>; error?: Problem }> {
  const turns: Turns = { net: [], up: [], hbm: [], batch: [] }
  const leads: Record<string, string> = {}
  if (plans.length < 2) return { turns, leads }
  let error: Problem | undefined
  const attempt = async (ask: () => Promise<void>) => {
    if (!signal.aborted) await ask().catch((e: unknown) => (error ??= asProblem(e)))
  }
  const { plan: _, ...body } = await requestOf(asked)
  const { gpus, node } = await clusterOf(asked.cluster)
  for (const k of knobsOf(gpus, gpus / (Number(asked.nodeGpus) || node.gpus)))
    await attempt(async () => {
      const found = await post<SweepDoc>('train/sweep', { ...body, sweep: knobs[k], plans: plans.map((p) => p.sent) }, signal)
      const name = (i: number | null) => (i === null ? '' : String(i + 1))
      turns[k] = found.flips.filter((x) => x.best_below !== x.best_above).map((x) => ({ at: x.crossing ?? Math.sqrt(x.low * x.high), below: name(x.best_below), above: name(x.best_above) }))
    })
  for (const { precision } of doc.precisions ?? [])
    await attempt(async () => {
      const { plans: list } = await reprice(plans, { ...asked, precision }, signal)
      const best = leading(list)
      leads[precision] = best ? String(list.indexOf(best) + 1) : ''
    })
  return { turns, leads, error }
}

/** leading is the fastest plan that fits. */
const leading = (plans: Priced[]): Priced | undefined => plans.filter((p) => p.result?.fits).sort((a, b) => a.result!.step_seconds - b.result!.step_seconds)[0]

async function reprice(ranked: Priced[], now: Training, signal: AbortSignal): Promise<{ plans: Priced[]; at: Training }> {
  const answers = await price(now, ranked.map((p) => p.sent), signal)
  return { plans: ranked.map((p, i) => ({ text: p.text, sent: p.sent, ...answers[i] })), at: now }
}
