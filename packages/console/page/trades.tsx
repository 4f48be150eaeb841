// What happened: closed trades by the filters of the address, and their statistics.
import { Breakdown, type Filter } from './breakdown.tsx'
import { AccountFilter, PeriodFilter, QueryInput, QuerySelect, useChoice } from './filters.tsx'
import { momentOf, pluralIs } from './format.ts'
import { useQuery } from './location.ts'
import { TradeCharts, ResampledIntervals } from './insights.tsx'
import { Age, CurrencyProvider, Notice, ReadSection, Skipped, Warnings } from './parts.tsx'
import { useAccounts, useReply } from './read.ts'
import { useSession } from './session.ts'
import { Statistics } from './statistics.tsx'
import { TradeList } from './trade-list.tsx'
import { accountName } from './words.ts'

/** Days in the user's zone become moments; the service refuses what is no day. */
const filterOf = (query: URLSearchParams): Filter => {
  const [from, to] = [query.get('from'), query.get('to')]
  const accountId = query.get('account')
  const symbol = query.get('symbol')?.toUpperCase()
  const startDate = from && (momentOf(from, 'start') ?? from)
  const endDate = to && (momentOf(to, 'end') ?? to)
  return {
    ...(accountId && { accountId }),
    ...(symbol && { symbol }),
    ...(startDate && { startDate }),
    ...(endDate && { endDate }),
  }
}

const results = [
  ['all', 'All'],
  ['profit', 'Profit'],
  ['loss', 'Loss'],
] as const

export const Trades = () => {
  const query = useQuery()
  const { me, whyHidden } = useSession()
  const result = useChoice(
    'result',
    results.map(([one]) => one),
    'all',
  )
  const accounts = useAccounts()
  const isExtended = me.capabilities.includes('insights')
  const filter = filterOf(query)
  const key = JSON.stringify(filter)
  const statistics = useReply('trades', 'getTradeStatistics', [
    { ...filter, ...(isExtended && { extended: true }) },
  ])
  const list = accounts.data ?? []
  const currencies = new Set(
    list
      // Figures of all accounts are those of the accounts at brokers.
      .filter(({ id, brokerType }) =>
        filter.accountId ? id === filter.accountId : brokerType !== 'paper',
      )
      .map(({ currency }) => currency),
  )
  const currency = currencies.size === 1 ? [...currencies][0] : undefined
  if (statistics.whyHidden) return <Notice>{statistics.whyHidden}</Notice>
  return (
    <>
      <form class="filters" aria-label="Filters">
        <AccountFilter accounts={accounts} none="All" />
        <QueryInput label="Symbol" name="symbol" size={10} />
        <PeriodFilter />
      </form>
      <CurrencyProvider value={currency}>
        <ReadSection
          title="Statistics"
          read={statistics}
          aside={
            filter.accountId && (
              <a href={reportUrl(query)} title="Of all symbols, on a page that prints">
                Report of this account
              </a>
            )
          }
        >
          {({ data, meta: { warnings, provenance } }) => (
            <>
              <Warnings warnings={warnings} />
              <Statistics statistics={data} />
              <p class="quiet">
                From the broker's deals, read <Age iso={provenance.readAt} />.{' '}
                {provenance.skipped.length === 0
                  ? 'No position was left out.'
                  : `${pluralIs(provenance.skipped.length, 'position')} left out, because the deals do not add up to a trade:`}
              </p>
              <div class="quiet">
                <Skipped skipped={provenance.skipped} accountOf={(id) => accountName(list, id)} />
              </div>
            </>
          )}
        </ReadSection>
        {isExtended ? (
          <>
            <Breakdown filter={filter} />
            <TradeCharts filter={filter} />
            <ResampledIntervals key={key} filter={filter} />
          </>
        ) : (
          <Notice>{whyHidden('insights')}</Notice>
        )}
      </CurrencyProvider>
      <form class="filters" aria-label="Filter of the list">
        <QuerySelect label="Result" name="result" value={result} options={results} fallback="all" />
      </form>
      <TradeList
        key={`${key}${result}`}
        filter={{ ...filter, profitFilter: result }}
        accounts={list}
      />
    </>
  )
}

/** Of the account and the days of the filters. */
const reportUrl = (query: URLSearchParams): string => {
  const kept = [...query].filter(([name]) => ['account', 'from', 'to'].includes(name))
  return `/console/report?${new URLSearchParams(kept).toString()}`
}
