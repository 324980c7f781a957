import { useMemo } from 'preact/hooks'
import { get } from '../api/client'
import type { ClusterDoc, DeviceDoc, ModelDoc } from '../api/catalogue'
import { useLoaded } from '../api/use'

/** Catalogue is what can be named: suggestions, any other legal name works too. */
export interface Catalogue {
  models: string[]
  clusters: string[]
}

export function useCatalogue(): Catalogue {
  const models = useLoaded('models', (s) => get<{ models: ModelDoc[] }>('models', s))
  const clusters = useLoaded('clusters', (s) => get<{ clusters: ClusterDoc[] }>('clusters', s))
  const gpus = useLoaded('gpus', (s) => get<{ gpus: DeviceDoc[] }>('gpus', s))
  return useMemo(
    () => ({
      models: models.value?.models.map((m) => m.name) ?? [],
      clusters: [
        ...(clusters.value?.clusters.map((c) => c.name) ?? []),
        ...(gpus.value?.gpus.map((g) => (g.aliases?.[0] ?? g.name) + 'x8') ?? []),
      ],
    }),
    [models.value, clusters.value, gpus.value],
  )
}
