// A certificate that nobody vouches for, made anew for each run, so that no key lies about.
import { generateKeyPairSync, sign } from 'node:crypto'

/** A value in DER: its tag, its length, its parts. */
const der = (tag: number, ...parts: readonly Uint8Array[]): Buffer => {
  const content = Buffer.concat(parts)
  const length =
    content.length < 128
      ? [content.length]
      : content.length < 256
        ? [0x81, content.length]
        : [0x82, content.length >> 8, content.length & 255]
  return Buffer.concat([Buffer.from([tag, ...length]), content])
}

const text = (tag: number, value: string): Buffer => der(tag, Buffer.from(value))

const make = (): { readonly key: string; readonly cert: string } => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = der(0x30, der(0x06, Buffer.from('2a8648ce3d040302', 'hex')))
  const name = der(0x30, der(0x31, der(0x30, der(0x06, Buffer.from('550403', 'hex')), text(0x0c, 'nobody'))))
  const validity = der(0x30, text(0x17, '200101000000Z'), text(0x18, '20990101000000Z'))
  const body = der(
    0x30,
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    validity,
    name,
    publicKey.export({ format: 'der', type: 'spki' }),
  )
  const signature = der(0x03, Buffer.from([0]), sign('sha256', body, privateKey))
  const cert = der(0x30, body, ecdsaWithSha256, signature).toString('base64')
  return {
    key: privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
    cert: `-----BEGIN CERTIFICATE-----\n${cert}\n-----END CERTIFICATE-----\n`,
  }
}

export const selfSigned = make()
