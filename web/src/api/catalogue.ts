// The catalogues and the list of runs, as docs/formats.md states them: SI units, per GPU and direction. Only what
// the page shows is listed.

export interface Figure {
  name: string
  unit: string
  peak?: { value: number; grade: string; source: string }
  achieved?: { value: number; grade: string; source: string }
}

export interface DeviceDoc {
  name: string
  aliases: string[] | null
  figures: Figure[]
}

export interface ClusterDoc {
  name: string
  gpus: number
  nodes: number
  node: {
    gpus: number
    scale_up_kind: string
    nic_bytes_per_second_per_gpu: { value: number } | null
    nic_kind: string
    nic_latency_seconds: { value: number } | null
    shared_nic: boolean
    rails: boolean
    oversubscription: number
  }
  price_usd_per_gpu_hour?: number | null
  device: DeviceDoc
}

export interface ModelDoc {
  name: string
  hf_id?: string
  architecture?: string
  parameters: number
  active_parameters: number
  layers: number
  mtp_modules: number
  attention: string
  experts: number
  kv_bytes_per_token: number
  max_context: number
  unsupported?: string[] | null
}

export interface RunHead {
  id: string
  kind: string
  title?: string
  name?: string // that its user gave it
  model?: string
  target?: string // the service, or the cluster
  started?: string
}
