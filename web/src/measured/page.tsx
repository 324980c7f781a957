import { get } from '../api/client'
import type { RunHead } from '../api/types'
import { useLoaded } from '../api/use'
import { useLang } from '../i18n'
import type { Measured } from '../state'
import { Card, Empty, Failed, Skeleton } from '../ui/parts'

export default function MeasuredPage(_: { s: Measured; set: (c: Partial<Measured>) => void }) {
  const { t } = useLang()
  const runs = useLoaded('runs', (signal) => get<{ runs: RunHead[] }>('runs', signal))
  return (
    <div class="page one">
      <div class="main">
        <Card title={t.measured.title}>
          {runs.error ? runs.error.status === 404 ? <Empty>{t.measured.none}</Empty> : <Failed error={runs.error} /> : !runs.value ? <Skeleton /> : <Empty>{t.measured.empty}</Empty>}
        </Card>
      </div>
    </div>
  )
}
