/**
 * Requests that are small to send and that a server without bounds takes long for: text for a socket, none with a key.
 * For tests.
 */
const HEAD = 'Host: dock.test\r\nConnection: close\r\n';
const SAME = 'Origin: http://dock.test\r\nSec-Fetch-Site: same-origin\r\n';
const FORM = 'multipart/form-data; boundary=xx';
const FLIGHT = 'RSC: 1\r\nNext-Router-State-Tree: ';

const numbered = (count: number, write: (at: string) => string) =>
  Array.from({ length: count }, (_, at) => write(at.toString(36)));
const get = (target: string, headers = '') => `GET ${target} HTTP/1.1\r\n${HEAD}Accept: text/html\r\n${headers}\r\n`;
const cookies = (text: string) => `Cookie: ${text}\r\n`;
const post = (target: string, type: string, body: string, headers = '') =>
  `POST ${target} HTTP/1.1\r\n${HEAD}${SAME}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;
const parts = (names: readonly string[], value = '1') =>
  `${names.map((name) => `--xx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`).join('')}--xx--\r\n`;
const nested = (depth: number) => `${'["",{"children":'.repeat(depth)}["",{}]${'}]'.repeat(depth)}`;

/** By what they try. `action`: the id of an action that the sign-in page has. */
export function cheapRequests(action: string): Record<string, string> {
  const call = `Next-Action: ${action}\r\nAccept: text/x-component\r\n`;
  return {
    '2 000 cookies': get('/', cookies(numbered(2000, (at) => `${at}=1`).join('; '))),
    '600 cookies of ours': get('/', cookies(numbered(600, (at) => `__Host-winterdock.${at}=1`).join('; '))),
    'one cookie of 14 kB': get('/signin', cookies(`__Host-winterdock.session_token=${'%20'.repeat(4600)}`)),
    'a cookie of brackets': get('/', cookies(`__Host-winterdock.list=${'['.repeat(4000)}`)),
    'semicolons for cookies': get('/', cookies(';'.repeat(15_000))),
    '7 000 query keys': get(`/signin?${'a&'.repeat(7000)}`),
    '3 500 different query keys': get(`/signin?${numbered(3500, (at) => `${at}=`).join('&')}`),
    '255 different query keys': get(`/signin?${numbered(255, (at) => `${at}=`).join('&')}`),
    '255 times one query key': get(`/signin?${'a&'.repeat(254)}a`),
    'a token of 15 kB': get(`/signin?token=${'a'.repeat(15_000)}`),
    'a way back of 15 kB': get(`/signin?to=/${'%2F'.repeat(5000)}`),
    'a path of 15 kB': get(`/${'a'.repeat(15_000)}`),
    'a path of 7 000 segments': get(`/${'a/'.repeat(7000)}`),
    'a path of slashes': get('/'.repeat(15_000)),
    'a path of escapes': get(`/sandboxes/${'%61'.repeat(5000)}`),
    'a file of the build that is none': get(`/_next/static/${'a/'.repeat(7000)}`),
    'an image of a long address': get(`/_next/image?url=${'a'.repeat(14_000)}`),
    'a deep state of the router': get('/signin', `${FLIGHT}${nested(800)}\r\n`),
    'a deep state, encoded': get('/signin', `${FLIGHT}${encodeURIComponent(nested(250))}\r\n`),
    'a state as deep as is taken': post('/signin', 'text/plain', '[]', `${call}${FLIGHT.slice(8)}${nested(80)}\r\n`),
    'a wide state of the router': get(
      '/signin',
      `${FLIGHT}["",{${numbered(700, (at) => `"${at}":["a",{}]`).join(',')}}]\r\n`,
    ),
    'a long address of the router': get('/signin', `RSC: 1\r\nNext-Url: /${'a/'.repeat(7000)}\r\n`),
    'languages without end': get('/signin', `Accept-Language: ${'a,'.repeat(7000)}\r\n`),
    'encodings without end': get('/signin', `Accept-Encoding: ${'gzip;q=0.1,'.repeat(1300)}\r\n`),
    'versions without end': get('/icon.svg', `If-None-Match: ${'"a",'.repeat(3500)}\r\n`),
    'ranges without end': get('/icon.svg', `Range: bytes=${'0-0,'.repeat(3500)}0-1\r\n`),
    'proxies without end': get('/signin', `X-Forwarded-For: ${'1.1.1.1,'.repeat(1800)}\r\n`),
    'a host of 15 kB': get('/signin').replace('dock.test', 'a.'.repeat(7000)),
    '600 headers': get('/signin', numbered(600, (at) => `x${at}: 1\r\n`).join('')),
    'parts of a type without end': post('/signin', `multipart/form-data${';a=b'.repeat(3500)}`, ''),
    'a form of 10 000 parts': post('/signin', FORM, parts(numbered(10_000, (at) => `a${at}`))),
    'a form of 1 000 parts and an action': post(
      '/signin',
      FORM,
      parts([...numbered(999, (at) => `a${at}`), `$ACTION_ID_${action}`]),
    ),
    'a form of 10 000 actions': post('/signin', FORM, parts(numbered(9000, (at) => `$ACTION_REF_${at}`))),
    'a part of 9 000 headers': post(
      '/signin',
      FORM,
      parts(['a']).replace('\r\n', `\r\n${numbered(9000, (at) => `x${at}: 1\r\n`).join('')}`),
    ),
    'a form of 400 kB of pairs': post('/signin', 'application/x-www-form-urlencoded', 'a=1&'.repeat(100_000)),
    'an action’s call of 900 kB': post('/signin', 'text/plain', `[${'1,'.repeat(450_000)}1]`, call),
    'a deep call of an action': post('/signin', 'text/plain', '['.repeat(30_000) + ']'.repeat(30_000), call),
    'a call that points at itself': post('/signin', FORM, parts(['0'], `[${'"$K1",'.repeat(9000)}1]`), call),
    'a call of an action of 15 kB': post('/signin', 'text/plain', '[]', `Next-Action: ${'a'.repeat(15_000)}\r\n`),
    'deep JSON for the auth library': post(
      '/api/auth/sign-out',
      'application/json',
      '['.repeat(30_000) + ']'.repeat(30_000),
    ),
    '2 000 cookies for the auth library': get(
      '/api/auth/get-session',
      cookies(numbered(2000, (at) => `${at}=1`).join('; ')),
    ),
    '2 000 cookies for the API': get('/api/me', cookies(numbered(2000, (at) => `${at}=1`).join('; '))),
    '7 000 query keys for the API': get(`/api/me?${'a&'.repeat(7000)}`),
    '7 000 query keys for a probe': get(`/healthz?${'a&'.repeat(7000)}`),
    'a key of spaces': get('/api/me', `Authorization: Bearer ${'a '.repeat(7000)}x\r\n`),
    'a path of the API without end': get(`/api/instances/${'a/'.repeat(7000)}`),
    'a stream from a line that is none': get('/api/events/stream', `Last-Event-ID: ${'9'.repeat(15_000)}\r\n`),
    '500 requests in one piece': `${'GET /signin HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(499)}${get('/signin')}`,
  };
}
