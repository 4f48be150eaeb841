// A self-signed certificate for localhost, generated for each run.
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
