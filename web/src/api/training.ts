// The documents about training, as docs/formats.md states them: SI units, per GPU and direction. Only what
// the page shows is listed.

import type { Note } from './note'

export type Bound = 'compute' | 'hbm' | 'nvlink' | 'network' | 'bubble' | 'latency'
export type PlanKeys = Record<string, string | number>

export interface Sol {
  compute_seconds: number
  hbm_seconds: number
  nvlink_seconds: number
  network_seconds: number
}

export interface PlanDoc {
  plan: PlanKeys
  text?: string
  fits: boolean
  memory_bytes_per_gpu: number
  memory_limit_bytes: number
  memory_rank: number
  memory: Record<string, number>
  step_seconds: number
  lower_seconds: number // all overlapped
  upper_seconds: number // nothing overlapped
  range_80: { low_seconds: number; high_seconds: number } // four in five measured ones
  tokens_per_second_per_gpu: number
  mfu: number
  hfu: number
  bound: Bound
  bound_link_kind: string // empty where no link binds
  bound_link_bytes_per_second: number // per GPU and direction
  sol: Sol
  exposed: Record<string, number>
  kernel_seconds: number
  microbatches: number
  days: number | null
  cost_usd: number | null
  gpu_hours_per_trillion_tokens: number
  warnings: string[] | null
  notes?: Note[]
}

export interface BreakEven {
  what: string
  unit: string
  now: number
  flip: number | null
  bound: Bound
  next_bound?: Bound
  note?: string
}

export interface Rejected {
  name: string
  plan: PlanKeys
  reason: string
  count: number
  result?: PlanDoc
}

export interface TrainDoc {
  model: string
  cluster: string
  global_batch: number
  seq: number
  precision: string
  best: PlanDoc
  plans: PlanDoc[] | null
  rejected: Rejected[] | null
  searched: number
  counts: Record<string, number>
  partial: boolean
  overall_best?: PlanDoc
  why_not?: string
  precisions: { precision: string; step_seconds: number; bound: Bound; sol: Sol; communication_over_compute: number }[] | null
  break_even: BreakEven[] | null
  published?: { step_seconds: number; plan: string; source: string; note?: string }
  warnings: string[] | null
  assumptions: string[] | null
  notes?: Note[]
  search_seconds: number
}

export interface Operation {
  layer: string
  layers: number
  operation: string
  part: string
  phase: string
  flops: number
  bytes: number
  flops_per_byte: number
  lower_seconds: number
  estimate_seconds: number
  upper_seconds: number
  bound: Bound
  algorithm?: string
  format?: string
}

export interface Roof {
  resource: string // compute, hbm, nvlink, network
  format?: string // of products
  achieved: number
  peak: number | null
  unit: string
}

export interface ExplainDoc {
  operations: Operation[]
  roofs: Roof[]
}

export interface Pass {
  pass: string // F, B, W, FB
  microbatch: number
  start: number
  end: number
  backward_microbatch?: number
  waits?: Record<string, number>
}

export interface TimelineDoc {
  step_seconds: number
  pipeline_seconds: number
  bubble_rate: number
  schedule: string
  memory_limit_bytes: number
  stages: {
    stage: number
    passes: Pass[]
    close: { collectives_seconds: number; optimizer_seconds: number }
    memory: Record<string, number>
  }[]
  sends: { from: number; to: number; microbatch: number; direction: string; link: string; start: number; end: number }[]
}

export interface SweepDoc {
  figure: string
  unit: string
  now: number
  flips: {
    low: number
    high: number
    crossing: number | null
    best_below: number | null
    best_above: number | null
    bound_below?: Bound
    bound_above?: Bound
  }[]
}
