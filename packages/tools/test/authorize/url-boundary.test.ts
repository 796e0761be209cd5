import { describe, expect, test, vi } from 'vitest'
import { addressLiteral, isPublicAddress } from '../../src/authorize/public-address.ts'
import { ResourceError } from '../../src/authorize/resource-error.ts'
import type { UrlBoundary } from '../../src/authorize/resource.ts'
import { allowedUrl, guardedLookup } from '../../src/authorize/url-boundary.ts'
import type { LookupFunction } from '../../src/authorize/url-boundary.ts'

type Callback = Parameters<LookupFunction>[2]

const PUBLIC = '93.184.216.34'
const BOUNDARY: UrlBoundary = { hosts: ['api.example.com', '*.cdn.example.com', '127.0.0.1', '8.8.8.8'] }

const check = (url: string, boundary = BOUNDARY, addresses: readonly string[] = [PUBLIC]) =>
  allowedUrl(url, boundary, async () => addresses)

describe('allowed', () => {
  test.each([
    'https://api.example.com/x?y=1',
    'https://API.EXAMPLE.COM/',
    'https://api.example.com./',
    'https://api.example.com:443/',
    'https://a.cdn.example.com/',
    'https://a.b.cdn.example.com/',
    'https://8.8.8.8/',
  ])('%s', async (url) => {
    expect((await check(url)).url.protocol).toBe('https:')
  })

  test('other schemes, ports and private addresses where the boundary says so', async () => {
    const boundary = { hosts: ['127.0.0.1', 'intern'], schemes: ['http'], ports: [80, 8080], privateAddresses: true }
    expect((await check('http://127.0.0.1:8080/', boundary)).addresses).toEqual(['127.0.0.1'])
    expect((await check('http://intern/', boundary, ['10.0.0.1'])).addresses).toEqual(['10.0.0.1'])
  })
})

const failing = (): Promise<never> => Promise.reject(new Error('ENOTFOUND'))

describe('refused', () => {
  test.each([
    ['api.example.com', 'no absolute URL'],
    // `URL` reads api.example.com in all of them; curl and others read another host, or none.
    ['https://api.example.com\\@evil.example/', 'backslashes'],
    ['https:\\\\api.example.com/', 'backslashes'],
    ['https://api.exam\nple.com/', 'control characters'],
    ['\thttps://api.example.com/', 'control characters'],
    ['https://api.example.com/ x', 'white space'],
    ['http://api.example.com/', 'scheme'],
    ['file:///etc/passwd', 'scheme'],
    ['https://api.example.com@evil.example/', 'user name'],
    ['https://user:pw@api.example.com/', 'user name'],
    ['https://api.example.com:8443/', 'port'],
    ['https://evil.example/', 'host'],
    ['https://api.example.com.evil.example/', 'host'],
    ['https://xapi.example.com/', 'host'],
    ['https://api.example.com../', 'host'],
    ['https://cdn.example.com/', 'host'],
    ['https://xcdn.example.com/', 'host'],
    ['https://127.0.0.1/', 'not public'],
    ['https://2130706433/', 'not public'],
    ['https://0x7f.1/', 'not public'],
    ['https://[::ffff:7f00:1]/', 'not public'],
    ['https://[::1]/', 'host'],
  ])('%s', async (url, why) => {
    await expect(check(url)).rejects.toThrow(ResourceError)
    await expect(check(url)).rejects.toThrow(why)
  })

  test('a name of which one address is private, one without address, and one that is not found', async () => {
    await expect(check('https://api.example.com/', BOUNDARY, [PUBLIC, '169.254.169.254'])).rejects.toThrow('not public')
    await expect(check('https://api.example.com/', BOUNDARY, [])).rejects.toThrow('no address')
    await expect(allowedUrl('https://api.example.com/', BOUNDARY, failing)).rejects.toThrow('could not be resolved')
  })
})

describe('isPublicAddress', () => {
  test.each(['8.8.8.8', PUBLIC, '2606:4700::1111', '2a00:1450::5', '::ffff:8.8.8.8'])('%s is', (address) => {
    expect(isPublicAddress(address)).toBe(true)
  })

  test.each([
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '172.16.0.1',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    '::ffff:10.0.0.1',

    '64:ff9b::7f00:1',
    '2001::1',
    '2001:db8::1',
    '2002:7f00:1::',
    'fc00::1',
    'fe80::1',
    'fe80::1%eth0',
    'fec0::1',
    'ff02::1',
    'example.com',
    '',
    '1.2.3.4.5',
  ])('%s is not', (address) => {
    expect(isPublicAddress(address)).toBe(false)
  })

  test('one spelling for one address', () => {
    expect(addressLiteral('[::FFFF:7f00:1]')).toBe('127.0.0.1')
    expect(addressLiteral('example.com')).toBeUndefined()
  })
})

const answering = (address: Parameters<Parameters<LookupFunction>[2]>[1]): LookupFunction => {
  return (_hostname, _options, callback) => callback(null, address, 4)
}

describe('guardedLookup', () => {
  test('passes public addresses on as they came', () => {
    const callback = vi.fn<Callback>()
    guardedLookup(answering(PUBLIC))('api.example.com', {}, callback)
    expect(callback).toHaveBeenCalledExactlyOnceWith(null, PUBLIC, 4)
  })

  test.each([
    ['one private address', '10.0.0.1'],
    [
      'a private one among several',
      [
        { address: PUBLIC, family: 4 },
        { address: '::1', family: 6 },
      ],
    ],
    ['none', []],
  ])('refuses %s at the moment of connecting', (_what, address) => {
    const callback = vi.fn<Callback>()
    guardedLookup(answering(address))('api.example.com', { all: true }, callback)
    expect(callback.mock.calls[0]?.[0]).toBeInstanceOf(ResourceError)
  })

  test('an error of the resolver is its own', () => {
    const callback = vi.fn<Callback>()
    const error = new Error('ENOTFOUND')
    guardedLookup((_hostname, _options, done) => done(error, ''))('x', {}, callback)
    expect(callback.mock.calls[0]?.[0]).toBe(error)
  })
})
