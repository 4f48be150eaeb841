// An authority of the run's own and a certificate that it gave, made anew each time, so that no key
// lies about.
import { generate } from 'selfsigned'

export interface Certificate {
  readonly key: string
  readonly cert: string
}

const ec = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

const createAuthority = async (name: string): Promise<Certificate> => {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...ec,
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, digitalSignature: true, critical: true },
    ],
  })
  return { key: made.private, cert: made.cert }
}

const certify = async (
  authority: Certificate,
  name: string,
  dates: { readonly notAfterDate?: Date } = {},
): Promise<Certificate> => {
  const made = await generate([{ name: 'commonName', value: name }], {
    ...ec,
    ...dates,
    ...(dates.notAfterDate === undefined
      ? {}
      : { notBeforeDate: new Date(dates.notAfterDate.getTime() - 1_000) }),
    ca: authority,
    extensions: [
      { name: 'basicConstraints', cA: false },
      { name: 'extKeyUsage', serverAuth: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: name },
          ...(name === 'receiver.example'
            ? [{ type: 2, value: 'localhost' } as const, { type: 7, ip: '127.0.0.1' } as const]
            : []),
        ],
      },
    ],
  })
  return { key: made.private, cert: made.cert }
}

export interface Certificates {
  /** Of the authority, in PEM. */
  readonly ca: string
  /** For receiver.example, localhost and 127.0.0.1. */
  readonly good: Certificate
  readonly otherName: Certificate
  readonly expired: Certificate
  /** From an authority that nobody knows. */
  readonly unknown: Certificate
}

export const createCertificates = async (): Promise<Certificates> => {
  const [authority, stranger] = await Promise.all([
    createAuthority('Test authority'),
    createAuthority('Nobody'),
  ])
  return {
    ca: authority.cert,
    good: await certify(authority, 'receiver.example'),
    otherName: await certify(authority, 'elsewhere.example'),
    expired: await certify(authority, 'receiver.example', { notAfterDate: new Date('2026-01-01') }),
    unknown: await certify(stranger, 'receiver.example'),
  }
}
