// The address as the state of what is shown: paths below /console, and filters in the query.
import { useEffect, useState } from 'preact/hooks'
import { listen } from './listen.ts'

const changed = 'console:navigated'

export const navigate = (url: string, how: 'pushState' | 'replaceState' = 'pushState'): void => {
  history[how](null, '', url)
  dispatchEvent(new Event(changed))
}

/** The current address; renders again when it changes. */
export const useAddress = () => {
  const [url, setUrl] = useState(location.href)
  useEffect(() => listen(window, ['popstate', changed], () => setUrl(location.href)), [])
  const { pathname, searchParams } = new URL(url)
  return { path: pathname, query: searchParams }
}

/** The filters of the address. */
export const useQuery = (): URLSearchParams => useAddress().query

/** Changes parameters of the query; an empty value removes one. */
export const setQuery = (changes: Readonly<Record<string, string>>): void => {
  const url = new URL(location.href)
  for (const [name, value] of Object.entries(changes))
    if (value === '') url.searchParams.delete(name)
    else url.searchParams.set(name, value)
  navigate(url.pathname + url.search, 'replaceState')
}

/** Follows a link to a page of the console without loading it anew. */
export const followLink = (event: MouseEvent): void => {
  const link = event.target instanceof Element ? event.target.closest('a') : null
  const isPlain = event.button === 0 && !(event.metaKey || event.ctrlKey || event.shiftKey)
  if (link === null || !isPlain || link.target !== '') return
  if (
    link.hash !== '' ||
    link.origin !== location.origin ||
    !/^\/console(\/|$)/.test(link.pathname)
  )
    return
  event.preventDefault()
  const isOtherPage = link.pathname !== location.pathname
  navigate(link.pathname + link.search)
  scrollTo(0, 0)
  // Readers who do not see the page hear that there is another, and go on from its beginning.
  if (isOtherPage) document.getElementById('main')?.focus({ preventScroll: true })
}
