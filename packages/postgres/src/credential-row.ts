// API keys and access tokens as rows, and with their user what a request needs to know of them (section 5).
import { plans } from '@tradeport/domain'
import type { Credential, ListedAccessToken, ListedApiKey, StoredAccessToken, StoredApiKey, UserPlan } from '@tradeport/domain'
import * as t from 'io-ts'
import type { Knex } from 'knex'
import * as column from './columns.ts'
import { decodeRow, epochMs, orNull, toTimestamptz } from './columns.ts'

const ownerProps = { tenant_id: column.tenantId, plan: column.oneOf('plan', plans) }

const listedApiKeyProps = {
  id: t.string,
  user_id: column.userId,
  name: t.string,
  scopes: t.array(column.scope),
  ip_allowlist: t.array(t.string),
  expires_at: column.orAbsent(column.instant),
  enabled: t.boolean,
}

const listedAccessTokenProps = {
  id: t.string,
  user_id: column.userId,
  application_id: t.string,
  scopes: t.array(column.scope),
  expires_at: column.orAbsent(column.instant),
  enabled: t.boolean,
}

const hashProps = { hash: column.credentialHash }
const apiKeyProps = { ...listedApiKeyProps, ...hashProps }
const accessTokenProps = { ...listedAccessTokenProps, ...hashProps }

const columnsOf =
  (table: string, props: t.Props) =>
  (knex: Knex): readonly (string | Knex.Raw)[] =>
    Object.keys(props).map((name) => (name === 'expires_at' ? epochMs(knex, `${table}.${name}`) : `${table}.${name}`))

export const apiKeyColumns = columnsOf('api_keys', apiKeyProps)
export const accessTokenColumns = columnsOf('access_tokens', accessTokenProps)
export const listedApiKeyColumns = columnsOf('api_keys', listedApiKeyProps)
export const listedAccessTokenColumns = columnsOf('access_tokens', listedAccessTokenProps)
export const credentialOwnerColumns: readonly string[] = Object.keys(ownerProps).map((name) => `users.${name}`)

const decodeApiKey = decodeRow('api_keys', t.strict(apiKeyProps))
const decodeAccessToken = decodeRow('access_tokens', t.strict(accessTokenProps))
const decodeListedApiKey = decodeRow('api_keys', t.strict(listedApiKeyProps))
const decodeListedAccessToken = decodeRow('access_tokens', t.strict(listedAccessTokenProps))
const decodeOwnedApiKey = decodeRow('api_keys', t.strict({ ...apiKeyProps, ...ownerProps }))
const decodeOwnedAccessToken = decodeRow('access_tokens', t.strict({ ...accessTokenProps, ...ownerProps }))

const decodeUserPlan = decodeRow('users', t.strict({ id: column.userId, ...ownerProps }))

export const userPlanOfRow = (row: unknown): UserPlan => {
  const { id, tenant_id: tenantId, plan } = decodeUserPlan(row)
  return { owner: { tenantId, userId: id }, plan }
}

export const apiKeyOfRow = (row: unknown): StoredApiKey => {
  const { user_id: userId, ip_allowlist: ipAllowlist, expires_at: expiresAt, ...key } = decodeApiKey(row)
  return { ...key, userId, ipAllowlist, expiresAt }
}

export const accessTokenOfRow = (row: unknown): StoredAccessToken => {
  const { user_id: userId, application_id: applicationId, expires_at: expiresAt, ...token } = decodeAccessToken(row)
  return { ...token, userId, applicationId, expiresAt }
}

export const listedApiKeyOfRow = (row: unknown): ListedApiKey => {
  const { user_id: userId, ip_allowlist: ipAllowlist, expires_at: expiresAt, ...key } = decodeListedApiKey(row)
  return { ...key, userId, ipAllowlist, expiresAt }
}

export const listedAccessTokenOfRow = (row: unknown): ListedAccessToken => {
  const { user_id: userId, application_id: applicationId, expires_at: expiresAt, ...token } = decodeListedAccessToken(row)
  return { ...token, userId, applicationId, expiresAt }
}

export const apiKeyCredentialOfRow = (row: unknown): Credential => {
  const key = decodeOwnedApiKey(row)
  return {
    kind: 'api_key',
    id: key.id,
    owner: { tenantId: key.tenant_id, userId: key.user_id },
    applicationId: null,
    plan: key.plan,
    scopes: new Set(key.scopes),
    ipAllowlist: key.ip_allowlist,
    expiresAt: key.expires_at,
    enabled: key.enabled,
  }
}

export const accessTokenCredentialOfRow = (row: unknown): Credential => {
  const token = decodeOwnedAccessToken(row)
  return {
    kind: 'access_token',
    id: token.id,
    owner: { tenantId: token.tenant_id, userId: token.user_id },
    applicationId: token.application_id,
    plan: token.plan,
    scopes: new Set(token.scopes),
    ipAllowlist: [],
    expiresAt: token.expires_at,
    enabled: token.enabled,
  }
}

export const rowOfApiKey = ({ userId, ipAllowlist, expiresAt, ...key }: StoredApiKey) => ({
  ...key,
  user_id: userId,
  ip_allowlist: ipAllowlist,
  expires_at: orNull(toTimestamptz)(expiresAt),
})

export const rowOfAccessToken = ({ userId, applicationId, expiresAt, ...token }: StoredAccessToken) => ({
  ...token,
  user_id: userId,
  application_id: applicationId,
  expires_at: orNull(toTimestamptz)(expiresAt),
})
