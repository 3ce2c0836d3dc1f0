/** Any byte in, any byte out: exec and eval through a real server, by the contract and by its client. */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createClient, MAX_STDIN_BYTES, type WinterdockClient } from '../../client/client.ts';
import { evalAnswerSchema, execAnswerSchema } from '../../contract/schema.ts';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';

let server: TestServer;
let dock: WinterdockClient;
beforeAll(async () => {
  server = await startServer();
  dock = createClient({ url: server.url, key: TEST_KEY });
  await server.call('POST', '/api/instances', { id: 'bytes', tenant: 'acme' });
});
afterAll(() => server.stop());

const run = async (body: unknown) =>
  execAnswerSchema.strict().parse((await server.call('POST', '/api/instances/bytes/exec', body)).json);
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

/** The bytes of an output, as an answer or an event says it. */
const bytesOf = (text: string, encoding?: string) => Buffer.from(text, encoding === 'base64' ? 'base64' : 'utf8');

/** Bytes that are text here and none there. */
const anyBytes = fc
  .array(
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 8 }).map((text) => Buffer.from(text)),
      fc.uint8Array(),
    ),
  )
  .map((parts) => Buffer.concat(parts));

test('two bytes that are no text are two bytes in both outputs, and the answer says how they are written', async () => {
  const answer = await run({ command: 'tee file; cat file >&2', stdin_base64: base64(Buffer.from([0xff, 0xfe])) });
  expect(answer).toMatchObject({
    exit_code: 0,
    stdout: '//4=',
    stdout_encoding: 'base64',
    stderr: '//4=',
    stderr_encoding: 'base64',
  });
  const file = await server.call('GET', '/api/instances/bytes/volumes/workspace/file');
  expect(Buffer.from(file.bytes).toString('hex')).toBe('fffe');
});

test('text is text, and each output has an encoding of its own', async () => {
  const text = await run({ command: 'cat; echo ü >&2', stdin: '\ufeffé\0' });
  expect(text).toMatchObject({ stdout: '\ufeffé\0', stderr: 'ü\n' });
  expect(Object.keys(text).filter((name) => name.endsWith('encoding'))).toEqual([]);
  const mixed = await run({ command: "echo é; printf '\\xff' >&2" });
  expect(mixed).toMatchObject({ stdout: 'é\n', stderr: '/w==', stderr_encoding: 'base64' });
  expect(mixed.stdout_encoding).toBeUndefined();
  const answer = await run({ command: 'echo é', encoding: 'base64' });
  expect(answer).toMatchObject({
    stdout: base64(Buffer.from('é\n')),
    stdout_encoding: 'base64',
    stderr: '',
    stderr_encoding: 'base64',
  });
});

test('any bytes come back as they went in: in both modes, through files and pipes, by the client, piece by piece', async () => {
  await fc.assert(
    fc.asyncProperty(anyBytes, async (bytes) => {
      const command = 'tee f | gzip | gunzip; cat f >&2';
      const [plain, encoded, whole] = await Promise.all([
        run({ command, stdin_base64: base64(bytes) }),
        run({ command, stdin_base64: base64(bytes), encoding: 'base64' }),
        dock.execBytes('bytes', { command, stdin: bytes }),
      ]);
      const streamed = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[] };
      for await (const event of dock.execStream('bytes', { command, stdin: bytes })) {
        if (event.event !== 'stdout' && event.event !== 'stderr') continue;
        streamed[event.event].push(event.bytes);
        if (event.text !== null) expect(Buffer.from(event.text).equals(event.bytes)).toBe(true);
      }
      for (const name of ['stdout', 'stderr'] as const) {
        expect(bytesOf(plain[name], plain[`${name}_encoding`]).equals(bytes)).toBe(true);
        expect(bytesOf(encoded[name], 'base64').equals(bytes)).toBe(true);
        expect(Buffer.from(whole[name]).equals(bytes)).toBe(true);
        expect(Buffer.concat(streamed[name]).equals(bytes)).toBe(true);
      }
    }),
    { numRuns: 25 },
  );
});

