// An authority and certificates of receivers.
import { createCertificate } from '@tradeport/testkit/certificates'

const ca = await createCertificate({ name: 'Test authority' })
const own = { name: 'receiver.example', ip: '127.0.0.1', ca }
const expired = { notBeforeDate: new Date('2025-12-31'), notAfterDate: new Date('2026-01-01') }

export const certificates = {
  /** The authority's certificate, in PEM. */
  ca: ca.cert,
  /** For receiver.example and 127.0.0.1, except for one. */
  receivers: {
    good: await createCertificate(own),
    otherName: await createCertificate({ name: 'elsewhere.example', ip: '127.0.0.2', ca }),
    expired: await createCertificate({ ...own, ...expired }),
    unknown: await createCertificate({
      ...own,
      ca: await createCertificate({ name: 'Unknown authority' }),
    }),
  },
}
