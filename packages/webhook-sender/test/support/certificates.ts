// An authority and certificates, generated for each run.
import { generate } from 'selfsigned'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

type Options = NonNullable<Parameters<typeof generate>[1]>

const issue = async (commonName: string, options: Options): Promise<Certificate> => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: commonName }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    ...options,
  })
  return { key, cert }
}
const issueAuthority = (name: string) =>
  issue(name, {
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true },
    ],
  })
const certify = (ca: Certificate, name: string, ip: string, dates: Options = {}) =>
  issue(name, {
    ca,
    ...dates,
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: name },
          { type: 7, ip },
        ],
      },
    ],
  })

const authority = await issueAuthority('Test authority')
const unknownAuthority = await issueAuthority('Unknown authority')
const [name, ip] = ['receiver.example', '127.0.0.1'] as const
const expired = { notBeforeDate: new Date('2025-12-31'), notAfterDate: new Date('2026-01-01') }

export const certificates = {
  /** The authority's certificate, in PEM. */
  ca: authority.cert,
  /** For receiver.example and 127.0.0.1, except for one. */
  receivers: {
    good: await certify(authority, name, ip),
    otherName: await certify(authority, 'elsewhere.example', '127.0.0.2'),
    expired: await certify(authority, name, ip, expired),
    unknown: await certify(unknownAuthority, name, ip),
  },
}
