// `pnpm contract`: makes the client's contract.ts anew from the API's
// document.
import { writeFile } from 'node:fs/promises'
import { createOpenApiDocument } from '@tradeport/http'
import { contractFile, contractTypes } from './contract-types.ts'

await writeFile(contractFile, await contractTypes(createOpenApiDocument()))
