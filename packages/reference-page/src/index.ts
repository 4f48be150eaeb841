// The package's entry: the page that shows the API's document, as files for whoever serves them.
export { createReferencePage } from './reference-page.ts'
export type { PageFile, PageFiles, ReferencePageOptions } from './reference-page.ts'
