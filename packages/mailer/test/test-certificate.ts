// A certificate for localhost that is its own authority, made anew for each run, so that no key
// lies about.
import { generate } from 'selfsigned'

const made = await generate([{ name: 'commonName', value: 'localhost' }], {
  keyType: 'ec',
  curve: 'P-256',
  algorithm: 'sha256',
  extensions: [
    { name: 'basicConstraints', cA: true },
    { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
  ],
})

export const testCertificate = { key: made.private, cert: made.cert }
