// TLS certificates of servers on loopback, made for each run.
import { generate } from 'selfsigned'

/** In PEM. */
export interface Certificate {
  readonly key: string
  readonly cert: string
}

interface CertificateOptions {
  /** `localhost` when left out. */
  readonly name?: string
  readonly ip?: string
  /** Who signs it; itself when left out, and then it may sign others. */
  readonly ca?: Certificate
  readonly notBeforeDate?: Date
  readonly notAfterDate?: Date
}

export const createCertificate = async ({
  name = 'localhost',
  ip,
  ...options
}: CertificateOptions = {}): Promise<Certificate> => {
  const { private: key, cert } = await generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    ...options,
    extensions: [
      { name: 'basicConstraints', cA: options.ca === undefined, critical: true },
      {
        name: 'subjectAltName',
        altNames: [
          { type: 2, value: name },
          ...(ip === undefined ? [] : [{ type: 7 as const, ip }]),
        ],
      },
    ],
  })
  return { key, cert }
}
