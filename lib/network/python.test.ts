import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NetworkServer, startNetworkServer, TENANT } from './testing/network-server.ts';

let net: NetworkServer;
let got: { method?: string | undefined; url?: string | undefined; headers: Record<string, unknown>; body: string }[] =
  [];
beforeAll(async () => {
  net = await startNetworkServer();
  await net.server.call('POST', '/api/instances', { id: 'posix-box', tenant: TENANT });
});
afterAll(() => net.stop());
beforeEach(async () => {
  got = [];
  await net.allow([{ url: `${net.api}/` }, { url: `${net.plain}/` }, { url: 'https://nowhere.test/' }]);
  net.tls.answer = (_request, response) => response.end('over TLS');
  net.answer = async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { method, url, headers } = request;
    got.push({ method, url, headers, body: Buffer.concat(pieces).toString() });
    if (url === '/missing') response.writeHead(404, { 'x-why': 'gone' }).end('gone');
    else if (url === '/go') response.writeHead(302, { location: '/there' }).end();
    else if (url === '/inside') response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    else if (url === '/large') response.end(Buffer.alloc(10_000_000, 'é'));
    else response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).end(`at ${url}`);
  };
});

/** Runs Python; returns what it prints as JSON. */
async function python(code: string, id = 'box'): Promise<unknown> {
  const source = `import json\nAPI, PLAIN = ${JSON.stringify(net.api)}, ${JSON.stringify(net.plain)}\n${code}`;
  const { json } = await net.server.call<{ stdout: string; stderr: string }>('POST', `/api/instances/${id}/eval`, {
    language: 'python',
    code: source,
  });
  expect(json.stderr).toBe('');
  return JSON.parse(json.stdout);
}

test('urllib gets, posts, follows redirects and raises errors with their status', async () => {
  const said = await python(`
import urllib.error, urllib.parse, urllib.request
with urllib.request.urlopen(API + "/x") as response:
    first = [response.status, response.read().decode(), response.geturl() == API + "/x"]
form = urllib.parse.urlencode({"a": "ü"}).encode()
request = urllib.request.Request(PLAIN + "/post", data=form, headers={"X-Mine": "yes"}, method="PUT")
second = urllib.request.urlopen(request, timeout=5)
third = urllib.request.urlopen(PLAIN + "/go")
try:
    urllib.request.urlopen(PLAIN + "/missing")
except urllib.error.HTTPError as error:
    fourth = [error.code, error.headers["x-why"], error.read().decode()]
large = urllib.request.urlopen(PLAIN + "/large").read()
print(json.dumps([first, second.headers.get_all("set-cookie"), third.geturl()[-6:], fourth, len(large), large[:2].decode()]))`);
  expect(said).toEqual([[200, 'over TLS', true], ['a=1', 'b=2'], '/there', [404, 'gone', 'gone'], 10_000_000, 'é']);
  expect(got[0]).toMatchObject({ method: 'PUT', url: '/post', body: 'a=%C3%BC', headers: { 'x-mine': 'yes' } });
});

test('http.client sends several requests over what it takes for one connection, chunked ones too', async () => {
  const said = await python(`
import http.client
from urllib.parse import urlsplit
connection = http.client.HTTPConnection(urlsplit(PLAIN).netloc, timeout=5)
texts = []
for path in ("/1", "/2"):
    connection.request("GET", path)
    texts.append(connection.getresponse().read().decode())
connection.request("POST", "/3", body=iter([b"ab", b"c"]), encode_chunked=True, headers={"Transfer-Encoding": "chunked"})
third = connection.getresponse()
texts.append([third.status, third.read().decode()])
connection.request("HEAD", "/4")
answer = connection.getresponse()
texts.append([answer.status, answer.read().decode()])
secure = http.client.HTTPSConnection(urlsplit(API).netloc)
secure.request("GET", "/s")
texts.append(secure.getresponse().read().decode())
print(json.dumps(texts))`);
  expect(said).toEqual(['at /1', 'at /2', [200, 'at /3'], [200, ''], 'over TLS']);
  expect(got[2]).toMatchObject({ method: 'POST', body: 'abc' });
  expect(got[2]?.headers).not.toHaveProperty('transfer-encoding');
});

test('what is refused or fails is the error that Python has for it', async () => {
  const said = await python(`
import urllib.error, urllib.request
said = []
for url in ("https://nowhere.test/", "https://elsewhere.test/", PLAIN + "/inside", "http://127.0.0.1/"):
    try:
        urllib.request.urlopen(url)
    except urllib.error.URLError as error:
        said.append([type(error.reason).__name__, str(error.reason)])
print(json.dumps(said))`);
  expect(said).toEqual([
    ['gaierror', expect.stringContaining('the name does not resolve')],
    ['PermissionError', expect.stringContaining('GET https://elsewhere.test is not allowed for this sandbox')],
    ['PermissionError', expect.stringContaining('GET http://169.254.169.254 is not allowed')],
    ['PermissionError', expect.stringContaining('is not allowed')],
  ]);
});

test('Python says in one sentence that the policy has no network, and has no other way out', async () => {
  const said = await python(
    `
import socket, urllib.error, urllib.request
try:
    urllib.request.urlopen(PLAIN + "/x")
except urllib.error.URLError as error:
    first = str(error.reason)
try:
    socket.create_connection(("127.0.0.1", int(PLAIN.rsplit(":", 1)[1])), 1)
    second = "connected"
except OSError:
    second = "no"
print(json.dumps([first, second]))`,
    'posix-box',
  );
  expect(said).toEqual([
    expect.stringContaining('the policy "posix" of this sandbox reaches no network: the policy "network" does'),
    'no',
  ]);
  expect(got).toEqual([]);
});
