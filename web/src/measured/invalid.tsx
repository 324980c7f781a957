import { useLang } from '../i18n'
import { invalidIn, type Run } from './runs'
import { leveled } from './said'

/** Invalid says in the open at which loads of a run the client was not valid; nothing where it was. */
export function Invalid({ run, name }: { run: Run; name: string }) {
  const speech = useLang()
  const loads = invalidIn(run.document, leveled(speech))
  return loads.length ? <p class="note over invalid">{speech.t.measured.invalid(name, loads.join(', '))}</p> : null
}
