/** What the tests of all frameworks begin with: a server, a key of one tenant, and the small task of the agent. */
import { onTestFinished } from 'vitest';
import { createClient, type WinterdockClient } from '../../../lib/client/client.ts';
import { startServer, TEST_KEY } from '../../../lib/testing/server.ts';

export interface TestServer {
  /** For what a test looks up itself, past the adapter. */
  client: WinterdockClient;
  /** Of the whole server. */
  admin: WinterdockClient;
  /** What the adapter is given. */
  connection: { url: string; key: string };
}

/** A server that ends with the test. */
export async function startTestServer(): Promise<TestServer> {
  const server = await startServer();
  onTestFinished(() => server.stop());
  const admin = createClient({ url: server.url, key: TEST_KEY });
  const { key } = await admin.createKey({ name: 'agent', role: 'tenant', tenant: 'acme' });
  const connection = { url: server.url, key };
  return { client: createClient(connection), admin, connection };
}

/** A program with a mistake, as the agent writes it first. */
export const PROGRAM = `numbers = [int(line) for line in open('numbers.txt')]
total = sum(numbers)
print('total', totl)
`;

/** A script that goes on until it is stopped. If it were not, it would leave a file. */
export const ENDLESS = 'echo begun > begun; while true; do sleep 0.05; done; echo never > never';

/** Output of more bytes than an answer holds. */
export const TOO_MUCH = "head -c 5000000 /dev/zero | tr '\\0' x";
