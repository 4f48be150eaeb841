// The console: signs in, and shows the page of the address.
import { isTradeportError } from '@tradeport/client'
import { render, type ComponentChildren, type ComponentType } from 'preact'
import { useEffect, useErrorBoundary, useState } from 'preact/hooks'
import { EventLog } from './event-log.tsx'
import { capitalised, userZone } from './format.ts'
import { keepFocus } from './keep-focus.ts'
import { lazy } from './lazy.tsx'
import { listen } from './listen.ts'
import { followLink, useAddress } from './location.ts'
import { Overview } from './overview.tsx'
import { Notice } from './parts.tsx'
import {
  forgetSignIn,
  forgetUnresolved,
  keepSignIn,
  keptSignIn,
  openSession,
  redeemLink,
  SessionProvider,
  useSession,
  whenIdle,
  type Session,
} from './session.ts'
import { SentList } from './sent-list.tsx'
import { SignIn } from './sign-in.tsx'
import { sentenceOf } from './words.ts'
import { unresolvedWords } from './write-tracker.ts'

const Trades = lazy(async () => (await import('./trades.tsx')).Trades)
const Report = lazy(async () => (await import('./report.tsx')).Report)
const TradePage = lazy(async () => (await import('./trade.tsx')).TradePage)
const OrderPage = lazy(async () => (await import('./order.tsx')).OrderPage)
const PositionPage = lazy(async () => (await import('./position.tsx')).PositionPage)
const Webhooks = lazy(async () => (await import('./webhooks.tsx')).Webhooks)
const WebhookPage = lazy(async () => (await import('./webhook.tsx')).WebhookPage)
const Trading = lazy(async () => (await import('./trading.tsx')).Trading)

interface ConsolePage {
  /** Absent where the navigation does not lead to it. */
  readonly heading?: string
  readonly List?: ComponentType
  /** The page of one thing. */
  readonly Detail?: ComponentType<{ id: string }>
}

const overview: ConsolePage = { heading: 'Overview', List: Overview }

/** By the part of the address after /console. */
const pages: Readonly<Record<string, ConsolePage>> = {
  '': overview,
  trades: { heading: 'Trades', List: Trades, Detail: TradePage },
  trading: { heading: 'Trading', List: Trading },
  events: { heading: 'Events', List: EventLog },
  webhooks: { heading: 'Webhooks', List: Webhooks, Detail: WebhookPage },
  report: { List: Report },
  orders: { Detail: OrderPage },
  positions: { Detail: PositionPage },
}

const Page = ({ name, encodedId }: { name: string; encodedId: string | undefined }) => {
  const page = pages[name]
  if (page?.Detail && encodedId) {
    const id = decodeURIComponent(encodedId)
    return <page.Detail key={id} id={id} />
  }
  const { heading, List = Overview } = page?.List ? page : overview
  return (
    <>
      {heading && <h1>{heading}</h1>}
      <List />
    </>
  )
}

/** A page that cannot be shown, as with values of a newer service, hides nothing around it. */
const ErrorBoundary = ({ children }: { children: ComponentChildren }) => {
  const [error] = useErrorBoundary()
  return error ? (
    <Notice kind="warning" detail="Open another page and come back.">
      This page cannot be shown: {sentenceOf(error)}
    </Notice>
  ) : (
    <>{children}</>
  )
}

const Console = () => {
  const [session, setSession] = useState<Session>()
  const [message, setMessage] = useState<string>()
  const [isOpening, setIsOpening] = useState(true)

  const signIn = async (key: string, isKept: boolean): Promise<void> => {
    setIsOpening(true)
    try {
      setSession(await openSession(key))
      setMessage(undefined)
      keepSignIn(isKept ? key : undefined)
    } catch (error) {
      // A service that does not answer may do so when the tab is reloaded.
      if (isTradeportError(error) && error.code === 'UNAUTHORIZED') forgetSignIn()
      setMessage(sentenceOf(error))
    }
    setIsOpening(false)
  }
  const signOut = (why?: string): void => {
    const unresolved = unresolvedWords(session?.tracker.list() ?? [])
    forgetSignIn()
    forgetUnresolved()
    setSession(undefined)
    setMessage(unresolved === '' ? why : `${why ?? 'You were signed out.'} ${unresolved}`)
  }

  useEffect(() => {
    const resume = async (): Promise<void> => {
      try {
        const linked = await redeemLink()
        const kept = keptSignIn()
        const key = linked ?? kept?.key
        if (key) return await signIn(key, linked === undefined)
        if (kept) {
          forgetSignIn()
          setMessage(
            'Reloading the tab signed you out, because the key was only in its memory. Choose to stay signed in to keep it.',
          )
        }
      } catch (error) {
        setMessage(sentenceOf(error))
      }
      setIsOpening(false)
    }
    void resume()
  }, [])
  useEffect(() => {
    if (!session) return undefined
    const { ended, tracker } = session
    const stopListening = listen(ended, ['abort'], () =>
      signOut('You were signed out, because the service does not accept this key any more.'),
    )
    const stopWaiting = whenIdle(() =>
      signOut('You were signed out after 30 minutes without activity.'),
    )
    return () => {
      // A request of an ended session may be answered while another user is signed in.
      stopListening()
      stopWaiting()
      tracker.stop()
    }
  }, [session])

  if (!session) return <SignIn message={message} isOpening={isOpening} onKey={signIn} />
  return (
    <SessionProvider value={session}>
      <SignedIn onSignOut={() => signOut()} />
    </SessionProvider>
  )
}

/** No form loads another page; that of a dialog closes it. */
const keepPage = (event: Event): void => {
  if ((event.target as HTMLFormElement).method !== 'dialog') event.preventDefault()
}

const SignedIn = ({ onSignOut }: { onSignOut: () => void }) => {
  const { path, query } = useAddress()
  const { me } = useSession()
  const [, , name = '', encodedId] = path.split('/')
  useEffect(() => {
    document.title = `${capitalised(name || 'overview')} – Tradeport console`
  }, [name])
  // The chosen account stays chosen on the next page.
  const account = query.get('account')
  const ofAccount = account === null ? '' : `?${new URLSearchParams({ account }).toString()}`
  return (
    <div onClick={followLink} onSubmit={keepPage}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <strong>Tradeport</strong>
        <nav aria-label="Pages">
          {Object.entries(pages).map(
            ([key, { heading }]) =>
              heading && (
                <a
                  key={key}
                  href={`/console${key && `/${key}`}${ofAccount}`}
                  aria-current={key === name ? 'page' : undefined}
                >
                  {heading}
                </a>
              ),
          )}
        </nav>
        <span class="who" title={`Credential ${me.credential.id}, plan ${me.plan}`}>
          {me.userId}
        </span>
        <button type="button" title="Sign out in this tab" onClick={onSignOut}>
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <ErrorBoundary key={path}>
          <Page {...{ name, encodedId }} />
        </ErrorBoundary>
      </main>
      <SentList />
      <footer>
        Times are of your zone, {userZone}; hover for UTC. Candles are drawn by{' '}
        <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer">
          TradingView Lightweight Charts™
        </a>
        .
      </footer>
    </div>
  )
}

keepFocus()
render(<Console />, document.getElementById('console') as HTMLElement)
