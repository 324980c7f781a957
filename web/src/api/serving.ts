// The documents about serving, as docs/formats.md states them: SI units, per GPU and direction. Only what
// the page shows is listed.

import type { PlanKeys } from './training'
import type { Note } from './note'

export interface Point {
  plan: PlanKeys
  cluster: string
  weights: string
  kv: string
  spec: string
  concurrency: number
  gpus: number
  ttft_seconds: number | null // mean over the rounds of a run
  ttft_burst_seconds: number | null // of the first round, sent all at once
  ttft_steady_seconds: number | null // of the others
  ttft_range_seconds: [number, number] | null // four in five measured ones
  tpot_range_seconds: [number, number] | null
  tpot_seconds: number | null
  tokens_per_second_per_user: number | null
  output_tokens_per_second: number | null
  output_tokens_per_second_per_gpu: number | null
  cost_per_million_output_tokens_usd: number | null
  kv_bytes_per_token: number
  memory_bytes_per_gpu: number
  memory_limit_bytes: number
  memory: Record<string, number>
  fits: boolean
  meets_slo: boolean
  bound: string
  kv_capacity_tokens: number
  max_concurrency: number
  net_rtt_seconds: number | null
}

export interface InferDoc {
  model: string
  clusters: string[]
  isl: number
  osl: number
  slo: { ttft_seconds: number; tpot_seconds: number } | null
  best: Point
  points: Point[] | null
  pareto: Point[] | null
  fronts: (Point[] | null)[]
  strategies: { change: string; ttft_seconds: number | null; tpot_seconds: number | null; output_tokens_per_second_per_gpu: number | null }[] | null // null where it does not fit
  latency: { net_rtt_seconds: number; tpot_seconds: number; wire_share: number }[] | null
  warnings: string[] | null
  assumptions: string[] | null
  notes?: Note[]
  counts: Record<string, number>
  search_seconds: number
  experts_touched_per_layer: number | null // null without routed experts
  routed_experts_per_layer: number | null
}

export interface RatioDoc {
  cells: {
    prefill_workers: number
    decode_workers: number
    meets_slo: boolean
    point: Point
  }[]
}
