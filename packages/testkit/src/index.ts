// Equipment for the tests and tools of several packages.
export { createTcpProxy } from './tcp-proxy.ts'
export type { TcpProxy, TcpProxyOptions } from './tcp-proxy.ts'
