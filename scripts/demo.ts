/**
 * `npm run demo [-- --url ADDRESS]`: makes tenants and sandboxes in every state on a server, through the public client,
 * beside what it has. The server is `--url`, WINTERDOCK_URL or this machine; the key is WINTERDOCK_KEY or the one that
 * the server's first start wrote into WB_DATA. Refuses a server that has, or had, one of its names already.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readConfig } from '../lib/base/config.ts';
import { messageOf } from '../lib/base/errors.ts';
import { ApiError, createClient, type WinterdockClient } from '../lib/client/client.ts';
import { BLUEPRINT, SCENE, type ScenePart, SNAPSHOT } from './demo/scene.ts';

const say = (text: string) => process.stdout.write(`${text}\n`);

/** The key that is given, or the one that the first start of a server on this machine has written. */
function keyOf(env: NodeJS.ProcessEnv): string {
  if (env.WINTERDOCK_KEY) return env.WINTERDOCK_KEY;
  const config = readConfig(env);
  const path = join(config.keysFolder, 'admin.key');
  if (existsSync(path)) return readFileSync(path, 'utf8').trim();
  throw new Error(`There is no key at ${path}: start the server first, or set WINTERDOCK_KEY.`);
}

/** Makes one sandbox, has it do its work and takes it to where it belongs. */
async function play(client: WinterdockClient, { runs, to, reason, ...input }: ScenePart): Promise<void> {
  await client.createInstance(input);
  for (const command of runs) {
    const { exit_code, stderr } = await client.execInInstance(input.id, { command: `set -e -o pipefail\n${command}` });
    if (exit_code !== 0) throw new Error(`${input.id}: exit ${exit_code}: ${stderr}`);
  }
  const because = reason === undefined ? {} : { reason };
  if (to !== 'created' && to !== 'active') await client.walkPlan(input.id, { to, ...because });
  say(`${input.tenant.padEnd(11)} ${input.id.padEnd(17)} ${to}`);
}

/** The names of the demo that the server knows, deleted ones too. */
async function takenNames(client: WinterdockClient): Promise<string[]> {
  const unknown = (error: unknown): null => {
    if (error instanceof ApiError && error.code === 'not_found') return null;
    throw error;
  };
  const gone = (error: unknown) => (error instanceof ApiError && error.code === 'gone' ? true : unknown(error));
  const taken: string[] = [];
  for (const { id } of SCENE) if ((await client.getInstance(id).catch(gone)) !== null) taken.push(id);
  if ((await client.getBlueprint(BLUEPRINT.name).catch(unknown)) !== null) taken.push(BLUEPRINT.name);
  return taken;
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { url: { type: 'string' } } });
  const url = values.url ?? process.env.WINTERDOCK_URL ?? `http://localhost:${process.env.PORT ?? 3000}`;
  const client = createClient({ url, key: keyOf(process.env) });
  const taken = await takenNames(client);
  if (taken.length > 0) {
    throw new Error(
      `The server at ${url} has, or had, ${taken.join(', ')}: a demo is made once. WB_DATA=demo npm start gives an empty one.`,
    );
  }
  for (const part of SCENE) await play(client, part);
  const kept = await client.takeSnapshot(SNAPSHOT.of, { tag: SNAPSHOT.tag });
  await client.restoreSnapshot(kept.id, { name: SNAPSHOT.restoredAs });
  say(`snapshot    ${SNAPSHOT.tag}, and a sandbox made from it`);
  await client.createBlueprint({ name: BLUEPRINT.name, from_instance: BLUEPRINT.of });
  await client.cloneBlueprint(BLUEPRINT.name, {
    tenant: BLUEPRINT.tenant,
    count: BLUEPRINT.clones,
    name: BLUEPRINT.as,
  });
  say(`blueprint   ${BLUEPRINT.name}, and ${BLUEPRINT.clones} clones of it`);
  say(`Look at ${url} with the sign-in link that the server printed. What nobody uses, the ladder files away.`);
}

try {
  await main();
} catch (error) {
  const hint = error instanceof ApiError && error.hint ? ` ${error.hint}` : '';
  process.stderr.write(`${messageOf(error)}${hint}\n`);
  process.exitCode = 1;
}
