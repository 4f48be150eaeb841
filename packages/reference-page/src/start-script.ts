// The script that starts the viewer: with what it shows, and without everything in it that would
// ask another host or send a reader there.

const settings = {
  // Of another host, as are telemetry, the client's button, the developer's tools, the agent and
  // the assistants' connector.
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  // A key that is typed in is kept nowhere.
  persistAuth: false,
  authentication: { preferredSecurityScheme: 'apiKey' },
  documentDownloadType: 'json',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
}

export const startScript = (documentPath: string): string =>
  `Scalar.createApiReference('#reference', ${JSON.stringify({ url: documentPath, ...settings })})\n`
