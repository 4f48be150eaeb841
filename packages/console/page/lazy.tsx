// Parts whose files are loaded when they are first shown, so that the first page stays small.
import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Notice } from './parts.tsx'

export const lazy = <Props extends object>(
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> => {
  let loaded: ComponentType<Props> | undefined
  return (props: Props) => {
    const [Part, setPart] = useState(() => loaded)
    const [hasFailed, setHasFailed] = useState(false)
    useEffect(() => {
      const read = async (): Promise<void> => {
        try {
          loaded ??= await load()
          setPart(() => loaded)
        } catch {
          setHasFailed(true)
        }
      }
      void read()
    }, [])
    if (hasFailed)
      return (
        <Notice kind="warning">
          A part of the page cannot be loaded. Reload the page: the service may have been updated.
        </Notice>
      )
    return Part ? <Part {...props} /> : <p class="reading">Loading…</p>
  }
}
