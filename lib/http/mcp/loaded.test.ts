import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** Prints the addresses of the protocol's modules that are loaded with the routes, and with the first message. */
const PRINT_LOADED = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
const counted = () => loaded.filter((url) => url.includes('/@modelcontextprotocol/')).length;
await import(${JSON.stringify(new URL('../routes.ts', import.meta.url).href)});
const before = counted();
const { answerMessage } = await import(${JSON.stringify(new URL('./server.ts', import.meta.url).href)});
const headers = { accept: 'application/json, text/event-stream', 'content-type': 'application/json' };
const request = new Request('http://localhost/', { method: 'POST', headers });
const answer = await answerMessage(request, { jsonrpc: '2.0', id: 1, method: 'ping' }, {});
process.stdout.write(JSON.stringify({ before, after: counted(), text: await answer.text() }));
`;

test('the SDK is loaded with the first message, and not with the server', () => {
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', PRINT_LOADED], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    encoding: 'utf8',
  });
  const { before, after, text } = JSON.parse(printed) as { before: number; after: number; text: string };
  expect([before, after > 0]).toEqual([0, true]);
  expect(text).toContain('"result":{}');
});
