// How secrets are written that come from the environment or from the data folder.

export interface SecretForm<A> {
  /** What it takes, for a sentence. */
  readonly told: string
  /** undefined where it is not written so. */
  readonly parse: (text: string) => A | undefined
}

/** For `Authorization: Bearer`. */
export const tokenForm: SecretForm<string> = {
  told: 'at least 16 visible characters',
  parse: (text) => (/^[!-~]{16,}$/.test(text) ? text : undefined),
}

export const keyForm: SecretForm<Uint8Array> = {
  told: '32 bytes in base64',
  parse: (text) => {
    const bytes = Buffer.from(text, 'base64')
    return bytes.length === 32 && /^[A-Za-z0-9+/_-]{43}=?$/.test(text)
      ? new Uint8Array(bytes)
      : undefined
  },
}
