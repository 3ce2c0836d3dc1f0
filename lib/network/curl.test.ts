import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type NetworkServer, startNetworkServer, TENANT } from './testing/network-server.ts';

let net: NetworkServer;
let got: { method?: string | undefined; url?: string | undefined; headers: object; body: string }[] = [];
beforeAll(async () => {
  net = await startNetworkServer();
  await net.server.call('POST', '/api/instances', { id: 'posix-box', tenant: TENANT });
});
afterAll(() => net.stop());
beforeEach(async () => {
  got = [];
  await net.allow([{ url: `${net.api}/` }, { url: `${net.plain}/` }]);
  net.answer = async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const { method, url, headers } = request;
    got.push({ method, url, headers, body: Buffer.concat(pieces).toString('latin1') });
    if (url === '/missing') response.writeHead(404).end('gone');
    else if (url === '/go') response.writeHead(302, { location: '/there' }).end('moved');
    else if (url === '/loop') response.writeHead(302, { location: '/loop' }).end();
    else if (url === '/bytes') response.end(Buffer.from([0, 255, 128, 10]));
    else response.writeHead(200, { 'x-a': 'b', date: 'now', 'content-type': 'text/plain' }).end(`at ${url}`);
  };
});

/** Runs a command; the variables API and PLAIN hold the origins. */
const sh = async (command: string, id = 'box') => {
  const { exit_code, stdout, stderr } = await net.sh(`API=${net.api} PLAIN=${net.plain}\n${command}`, id);
  return [exit_code, stdout, stderr];
};

test('curl prints what comes, into files too, with headers and what -w asks for', async () => {
  expect(await sh('curl -s $PLAIN/x')).toEqual([0, 'at /x', '']);
  expect(await sh('curl -sS $PLAIN/bytes | od -An -tx1')).toEqual([0, ' 00 ff 80 0a\n', '']);
  expect(await sh('curl -so out $PLAIN/x && cat out && curl -sO $PLAIN/a/name.txt && cat name.txt')).toEqual([
    0,
    'at /xat /a/name.txt',
    '',
  ]);
  const [code, head] = await sh('curl -si $PLAIN/x');
  expect([code, head]).toEqual([0, expect.stringMatching(/^HTTP\/1\.1 200 OK\r\nx-a: b\r\n[\s\S]*\r\n\r\nat \/x$/)]);
  expect((await sh('curl -sI $PLAIN/x'))[1]).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n$/);
  expect(await sh(`curl -s -o /dev/null -w '%{http_code} %{content_type}\\n' $PLAIN/x`)).toEqual([
    0,
    '200 text/plain\n',
    '',
  ]);
  expect(got.at(-2)?.method).toBe('HEAD');
});

