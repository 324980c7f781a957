import { useLang } from '../i18n'
import { fileOf } from './runs'

/** Absent says which documents the address names that are not here, and offers to have them again or to go on without. */
export function Absent({ ids, onForget }: { ids: string[]; onForget: () => void }) {
  const { t } = useLang()
  if (!ids.length) return null
  return (
    <div class="stale absent" role="status">
      <p>{t.measured.absent(ids.map((id) => `“${fileOf(id)}”`).join(', '))}</p>
      <button type="button" onClick={onForget}>{t.measured.forget}</button>
    </div>
  )
}
