/**
 * `npm run backup -- DIR|FILE.tar`: backs up the data folder (WB_DATA, WB_REGISTRY), whether its server runs or not. A
 * folder holds many backups, each of which copies only what changed; `--keep N` removes all but the newest N.
 * `--with-keys` includes the key files, encrypted with WB_BACKUP_PASSPHRASE or a typed passphrase. `--verify
 * DIR|FILE.tar` only checks one. `--json` prints JSON. Exits with 0, with 1 when the backup failed, with 2 when it was
 * made but a file in the data folder is not sound.
 */
import { existsSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { isInside, makeBackup } from '../lib/backup/backup.ts';
import { requirePassphrase } from '../lib/backup/key-files.ts';
import { lastBackupOf, recordBackup } from '../lib/backup/last-backup.ts';
import { coldStoreOf, isStoreUrl } from '../lib/backup/open-place.ts';
import { prune } from '../lib/backup/prune.ts';
import { openFolderTarget } from '../lib/backup/store.ts';
import { openTarTarget } from '../lib/backup/tar.ts';
import { isFolder, verifyBackup } from '../lib/backup/verify.ts';
import { systemClock } from '../lib/base/clock.ts';
import { readConfig } from '../lib/base/config.ts';
import { messageOf } from '../lib/base/errors.ts';
import { issuerOf, openSigner } from '../lib/base/signing.ts';
import { createDrawers } from '../lib/host/drawers.ts';
import { createReadersAlone } from '../lib/host/helpers.ts';
import { hostAmongSeveral } from '../lib/hosts/needs-of-several.ts';
import { registryDriver } from '../lib/registry/drivers.ts';
import { askPassphrase, refuse, say, size, time } from './backup/terminal.ts';

/** Names of sandboxes that a line for people has. */
const SHOWN = 10;

let asJson = false;
/** For people, unless a program asked. */
const tell = (text: string): void => {
  if (!asJson) say(text);
};
const report = (value: unknown): void => {
  if (asJson) say(JSON.stringify(value));
};
const warn = (text: string): void => void process.stderr.write(`${text}\n`);
const fail = (detail: string): number => refuse(asJson ? JSON.stringify({ error: { detail } }) : detail);

async function verify(path: string): Promise<number> {
  const { manifests, objects, bytes, damaged } = await verifyBackup(path);
  const backups = manifests.map(({ id, begun_ms, rows, issuer, keys }) => ({
    id,
    time: Math.floor(begun_ms / 1000),
    sandboxes: rows.length,
    issuer,
    keys: keys.object !== null,
  }));
  report({ backups, objects, bytes, damaged });
  const own = issuerOf(readConfig(process.env).keysFolder);
  for (const { id, begun_ms, rows, issuer, keys } of manifests) {
    const withKeys = keys.object === null ? 'without keys' : 'with keys';
    tell(`${id}: ${rows.length} sandboxes as of ${time(begun_ms)}, ${withKeys}, signed by ${issuer}.`);
    if (own !== null && own !== issuer) tell(`  That is not the key of the data folder here, which is ${own}.`);
  }
  if (!asJson) for (const one of damaged) process.stderr.write(`DAMAGED: ${one}\n`);
  if (damaged.length > 0) return fail(`${damaged.length} of ${objects} objects are not as they were backed up.`);
  if (manifests.length === 0) return fail(`There is no backup in ${path}.`);
  tell(`Verified: ${objects} objects, ${size(bytes)}, each read and hashed.`);
  return 0;
}

async function make(path: string, options: { withKeys: boolean; keep: number | null }): Promise<number> {
  const config = readConfig(process.env);
  // Before a key is made to sign with.
  const driver = registryDriver(config.registry);
  if (driver.isKept && (await driver.presence()).kind === 'missing') {
    return fail(`There is no registry at ${driver.name}: set WB_DATA (and WB_REGISTRY) as the server has them.`);
  }
  if (isInside(path, config)) return fail(`${path} is in the data folder: it would be lost with it.`);
  const passphrase = options.withKeys
    ? requirePassphrase(process.env.WB_BACKUP_PASSPHRASE || (await askPassphrase({ twice: true })))
    : null;
  const folder = isFolder(path);
  const started = performance.now();
  const target = folder ? await openFolderTarget(path) : await openTarTarget(path);
  const cold = coldStoreOf(config);
  const alone = await createReadersAlone(config, { writable: [dirname(target.draft())] }).catch(
    async (error: unknown) => {
      await target.close();
      throw error;
    },
  );
  let last = 0;
  try {
    const { manifest, added, wrong } = await makeBackup({
      config,
      driver,
      drawers: createDrawers(config),
      target,
      onlyOf: hostAmongSeveral(config),
      cold: cold.open,
      readers: alone.readers,
      signer: openSigner(config.keysFolder),
      clock: systemClock,
      passphrase,
      progress(done, all) {
        if (!process.stderr.isTTY || performance.now() - last < 500) return;
        last = performance.now();
        process.stderr.write(`\r${done} of ${all} sandboxes `);
      },
    });
    if (process.stderr.isTTY) process.stderr.write('\r');
    const made = lastBackupOf(manifest, path, wrong.length);
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    tell(`Backup ${manifest.id}: ${made.sandboxes} sandboxes as of ${time(manifest.begun_ms)}, in ${seconds} s.`);
    tell(`${added.objects} objects new, ${size(added.bytes)}; all read back and hashed.`);
    if (alone.missing !== null) (asJson ? warn : tell)(alone.missing);
    if (manifest.keys.object === null) {
      tell(`Without the key files (${manifest.keys.files.join(', ')}): --with-keys takes them along, encrypted.`);
    }
    const gone = folder && options.keep !== null ? await prune(path, options.keep) : null;
    if (gone !== null) {
      const { length: older } = gone.backups;
      tell(
        `${older} older backups removed. ${gone.objects} objects, ${size(gone.bytes)}, that none names since a day.`,
      );
      if (gone.ahead > 0)
        tell(`${gone.ahead} are dated ahead of this clock: they are kept until then, and not counted.`);
    }
    try {
      await recordBackup(driver, made, manifest, systemClock, config);
    } catch (error) {
      process.stderr.write(`The backup is made, but the registry could not be told: ${messageOf(error)}\n`);
    }
    const unverified = manifest.rows.flatMap((row) => (row.unverified === true ? [row.id] : []));
    if (unverified.length > 0) {
      const more = unverified.length > SHOWN ? ` and ${unverified.length - SHOWN} more` : '';
      tell(`Without a hash of what was filed, as found: ${unverified.slice(0, SHOWN).join(', ')}${more}.`);
    }
    report({
      id: manifest.id,
      ...made,
      seconds: Number(seconds),
      added,
      removed: gone === null ? null : { ...gone, backups: gone.backups.length },
      wrong,
      unverified,
    });
    if (!asJson) for (const one of wrong) process.stderr.write(`NOT SOUND: ${one}\n`);
    return wrong.length === 0 ? 0 : 2;
  } finally {
    await alone.stop();
    await cold.close();
    await target.close();
  }
}

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      verify: { type: 'boolean' },
      'with-keys': { type: 'boolean' },
      keep: { type: 'string' },
      json: { type: 'boolean' },
    },
  });
  asJson = values.json ?? false;
  const [given] = positionals;
  if (given !== undefined && isStoreUrl(given)) {
    return fail(
      'Only the server makes backups in a store: PUT /api/settings/backups names it, `winterdock backups make` makes one.',
    );
  }
  if (given === undefined || positionals.length > 1) {
    return fail('Usage: npm run backup -- DIR|FILE.tar [--with-keys] [--keep N] [--json], or --verify DIR|FILE.tar');
  }
  // npm runs scripts in the project's folder; a path is meant from where the command was typed.
  const path = resolve(process.env.INIT_CWD ?? '.', given);
  if (values.verify === true) return verify(path);
  const keep = values.keep === undefined ? null : Number(values.keep);
  if (keep !== null && (!Number.isInteger(keep) || keep < 1)) return fail('--keep takes a whole number from 1.');
  if (!isFolder(path) && !existsSync(dirname(path))) return fail(`There is no folder ${dirname(path)}.`);
  return make(path, { withKeys: values['with-keys'] ?? false, keep });
}

process.umask(0o077);
try {
  process.exitCode = await main();
} catch (error) {
  process.exitCode = fail(messageOf(error));
}
