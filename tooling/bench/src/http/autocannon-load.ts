// The load where wrk is not installed: `node autocannon-load.js <url> <connections> <seconds> <file
// with one API key per line>` prints what wrk.lua prints.
import { readFileSync } from 'node:fs'
import autocannon from 'autocannon'

const [url = '', connections = '', seconds = '', keysFile = ''] = process.argv.slice(2)
const keys = readFileSync(keysFile, 'utf8').trim().split('\n')
const result = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(seconds),
  requests: keys.map((key) => ({ headers: { 'x-api-key': key } })),
})
const failed = result.non2xx + result.errors + result.timeouts
process.stdout.write(
  `${JSON.stringify({ perSecond: result.requests.average, p99Ms: result.latency.p99, failed })}\n`,
)
