import * as O from 'fp-ts/lib/Option.js'
import { expect, it } from 'vitest'
import { parseSender, parseSmtpUrl } from '../src/index.ts'

const server = { port: 587, isSecure: false, isLoopback: false, credentials: undefined }

it.each([
  ['smtp://mail.example.com', { host: 'mail.example.com' }],
  ['smtp://mail.example.com:25/', { host: 'mail.example.com', port: 25 }],
  ['smtps://mail.example.com', { host: 'mail.example.com', port: 465, isSecure: true }],
  ['smtp://LOCALHOST', { host: 'LOCALHOST', isLoopback: true }],
  ['smtp://127.0.0.1', { host: '127.0.0.1', isLoopback: true }],
  ['smtp://[::1]:1025', { host: '::1', port: 1_025, isLoopback: true }],
  ['smtp://127.0.0.1.example.com', { host: '127.0.0.1.example.com' }],
  ['smtp://mail_relay', { host: 'mail_relay' }],
  [
    'smtps://me%40example.com:p%40ss%3Aword%2F%20@mail.example.com:2465',
    {
      host: 'mail.example.com',
      port: 2_465,
      isSecure: true,
      credentials: { user: 'me@example.com', pass: 'p@ss:word/ ' },
    },
  ],
])('%s is the URL of a mail server', (text, expected) =>
  expect(parseSmtpUrl(text)).toStrictEqual(O.some({ ...server, ...expected })),
)

it.each([
  '',
  'mail.example.com:25',
  'http://mail.example.com',
  'smtp:mail.example.com',
  'smtp://',
  'smtp://:25',
  'smtp://mail.example.com:0',
  'smtp://mail.example.com:65536',
  'smtp://user@mail.example.com',
  'smtp://:password@mail.example.com',
  'smtp://user:pass%zz@mail.example.com',
  'smtp://user:pass%00word@mail.example.com',
  'smtp://mail.example.com/inbox',
  'smtp://mail.example.com?pool=true',
  'smtp://mail%2eexample.com',
  'smtp://-mail.example.com',
])('%j is not the URL of a mail server', (text) => expect(parseSmtpUrl(text)).toStrictEqual(O.none))

it.each([
  ['notices@example.com', ''],
  ['<notices@example.com>', ''],
  ['Tradeport <notices@example.com>', 'Tradeport'],
  ['Handel, Nord <notices@example.com>', 'Handel, Nord'],
])('%s is a sender', (text, name) =>
  expect(parseSender(text)).toStrictEqual(O.some({ name, address: 'notices@example.com' })),
)

it.each([
  '',
  'Tradeport',
  'Tradeport <notices>',
  'notices@example.com, other@example.com',
  'Tradeport <notices@example.com> x',
  'Trade\r\nBcc: x@y.example <notices@example.com>',
  '<<notices@example.com>>',
  'Tradeport <a@b.example> <notices@example.com>',
  'notices@example.com\n',
])('%j is not a sender', (text) => expect(parseSender(text)).toStrictEqual(O.none))
