/** For tests: a data folder with every kind of thing that a key made, and changes of its keys. */
import { join } from 'node:path';
import { type Clock, FakeClock } from '../../base/clock.ts';
import { KEY_FILES, type KeyName, oldKeyFile, readKeyFile } from '../../base/key-files.ts';
import { createLogger } from '../../base/log.ts';
import { openSecretSealer } from '../../base/sealed-secrets.ts';
import { readOrMakeSecretFile } from '../../base/secret-file.ts';
import { openSigner } from '../../base/signing.ts';
import { claimsOf } from '../../claims/testing/claims-of.ts';
import { createLedgerMaintenance } from '../../ledger/ledger-maintenance.ts';
import type { Registry } from '../../registry/registry.ts';
import { entry, THRESHOLDS } from '../../registry/testing/fixtures.ts';
import { fileDriver } from '../../registry/testing/open-test-registry.ts';
import { SECRET_PURPOSE, Secrets } from '../../secrets/secrets.ts';
import { acceptKey, finishKey, rotateKey } from '../change-key.ts';
import { NEW_KEYS } from '../restored-keys.ts';
import { type KeyPlaces, requireOwnKeys } from '../start-keys.ts';

const VERBS = { rotate: rotateKey, finish: finishKey, accept: acceptKey } as const;
export type Verb = keyof typeof VERBS;

/** More than one batch of secrets is sealed again. */
export const SECRETS = 130;
const VALUE = 'the-value-of-a-secret';

export function placesOf(folder: string): KeyPlaces {
  return {
    adminKey: null,
    dataFolder: folder,
    keysFolder: folder,
    driver: fileDriver(join(folder, 'registry.sqlite')),
  };
}

/** Runs `work` on the registry of a folder, and closes it. */
export async function withRegistry<T>(folder: string, work: (registry: Registry) => Promise<T>): Promise<T> {
  const registry = await placesOf(folder).driver.open({ thresholds: THRESHOLDS });
  try {
    return await work(registry);
  } finally {
    await registry.close();
  }
}

/** Changes a key as the command does. Returns what it says. */
export function changeKey(folder: string, verb: Verb, name: KeyName, clock: Clock): Promise<string[]> {
  return withRegistry(folder, (registry) => VERBS[verb]({ places: placesOf(folder), registry, clock }, name));
}

/** Fills an empty folder: keys, secrets, a webhook with two secrets, a signed head. */
export async function fillFolder(folder: string): Promise<void> {
  const clock = new FakeClock();
  const places = placesOf(folder);
  for (const name of ['auth', 'secrets', 'signing', 'admin'] as const) {
    readOrMakeSecretFile(join(folder, KEY_FILES[name]), NEW_KEYS[name]);
  }
  const own = await requireOwnKeys(places);
  await withRegistry(folder, async (registry) => {
    await own.record(registry.facts, clock);
    const secrets = new Secrets({ registry, sealer: own.sealer(SECRET_PURPOSE), clock });
    for (let n = 0; n < SECRETS; n += 1) {
      const tenant = `tenant-${n % 3}`;
      const terms = {
        tenant,
        instance: '' as const,
        name: `S${n}`,
        url: 'https://api.example.com/',
        header: 'x',
        format: '{}',
      };
      await secrets.set(terms, VALUE, 'key:test', entry({ type: 'secret.set' }));
    }
    const sealer = own.sealer();
    await registry.webhooks.add(
      {
        id: 'hook-1',
        name: 'hook',
        url: 'https://hooks.example.com/',
        tenant: null,
        types: null,
        secret: sealer.seal(VALUE, 'hook-1'),
        cursor: 0,
        created: 0,
        createdBy: 'key:test',
      },
      10,
      entry({ type: 'webhook.created' }),
    );
    const patch = { oldSecret: sealer.seal(VALUE, 'hook-1'), oldSecretUntil: 4_000_000_000 };
    await registry.webhooks.change('hook-1', patch, 0, entry({ type: 'webhook.changed' }));
    const ledger = createLedgerMaintenance({
      claims: claimsOf(registry, { alone: true }),
      registry,
      headPath: places.driver.headPath,
      signer: openSigner(folder),
      clock,
      log: createLogger('silent'),
      keepDays: null,
      tickMs: 3_600_000,
    });
    await ledger.start();
    await ledger.stop();
  });
}

/** How many sealed texts the keys in a folder open, the one before a rotation included where `withOld`. */
export async function opened(folder: string, { withOld }: { withOld: boolean }): Promise<number> {
  const before = withOld ? (readKeyFile(folder, oldKeyFile('secrets')) ?? undefined) : undefined;
  const sealer = openSecretSealer(folder, undefined, before);
  return withRegistry(folder, async (registry) => {
    const guests = new Secrets({
      registry,
      sealer: openSecretSealer(folder, SECRET_PURPOSE, before),
      clock: new FakeClock(),
    });
    const rows = await registry.secrets.all();
    const [hook] = await registry.webhooks.list();
    const texts = [hook?.secret ?? '', hook?.oldSecret ?? ''];
    return (
      rows.filter((row) => guests.opens(row)).length +
      texts.filter((text) => sealer.open(text, 'hook-1') === VALUE).length
    );
  });
}
