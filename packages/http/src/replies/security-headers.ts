// What every reply tells browsers, whatever it says: take nothing of it for a page, and send nothing of its address on. HTTPS is the proxy's, and
// Strict-Transport-Security with it.

export const securityHeaders: Readonly<Record<string, string>> = {
  'X-Content-Type-Options': 'nosniff',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'no-referrer',
}
