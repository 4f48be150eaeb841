// A certificate that nobody vouches for, made anew for each run, so that no key lies about.
import { generate } from 'selfsigned'

const made = await generate([{ name: 'commonName', value: 'nobody' }], { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' })

export const selfSigned = { key: made.private, cert: made.cert }
