import { basename } from 'node:path';
import { afterAll, beforeAll, describe } from 'vitest';
import { drawerContract } from './testing/contract-suite.ts';
import { createObjectDrawers, type ObjectServer, startObjectServer } from './testing/object-drawer.ts';

let server: ObjectServer;
beforeAll(async () => {
  server = await startObjectServer();
});
afterAll(() => server.stop());

const drawers = (dataFolder: string) =>
  createObjectDrawers({ url: server.url, dataFolder, bucket: basename(dataFolder) });

describe('a drawer of objects', () => drawerContract((folder) => drawers(folder).cold));
describe('a drawer of compressed objects', () => drawerContract((folder) => drawers(folder).archive));
