// A certificate for localhost that is its own authority, made anew for each run, so that no key lies about.
import { generateKeyPairSync, sign } from 'node:crypto'

/** A value in DER: its tag, its length, its parts. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const { length } = content
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from([tag, ...head]), content])
}

const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value))

const objectId = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'))

const make = (): { readonly key: string; readonly cert: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = der(0x30, objectId('2a8648ce3d040302'))
  const name = der(0x30, der(0x31, der(0x30, objectId('550403'), text(0x0c, 'localhost'))))
  const validity = der(0x30, text(0x17, '200101000000Z'), text(0x18, '20990101000000Z'))
  const isAuthority = der(0x30, objectId('551d13'), der(0x04, der(0x30, der(0x01, Buffer.from([0xff])))))
  const alternativeName = der(0x30, objectId('551d11'), der(0x04, der(0x30, text(0x82, 'localhost'))))
  const body = der(
    0x30,
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
    der(0xa3, der(0x30, isAuthority, alternativeName)),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const cert = der(0x30, body, ecdsaWithSha256, signature).toString('base64')
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  }
}

export const testCertificate = make()