test('curl sends data, forms, files, headers and users', async () => {
  await sh(`printf 'a\\nb' > f; curl -s -d x=1 -d @f $PLAIN/1; curl -s --data-binary @f -H 'Content-Type: text/x' -H 'Accept:' $PLAIN/2
    curl -s -G --data-urlencode 'q=a b&c' $PLAIN/3; curl -s -X PATCH --json '{"a":1}' $PLAIN/4; curl -s -T f $PLAIN/5
    echo piped | curl -s -d @- $PLAIN/6; curl -s -u me:pw -A agent -e from -b c=1 $PLAIN/7; curl -s -F 'up=@f;type=text/x' -F n=v $PLAIN/8`);
  expect(got).toMatchObject([
    { method: 'POST', url: '/1', body: 'x=1&ab', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
    { method: 'POST', url: '/2', body: 'a\nb', headers: { 'content-type': 'text/x' } },
    { method: 'GET', url: '/3?q=a%20b%26c', body: '' },
    { method: 'PATCH', url: '/4', body: '{"a":1}', headers: { 'content-type': 'application/json' } },
    { method: 'PUT', url: '/5', body: 'a\nb' },
    { method: 'POST', url: '/6', body: 'piped' },
    { headers: { authorization: 'Basic bWU6cHc=', 'user-agent': 'agent', referer: 'from', cookie: 'c=1' } },
    {
      method: 'POST',
      url: '/8',
      body: expect.stringContaining('name="up"; filename="f"\r\nContent-Type: text/x\r\n\r\na\nb\r\n'),
    },
  ]);
  expect(got[1]?.headers).not.toHaveProperty('accept');
});

test('curl follows redirects when asked to', async () => {
  expect(await sh('curl -s $PLAIN/go')).toEqual([0, 'moved', '']);
  expect(await sh(`curl -sL -w ' %{num_redirects} %{http_code}' $PLAIN/go`)).toEqual([0, 'at /there 1 200', '']);
  const [code, , stderr] = await sh('curl -sSL --max-redirs 3 $PLAIN/loop');
  expect([code, stderr]).toEqual([47, 'curl: (47) Maximum (3) redirects followed\n']);
});

test('curl ends with the exit codes of curl, and says why', async () => {
  net.names.set('wrong.test', ['127.0.0.1']);
  net.names.set('closed.test', ['127.0.0.1']);
  const { port } = new URL(net.api);
  await net.allow([
    ...[`${net.plain}/`, 'https://nowhere.test/', `https://wrong.test:${port}/`, 'http://closed.test:9/'].map(
      (url) => ({ url }),
    ),
    { url: '*', private: false },
  ]);
  net.names.set('inside.test', ['10.0.0.1']);
  const before = net.answer;
  net.answer = (request, response) => {
    if (request.url === '/slow') return;
    if (request.url === '/huge') response.end(Buffer.alloc(17 * 1024 * 1024));
    else if (request.url === '/cut') response.writeHead(200, { 'content-length': '9' }).flushHeaders();
    else return before(request, response);
    if (request.url === '/cut') response.destroy();
  };
  const cases: [string, number, string][] = [
    ['curl -sS https://nowhere.test/', 6, 'Could not resolve host: nowhere.test'],
    ['curl -sS http://closed.test:9/', 7, 'Failed to connect to closed.test:9'],
    ['curl -sS http://inside.test/', 7, 'has an address that is not public'],
    ['curl -sSf $PLAIN/missing', 22, 'The requested URL returned error: 404'],
    ['curl -sS --max-time 0.2 $PLAIN/slow', 28, 'no answer within 0.'],
    [`curl -sS https://wrong.test:${port}/`, 60, 'certificate is not trusted'],
    ['curl -sS $PLAIN/huge', 63, 'more than 16777216 bytes'],
    ['curl -sS $PLAIN/cut', 56, 'broke off'],
    ['curl -sS ftp://x.test/', 1, 'Protocol "ftp" not supported'],
    ['curl -sS "http://a b/"', 3, 'bad/illegal format'],
    ['curl -k -sS $PLAIN/x', 2, 'the server decides this for every sandbox'],
    ['curl -sS', 2, 'no URL specified'],
    ['curl -sS --nonsense $PLAIN/x', 2, '--nonsense'],
    ['curl -sS -d @nothing $PLAIN/x', 26, 'No such file or directory'],
    ['curl -sS -o /nowhere/x $PLAIN/x', 23, 'Failure writing output'],
  ];
  for (const [command, exit, why] of cases) {
    expect([command, ...(await sh(command))]).toEqual([command, exit, '', expect.stringContaining(why)]);
  }
  expect(await sh('curl -s $PLAIN/missing')).toEqual([0, 'gone', '']);
  expect((await sh('curl -s https://nowhere.test/'))[2]).toBe('');
});

test.each(['curl -sS', 'wget -qO-'])(
  'a %s that gets no answer is ended by timeout, and the script goes on',
  async (command) => {
    net.answer = () => {};
    expect(await sh(`timeout 1 ${command} $PLAIN/never; echo $?`)).toEqual([0, '124\n', '']);
  },
);

test('wget saves or prints, and fails as wget does', async () => {
  expect(await sh('wget -qO- $PLAIN/x')).toEqual([0, 'at /x', '']);
  expect(await sh('wget -q $PLAIN/d/file.txt && cat file.txt')).toEqual([0, 'at /d/file.txt', '']);
  expect((await sh('wget -qO- $PLAIN/missing'))[0]).toBe(8);
  expect((await sh('wget -qO- http://nowhere.test/'))[0]).toBe(4);
});

test.each(['curl -sS', 'wget -qO-'])('%s says in one sentence that the policy has no network', async (command) => {
  const [exit, stdout, stderr] = await sh(`${command} $PLAIN/x`, 'posix-box');
  const sentence = 'the policy "posix" of this sandbox reaches no network: the policy "network" does\n';
  expect([exit, stdout, stderr]).toEqual([command.startsWith('curl') ? 7 : 4, '', expect.stringContaining(sentence)]);
  expect(got).toEqual([]);
});
