import { afterAll, beforeAll, expect, test } from 'vitest';
import { type HttpsReceiver, startHttpsReceiver } from '../outgoing/testing/https-receiver.ts';
import { startServer, TEST_KEY, type TestServer } from '../testing/server.ts';
import { type CommandLine, commandLine } from './testing/winterdock.ts';

let receiver: HttpsReceiver;
let server: TestServer;
let cli: CommandLine;

beforeAll(async () => {
  receiver = await startHttpsReceiver(['localhost']);
  server = await startServer({ settings: { WB_OUTGOING_ALLOWED: `https://localhost:${receiver.port}` } });
  cli = commandLine({ WINTERDOCK_URL: server.url, WINTERDOCK_KEY: TEST_KEY });
});
afterAll(async () => {
  cli.remove();
  await server.stop();
  await receiver.stop();
});

test('a webhook is set up, tried, told, turned off and on, given another secret and removed', async () => {
  const url = `https://localhost:${receiver.port}/hook`;
  const made = await cli.run(['webhook', 'add', url, '--tenant', 'acme', '--types', 'instance.*, problems', '--json']);
  expect(made).toMatchObject({ exit: 0, json: { tenant: 'acme', types: ['instance.*', 'problems'] } });
  const id = String(made.json.id);
  expect((await cli.run(['webhook', 'test', id])).stdout).toMatch(/^state +delivered\nanswer +204$/m);
  await server.call('POST', '/api/instances', { id: 'a', tenant: 'acme' });
  await server.host.courier.tick();
  await server.host.courier.idle();
  const told = await cli.run(['webhook', 'deliveries', id]);
  expect(told.stdout).toMatch(new RegExp(`^(${id}\\.\\d+) +instance\\.created +delivered +1 +204 `, 'm'));
  const delivery = new RegExp(`${id}\\.\\d+`).exec(told.stdout)?.[0] ?? '';
  expect((await cli.run(['webhook', 'resend', id, delivery])).stdout).toMatch(/^state +pending$/m);
  expect((await cli.run(['webhook', 'off', id])).stdout).toMatch(/^state +off$/m);
  expect((await cli.run(['webhook', 'on', id, '--from-now'])).stdout).toMatch(/^state +on$/m);
  expect((await cli.run(['webhook', 'rotate', id])).stdout).toMatch(/^whsec_\S{44}\n$/);
  receiver.answer = (_request, response) => response.writeHead(500).end();
  expect((await cli.run(['webhook', 'test', id])).exit).toBe(5);
  expect((await cli.run(['webhook', 'remove', id])).exit).toBe(0);
  expect((await cli.run(['webhook', 'show', id])).exit).not.toBe(0);
});
