// `pnpm contract`: makes the client's generated files anew from the API.
import { writeFile } from 'node:fs/promises'
import { contractFiles } from './contract-types.ts'

for (const [path, text] of await contractFiles()) await writeFile(path, text)
