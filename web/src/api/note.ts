// What stands beside an answer, as docs/formats.md states them: SI units, per GPU and direction. Only what
// the page shows is listed.

/** Note is a warning or an assumption with its kind and figures, beside its sentence in English. */
export interface Note {
  code: string
  text: string
  values?: Record<string, unknown>
}
