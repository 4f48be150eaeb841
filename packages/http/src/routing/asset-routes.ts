// Files beside the API, read when they are first asked for and kept from then on: packed for whoever takes that, and not sent again to whoever holds them.
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import { assetOf, assetReply } from '../replies/asset.ts'
import type { PlainRoute, PlainRoutes } from './plain-routes.ts'

export interface AssetFile {
  /** With a Content-Type, and how long caches may keep it as Cache-Control. */
  readonly headers: Readonly<Record<string, string>>
  readonly read: () => Promise<string | Uint8Array>
}

/** By path, to the letter. */
export type AssetFiles = Readonly<Record<`/${string}`, AssetFile>>

export const assetRoutes = (files: AssetFiles): PlainRoutes =>
  Object.fromEntries(Object.entries(files).map(([path, file]) => [path, assetRoute(file)]))

const pack = promisify(gzip)

const assetRoute = ({ headers, read }: AssetFile): PlainRoute => {
  const common = { ...headers, Vary: 'Accept-Encoding' }
  const whole = kept(async () => assetOf(await read(), common))
  const packed = kept(async () => assetOf(await pack((await whole()).body), { ...common, 'Content-Encoding': 'gzip' }))
  return async ({ headers: sent }) => assetReply(await (takesGzip(sent['accept-encoding']) ? packed() : whole()), sent['if-none-match'])
}

/** Does it once; again only where it failed. */
const kept = <A>(make: () => Promise<A>): (() => Promise<A>) => {
  let made: Promise<A> | undefined
  return () => {
    made ??= make().catch((error: unknown) => {
      made = undefined
      throw error
    })
    return made
  }
}

// RFC 9110, 12.5.3; a weight of 0 is a no.
const takesGzip = (acceptEncoding: string | readonly string[] | undefined): boolean =>
  String(acceptEncoding ?? '')
    .split(',')
    .some((coding) => /^\s*gzip\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding))
