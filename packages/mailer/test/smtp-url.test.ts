import * as O from 'fp-ts/lib/Option.js'
import { describe, expect, it } from 'vitest'
import { parseSender, parseSmtpUrl } from '../src/index.ts'

const plain = { isSecure: false, isLoopback: false, credentials: null }

describe('a mail server’s URL', () => {
  it.each([
    ['smtp://mail.example.com', { ...plain, host: 'mail.example.com', port: 587 }],
    ['smtp://mail.example.com:25/', { ...plain, host: 'mail.example.com', port: 25 }],
    ['smtps://mail.example.com', { ...plain, host: 'mail.example.com', port: 465, isSecure: true }],
    ['smtp://localhost:1025', { ...plain, host: 'localhost', port: 1_025, isLoopback: true }],
    ['smtp://127.0.0.1:1025', { ...plain, host: '127.0.0.1', port: 1_025, isLoopback: true }],
    ['smtp://[::1]:1025', { ...plain, host: '::1', port: 1_025, isLoopback: true }],
    ['smtp://127.0.0.1.example.com', { ...plain, host: '127.0.0.1.example.com', port: 587 }],
    ['smtp://mail_relay:25', { ...plain, host: 'mail_relay', port: 25 }],
    [
      'smtps://me%40example.com:p%40ss%3Aword%2F%20@mail.example.com:2465',
      {
        host: 'mail.example.com',
        port: 2_465,
        isSecure: true,
        isLoopback: false,
        credentials: { user: 'me@example.com', password: 'p@ss:word/ ' },
      },
    ],
  ])('may be %s', (text, server) => expect(parseSmtpUrl(text)).toStrictEqual(O.some(server)))

  it.each([
    '',
    'mail.example.com',
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
    'smtp://mail.example.com#a',
    'smtp://mail%2eexample.com',
    'smtp://-mail.example.com',
  ])('is not %j', (text) => expect(parseSmtpUrl(text)).toStrictEqual(O.none))
})

describe('a sender', () => {
  it.each([
    ['notices@example.com', { name: null, address: 'notices@example.com' }],
    ['<notices@example.com>', { name: null, address: 'notices@example.com' }],
    ['Tradeport <notices@example.com>', { name: 'Tradeport', address: 'notices@example.com' }],
    [
      'Handel, Nord <notices@example.com>',
      { name: 'Handel, Nord', address: 'notices@example.com' },
    ],
  ])('may be %s', (text, sender) => expect(parseSender(text)).toStrictEqual(O.some(sender)))

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
  ])('is not %j', (text) => expect(parseSender(text)).toStrictEqual(O.none))
})
