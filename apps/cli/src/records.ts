// The operator's records as the API answers them.

export interface Tenant {
  readonly id: string
  readonly name: string
  readonly hasProviderToken: boolean
}

export interface TenantView extends Tenant {
  readonly counts: Readonly<
    Record<'users' | 'accounts' | 'apiKeys' | 'accessTokens' | 'desks', number>
  >
}

export interface User {
  readonly id: string
  readonly tenantId: string
  readonly email: string
  readonly plan: string
}

export interface DeskLimits {
  readonly maxOpenLots: number | null
  readonly maxOpenPositions: number | null
  readonly allowedSymbols: readonly string[] | null
}

export interface TraderLimits extends DeskLimits {
  readonly maxLotsPerOrder: number | null
  readonly approvalAboveLots: number | null
}

export interface Account {
  readonly id: string
  readonly tenantId: string
  readonly userId: string
  readonly name: string
  readonly brokerType: string
  readonly accountNumber: string
  readonly server: string
  readonly purpose: string
  readonly isDemo: boolean
  readonly currency: string
  readonly status: string
  readonly providerAccountId: string | null
  readonly lastReadAt: string | null
  readonly limits: TraderLimits | null
  readonly challenges: readonly { readonly startedAt: string; readonly status: string }[]
}

export interface Credential {
  readonly id: string
  readonly userId: string
  readonly scopes: readonly string[]
  readonly expiresAt: string | null
  readonly enabled: boolean
}

export interface ApiKey extends Credential {
  readonly name: string
  readonly ipAllowlist: readonly string[]
}

export interface AccessToken extends Credential {
  readonly applicationId: string
}

export interface Desk {
  readonly id: string
  readonly tenantId: string
  readonly accounts: readonly string[]
  readonly limits: DeskLimits
}

export interface PlannedChange {
  readonly section: string
  readonly id: string
  readonly action: 'create' | 'change' | 'remove'
  readonly fields: readonly {
    readonly field: string
    readonly from?: unknown
    readonly to?: unknown
  }[]
}

/** What applying a document would change, and the orders under way that it touches. */
export interface DocumentPlan {
  readonly changes: readonly PlannedChange[]
  readonly ordersUnderWay: readonly TouchedOrder[]
}

export interface TouchedOrder {
  readonly id: string
  readonly accountId: string
  readonly step: string
  readonly effects: readonly string[]
}

/** An order, also one that has ended. */
export interface OrderUnderWay {
  readonly id: string
  readonly tenantId: string
  readonly userId: string
  readonly accountId: string
  readonly symbol: string
  readonly type: string
  readonly volume: number
  readonly status: string
  readonly fillPrice?: number
  readonly filledVolume?: number
  readonly positionId?: string
  readonly rejectReason?: { readonly code: string; readonly message: string }
  readonly createdAt: string
  readonly destination: {
    readonly providerAccountId: string
    readonly region: string | null
    readonly platform: string
  }
  readonly step: string
  readonly sentAt: string | null
  readonly lookups: number | null
  readonly brokerOrderId: string | null
  readonly dueAt: string | null
  readonly finished: { readonly at: string; readonly by: string; readonly reason: string } | null
}

export interface Issued {
  readonly apiKeys: readonly { readonly id: string; readonly key: string }[]
  readonly accessTokens: readonly { readonly id: string; readonly token: string }[]
}

/** What the service says of one thing that it stands on. */
export interface Check {
  readonly name: string
  readonly status: 'ok' | 'warn' | 'fail'
  readonly message: string
  /** What to do; null where nothing is to be done. */
  readonly action: string | null
}