test('a stream tears no character, and says which pieces are bytes', async () => {
  const pieces: unknown[] = [];
  const command = "printf 'a\\xc3'; printf '\\xa9'; printf '\\xff'; echo b";
  for await (const event of dock.execStream('bytes', { command })) {
    if (event.event === 'stdout') pieces.push([event.text, Buffer.from(event.bytes).toString('hex')]);
  }
  expect(pieces).toEqual([
    ['a', '61'],
    ['é', 'c3a9'],
    [null, 'ff'],
    ['b\n', '620a'],
  ]);
  const raw = await server.call(
    'POST',
    '/api/instances/bytes/exec',
    { command: "printf '\\xff'; echo b" },
    { headers: { accept: 'text/event-stream' } },
  );
  expect(raw.text).toContain('event: stdout\ndata: {"text":"/w==","encoding":"base64"}\n');
  expect(raw.text).toContain('event: stdout\ndata: {"text":"b\\n"}\n');
  expect(raw.text).not.toContain('stdout_encoding');
});

test('megabytes of bytes go in and come out with the same hash, and a cut is to the byte or to the character', async () => {
  const content = Buffer.from(Array.from({ length: 3_000_001 }, (_, n) => (n * 7919 + (n >> 7)) & 0xff));
  const answer = await dock.execBytes('bytes', { command: 'cat > big; sha256sum big >&2; cat big', stdin: content });
  expect(sha256(answer.stdout)).toBe(sha256(content));
  expect(Buffer.from(answer.stderr).toString()).toContain(sha256(content));
  const limit = 4 * 1024 * 1024;
  await dock.putFile('bytes', 'workspace', '/text', `x${'é'.repeat(limit / 2)}`);
  const text = await run({ command: 'cat text' });
  expect([text.truncated, text.stdout_encoding, text.stdout.length]).toEqual([true, undefined, limit / 2]);
  const cut = await run({ command: 'cat text', encoding: 'base64' });
  expect([cut.truncated, bytesOf(cut.stdout, 'base64').byteLength]).toEqual([true, limit]);
});

test.each([
  ['stdin twice', { stdin: 'a', stdin_base64: 'YQ==' }, 'stdin_base64', /cannot be given together with stdin/],
  ['what is no base64', { stdin_base64: 'not base64!' }, 'stdin_base64', /must be base64/],
  ['base64 with line breaks', { stdin_base64: 'YWFh\nYWFh' }, 'stdin_base64', /without line breaks/],
  ['base64 without its padding', { stdin_base64: 'YQ' }, 'stdin_base64', /padded/],
  ['another encoding', { encoding: 'hex' }, 'encoding', /base64/],
  ['half a pair in stdin', { stdin: '\udcff' }, 'stdin', /half a surrogate pair/],
  ['half a pair in a command', { command: 'echo \ud800' }, 'command', /half a surrogate pair/],
  ['half a pair in a variable', { env: { A: '\udcff' } }, 'env.A', /half a surrogate pair/],
])('%s is refused by name', async (_what, input, path, message) => {
  const answer = await server.call('POST', '/api/instances/bytes/exec', { command: 'cat', ...input });
  expect([answer.status, answer.json.code]).toEqual([422, 'validation']);
  expect(answer.json.errors).toContainEqual({ path, message: expect.stringMatching(message) });
});

test('more stdin than a command is given is refused before anything runs', async () => {
  const answer = await server.call('POST', '/api/instances/bytes/exec', {
    command: 'echo ran > ran',
    stdin_base64: 'A'.repeat(Math.ceil(MAX_STDIN_BYTES / 3) * 4 + 4),
  });
  expect([answer.status, answer.json.errors]).toMatchObject([422, [{ path: 'stdin_base64' }]]);
  expect((await run({ command: 'ls' })).stdout).not.toContain('ran');
});

test('what code says is bytes too', async () => {
  const call = async (body: unknown) => (await server.call('POST', '/api/instances/bytes/eval', body)).json;
  const answer = await call({ language: 'js', code: 'console.log("é"); 1', encoding: 'base64' });
  expect(evalAnswerSchema.strict().parse(answer)).toMatchObject({
    ok: true,
    value: 1,
    stdout: base64(Buffer.from('é\n')),
    stdout_encoding: 'base64',
  });
  const code = 'import sys; sys.stdout.buffer.write(bytes([255, 254]))';
  const bytes = evalAnswerSchema.strict().parse(await call({ language: 'python', code }));
  expect(bytes).toMatchObject({ ok: true, stdout: '//4=', stdout_encoding: 'base64', stderr: '' });
  expect(bytes.stderr_encoding).toBeUndefined();
});
