// What the command line sees of the machine it runs on, so that `main` alone touches the process.

export interface World {
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Where relative names of files begin: the folder in which the user called. */
  readonly folder: string
  /** Where the service keeps its data when DATA_DIR is unset. */
  readonly defaultDataFolder: string
  readonly readStandardInput: () => Promise<string>
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  /** The terminal's columns; null where the output goes elsewhere, and nothing is cut. */
  readonly width: number | null
  readonly hasColour: boolean
}
