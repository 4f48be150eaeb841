// The console: signs in, and shows the page of the address.
import { render } from 'preact'
import { useCallback, useEffect, useState } from 'preact/hooks'
import { EventLog } from './event-log.tsx'
import { late } from './late.tsx'
import { followLink, useAddress } from './location.ts'
import { OrderPage } from './order.tsx'
import { Overview } from './overview.tsx'
import { PositionPage } from './position.tsx'
import {
  forgetKey,
  keepKey,
  keptKey,
  openSession,
  redeemLink,
  sentenceOf,
  whenIdle,
  type Session,
} from './session.ts'
import { SentList } from './sent-list.tsx'
import { SignIn } from './sign-in.tsx'
import { TradePage } from './trade.tsx'
import { Trades } from './trades.tsx'

const Report = late(async () => (await import('./report.tsx')).Report)
const Webhooks = late(async () => (await import('./webhooks.tsx')).Webhooks)
const WebhookPage = late(async () => (await import('./webhook.tsx')).WebhookPage)
const Trading = late(async () => (await import('./trading.tsx')).Trading)

const pages = [
  ['/console', 'Overview'],
  ['/console/trades', 'Trades'],
  ['/console/trading', 'Trading'],
  ['/console/events', 'Events'],
  ['/console/webhooks', 'Webhooks'],
] as const

const Console = () => {
  const [session, setSession] = useState<Session>()
  const [message, setMessage] = useState<string>()
  const [isOpening, setIsOpening] = useState(true)

  const signIn = useCallback(async (key: string, isKept: boolean): Promise<void> => {
    setIsOpening(true)
    try {
      setSession(await openSession(key))
      setMessage(undefined)
      if (isKept) keepKey(key)
    } catch (error) {
      forgetKey()
      setMessage(sentenceOf(error))
    }
    setIsOpening(false)
  }, [])
  const signOut = useCallback((why?: string): void => {
    forgetKey()
    setSession(undefined)
    setMessage(why)
  }, [])

  useEffect(() => {
    const resume = async (): Promise<void> => {
      try {
        const linked = await redeemLink()
        const key = linked ?? keptKey()
        if (key !== undefined) return await signIn(key, linked === undefined)
      } catch (error) {
        setMessage(sentenceOf(error))
      }
      setIsOpening(false)
    }
    void resume()
  }, [signIn])
  useEffect(() => session?.sent.stop, [session])
  useEffect(
    () =>
      session && whenIdle(() => signOut('You were signed out after 30 minutes without activity.')),
    [session, signOut],
  )

  if (session === undefined)
    return <SignIn message={message} isOpening={isOpening} onKey={signIn} />
  return <SignedIn session={session} onSignOut={() => signOut()} />
}

const SignedIn = ({ session, onSignOut }: { session: Session; onSignOut: () => void }) => {
  const { path, query } = useAddress()
  const { me } = session
  // The chosen account stays chosen on the next page.
  const account = query.get('account')
  const ofAccount = account === null ? '' : `?${new URLSearchParams({ account }).toString()}`
  const current = `/${path.split('/').slice(1, 3).join('/')}`
  return (
    // oxlint-disable-next-line jsx-a11y/click-events-have-key-events jsx-a11y/no-static-element-interactions
    <div onClick={followLink}>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="bar">
        <strong>Tradeport</strong>
        <nav aria-label="Pages">
          {pages.map(([url, name]) => (
            <a key={url} href={url + ofAccount} aria-current={url === current ? 'page' : undefined}>
              {name}
            </a>
          ))}
        </nav>
        <span class="who" title={`Credential ${me.credential.id}, plan ${me.plan}`}>
          {me.userId}
        </span>
        <button type="button" onClick={onSignOut}>
          Sign out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <Page session={session} path={path} query={query} />
      </main>
      <SentList sent={session.sent} />
      <footer>
        Times are of your zone, {Intl.DateTimeFormat().resolvedOptions().timeZone}; hover for UTC.
        Candles are drawn by{' '}
        <a href="https://www.tradingview.com/" target="_blank" rel="noreferrer">
          TradingView Lightweight Charts™
        </a>
        .
      </footer>
    </div>
  )
}

const Page = ({
  session,
  path,
  query,
}: {
  session: Session
  path: string
  query: URLSearchParams
}) => {
  const [, , name, encodedId] = path.split('/')
  const id = encodedId === undefined ? undefined : decodeURIComponent(encodedId)
  if (name === 'trades')
    return id === undefined ? (
      <Trades session={session} query={query} />
    ) : (
      <TradePage session={session} id={id} />
    )
  if (name === 'orders' && id !== undefined) return <OrderPage session={session} id={id} />
  if (name === 'positions' && id !== undefined) return <PositionPage session={session} id={id} />
  if (name === 'trading') return <Trading session={session} query={query} />
  if (name === 'report') return <Report session={session} query={query} />
  if (name === 'events') return <EventLog session={session} query={query} />
  if (name === 'webhooks')
    return id === undefined ? (
      <Webhooks session={session} />
    ) : (
      <WebhookPage key={id} session={session} id={id} query={query} />
    )
  return <Overview session={session} query={query} />
}

render(<Console />, document.getElementById('console') as HTMLElement)
