/**
 * The protocol's own conformance suite against the endpoint: those of its scenarios that ask for no tool, prompt or
 * resource of the suite's making. It cannot send a key, so a forwarder in front adds one.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startServer, TEST_KEY, type TestServer } from '../../testing/server.ts';

const SUITE = join(
  import.meta.dirname,
  '../../../testing/peers/node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
/** The others call tools such as `test_image_content`, which servers are to have for the suite alone. */
const SCENARIOS = [
  'server-initialize',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'dns-rebinding-protection',
];

let server: TestServer;
let forwarder: Server;
let folder: string;
beforeAll(async () => {
  server = await startServer();
  folder = mkdtempSync(join(tmpdir(), 'winterdock-conformance-'));
  const { hostname, port } = new URL(server.url);
  forwarder = createServer((incoming, outgoing) => {
    const headers = { ...incoming.headers, authorization: `Bearer ${TEST_KEY}` };
    const sent = request({ hostname, port, method: incoming.method, path: '/api/mcp', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    sent.on('error', () => outgoing.destroy());
    outgoing.on('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  forwarder.listen(0, '127.0.0.1');
  await once(forwarder, 'listening');
});
afterAll(async () => {
  forwarder.closeAllConnections();
  forwarder.close();
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

test.each(SCENARIOS)('the scenario %s passes', async (scenario) => {
  const url = `http://127.0.0.1:${(forwarder.address() as AddressInfo).port}/mcp`;
  const args = [SUITE, 'server', '--url', url, '--scenario', scenario];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect([code, out, err]).toEqual([0, expect.stringMatching(/Passed: [1-9]\d*\/[1-9]/), expect.any(String)]);
  expect(out).not.toMatch(/\b[1-9]\d* failed/);
});
