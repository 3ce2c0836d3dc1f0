/**
 * Rotates the keys of a registry whose server is stopped. The row of the registry decides: a key is changed once that
 * is written, and what a kill left undone is done by the same command again. Before it, nothing but files beside the
 * key was made; after it, those have to get their names.
 */
import { existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, epochSeconds } from '../base/clock.ts';
import {
  giveToNow,
  linkFileNow,
  renameFileNow,
  syncFolderNow,
  unlinkFileNow,
  writeNewFileNow,
} from '../base/effects.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import { KEY_FILES, type KeyName, newKeyFile, oldKeyFile, readKeyFile } from '../base/key-files.ts';
import { signerOf, withPredecessors } from '../base/signing.ts';
import { chainIncludes } from '../ledger/chain-includes.ts';
import { HEAD_KIND, type LedgerHead } from '../ledger/documents.ts';
import { readHead, writeHead } from '../ledger/head-file.ts';
import { isSigned, signed } from '../ledger/sign.ts';
import { ledgerEntry } from '../registry/ledger-entry.ts';
import type { Registry } from '../registry/registry.ts';
import { systemAudit } from '../sandboxes/engine.ts';
import { KEYS_FACT, type KeyEntry, type KnownKeys, noKnownKeys, parseKnownKeys } from './known-keys.ts';
import { resealAll } from './reseal.ts';
import { NEW_KEYS } from './restored-keys.ts';
import { type FoundKey, findKey, type KeyPlaces, keysInFiles } from './start-keys.ts';

export interface KeyChangeParts {
  places: KeyPlaces;
  registry: Pick<Registry, 'facts' | 'ledger' | 'secrets' | 'segments' | 'webhooks'>;
  clock: Clock;
}

const CAUSE = { ...systemAudit('operator'), actor: 'keys' };

/** One key with what the registry and the files say of it. */
interface KeyState {
  row: KnownKeys;
  entry: KeyEntry | undefined;
  current: FoundKey;
  /** Whether the key to come is the registry's already, and has not got its name yet. */
  isSwitched: boolean;
}

async function stateOf({ places, registry }: KeyChangeParts, name: KeyName): Promise<KeyState> {
  if (!keysInFiles(places).includes(name)) {
    throw new WinterdockError('conflict', 'The admin key is the setting WB_ADMIN_KEY: change it there.');
  }
  const row = parseKnownKeys(await registry.facts.read(KEYS_FACT)) ?? noKnownKeys();
  const entry = row.keys[name];
  const current = findKey(name, places.keysFolder, row.salt);
  const coming = findKey(name, places.keysFolder, row.salt, newKeyFile(name)).fingerprint;
  const isSwitched = entry !== undefined && coming === entry.makes;
  return { row, entry, current, isSwitched };
}

/**
 * Begins the rotation of a key: a new one makes, the present one is accepted too. Returns what was done, a sentence
 * each. Throws `conflict` when the key in the file is not the registry's, or its rotation is under way.
 */
export async function rotateKey(parts: KeyChangeParts, name: KeyName): Promise<string[]> {
  const { places, clock } = parts;
  const { row, entry, current, isSwitched } = await stateOf(parts, name);
  const file = KEY_FILES[name];
  if (isSwitched) return publish(parts, name, [`The rotation of ${file} was interrupted; it goes on.`]);
  if (current.text === null || current.fingerprint === null || current.fingerprint !== entry?.makes) {
    throw new WinterdockError('conflict', `${file} is not the key that the registry knows.`, {
      hint: 'npm run keys -- list says which it knows. A start of the server records those that it does not know yet.',
    });
  }
  if (entry.accepts !== null) {
    throw new WinterdockError('conflict', `${file} is being rotated since ${time(entry.since)}.`, {
      hint: `npm run keys -- finish ${name} ends that.`,
    });
  }
  if (name === 'signing') await requireOwnHead(parts, current.fingerprint);
  const made = NEW_KEYS[name]();
  const text = name === 'signing' ? withPredecessors(made, signerOf(current.text, file).trusted) : made;
  unlinkFileNow(join(places.keysFolder, oldKeyFile(name)));
  linkFileNow(join(places.keysFolder, file), join(places.keysFolder, oldKeyFile(name)));
  layNew(places, name, text);
  const makes = fingerprintIn(places, name, row.salt);
  await record(parts, name, { makes, accepts: current.fingerprint, since: epochSeconds(clock) }, 'keys.rotated', row);
  return publish(parts, name, [
    `${file} is a new key, and makes everything from now on.`,
    `${oldKeyFile(name)} is the one before, which is accepted until npm run keys -- finish ${name}.`,
    ...(WHILE_ROTATING[name] ?? []),
  ]);
}

const WHILE_ROTATING: Partial<Record<KeyName, string[]>> = {
  auth: ['Sessions that are open now end with the rotation, unless people sign in again before.'],
  admin: ['Whoever uses the admin key has to get the new one before.'],
};

/**
 * Goes on with the key that lies there, or with a new one where there is none, instead of the one that the registry
 * knows. Throws `conflict` when they are the same.
 */
export async function acceptKey(parts: KeyChangeParts, name: KeyName): Promise<string[]> {
  const { places, clock, registry } = parts;
  const { row, entry, current, isSwitched } = await stateOf(parts, name);
  const file = KEY_FILES[name];
  if (isSwitched) return publish(parts, name, [`What was begun with ${file} goes on.`]);
  if (current.problem !== null) {
    throw new WinterdockError('conflict', current.problem, {
      hint: 'Mend it, or move it away: a new one is made then.',
    });
  }
  const hasOld = entry?.accepts != null;
  const isOldThere =
    hasOld && findKey(name, places.keysFolder, row.salt, oldKeyFile(name)).fingerprint === entry.accepts;
  if (entry !== undefined && current.fingerprint === entry.makes) {
    if (!hasOld || isOldThere) throw new WinterdockError('conflict', `${file} is the key that the registry knows.`);
    await record(parts, name, { ...entry, accepts: null }, 'keys.accepted', row);
    return [`The registry waits for ${oldKeyFile(name)} no more: what it alone opens is lost.`, ...(await lost(parts))];
  }
  const given = current.text ?? NEW_KEYS[name]();
  const before = [entry?.makes ?? headOf(places)?.issuer ?? (await registry.segments.list()).at(-1)?.issuer];
  const text =
    name === 'signing'
      ? withPredecessors(
          given,
          before.filter((one) => one !== undefined),
        )
      : given;
  layNew(places, name, text);
  const makes = fingerprintIn(places, name, row.salt);
  await record(parts, name, { makes, accepts: null, since: epochSeconds(clock) }, 'keys.accepted', row);
  const done = [current.text === null ? `${file} is a new key.` : `${file} is the registry’s key from now on.`];
  const published = await publish(parts, name, done);
  return name === 'secrets' ? [...published, ...(await lost(parts))] : published;
}

/**
 * Ends a rotation: what was sealed under the key before is sealed again, and that key is removed. May be repeated after
 * an interruption. Throws `conflict` when no rotation is under way.
 */
export async function finishKey(parts: KeyChangeParts, name: KeyName): Promise<string[]> {
  const { places } = parts;
  const { row, entry, current, isSwitched } = await stateOf(parts, name);
  const [file, old] = [KEY_FILES[name], oldKeyFile(name)];
  const oldPath = join(places.keysFolder, old);
  if (isSwitched || current.fingerprint === null || current.fingerprint !== entry?.makes) {
    const what = isSwitched ? `rotate ${name} goes on with what was interrupted.` : 'list says which it knows.';
    throw new WinterdockError('conflict', `${file} is not the key that the registry knows.`, {
      hint: `npm run keys -- ${what}`,
    });
  }
  if (entry.accepts === null) {
    if (!existsSync(oldPath)) throw new WinterdockError('conflict', `${file} is not being rotated.`);
    remove(places, oldPath);
    return [`${old} was left over and is removed: nothing needs it.`];
  }
  const done: string[] = [];
  if (name === 'secrets') {
    const before = readKeyFile(places.keysFolder, old);
    if (before === null) {
      throw new WinterdockError('conflict', `${oldPath} is missing, and what it seals cannot be sealed again.`, {
        hint: `Put it back, or go on without it: npm run keys -- accept ${name}.`,
      });
    }
    const { sealed, closed } = await resealAll(parts, current.text ?? '', before);
    done.push(`${sealed} secrets were sealed again.`);
    if (closed.length > 0) done.push(`Neither key opens, as before: ${closed.join(', ')}.`);
  }
  await record(parts, name, { ...entry, accepts: null }, 'keys.finished', row);
  remove(places, oldPath);
  return [...done, `${old} is removed, and no longer accepted.`, ...(AFTER[name] ?? [])];
}

const AFTER: Partial<Record<KeyName, string[]>> = {
  signing: ['Months that it sealed still verify: its name stays in signing.key.'],
};

/** Writes the file of the key to come, in the place of one that was never decided for. On disk when this returns. */
function layNew({ keysFolder }: KeyPlaces, name: KeyName, text: string): void {
  const path = join(keysFolder, newKeyFile(name));
  unlinkFileNow(path);
  writeNewFileNow(path, text);
  const { uid, gid } = statSync(keysFolder);
  if (process.geteuid?.() === 0 && uid !== 0) giveToNow(path, uid, gid);
  syncFolderNow(keysFolder);
}

/** Gives the key to come its name, and with a signing key the ledger's head its signature. May be repeated. */
async function publish(parts: KeyChangeParts, name: KeyName, done: string[]): Promise<string[]> {
  const { keysFolder } = parts.places;
  const from = newKeyFile(name);
  const told = name === 'signing' ? await signHead(parts, readKeyFile(keysFolder, from) ?? '') : [];
  renameFileNow(join(keysFolder, from), join(keysFolder, KEY_FILES[name]));
  syncFolderNow(keysFolder);
  return [...done, ...told];
}

/** Signs the head anew that a replaced key signed. One that is not the ledger's stays, and a start tells it. */
async function signHead({ places, registry, clock }: KeyChangeParts, pem: string): Promise<string[]> {
  const signer = signerOf(pem, newKeyFile('signing'));
  const path = places.driver.headPath;
  let head: LedgerHead | null;
  try {
    head = headOf(places);
  } catch (error) {
    return [`The signed head stays as it is: ${messageOf(error)}`];
  }
  if (path === null || head === null || head.issuer === signer.issuer) return [];
  const now = await registry.ledger.head();
  const ledger = { chain: registry.ledger.chain, segments: registry.segments };
  if (!isSigned(head, signer.trusted) || !(await chainIncludes(ledger, head, now))) {
    return ['The signed head is not the ledger’s, and stays as it is: npm run doctor says what disagrees.'];
  }
  const { epoch } = head;
  await writeHead(
    path,
    signed<LedgerHead>(signer, {
      kind: HEAD_KIND,
      ...now,
      time_ms: clock.now(),
      ...(epoch === undefined ? {} : { epoch }),
    }),
  );
  return [];
}

/** Throws `conflict` when the signed head is not of this key and this ledger: a new key must not vouch for another. */
async function requireOwnHead({ places, registry }: KeyChangeParts, issuer: string): Promise<void> {
  const head = headOf(places);
  if (head === null) return;
  const ledger = { chain: registry.ledger.chain, segments: registry.segments };
  if (isSigned(head, [issuer]) && (await chainIncludes(ledger, head, await registry.ledger.head()))) return;
  throw new WinterdockError('conflict', 'The signed head is not that of this ledger and key: nothing was rotated.', {
    hint: 'npm run doctor says what disagrees.',
  });
}

function headOf({ driver: { headPath } }: KeyPlaces): LedgerHead | null {
  return headPath === null ? null : readHead(headPath);
}

function fingerprintIn({ keysFolder }: KeyPlaces, name: KeyName, salt: string): string {
  const { fingerprint, problem } = findKey(name, keysFolder, salt, newKeyFile(name));
  if (fingerprint === null) throw new Error(problem ?? `${newKeyFile(name)} is gone.`);
  return fingerprint;
}

async function record(
  { registry, clock }: KeyChangeParts,
  name: KeyName,
  entry: KeyEntry,
  type: string,
  row: KnownKeys,
): Promise<void> {
  const before = row.keys[name]?.makes;
  const was = before === undefined || before === entry.makes ? '' : ` in the place of ${before}`;
  const line = ledgerEntry({ clock }, null, CAUSE, type, { reason: `${KEY_FILES[name]}: ${entry.makes}${was}` });
  await registry.facts.write(
    KEYS_FACT,
    { ...row, keys: { ...row.keys, [name]: entry } } satisfies KnownKeys,
    epochSeconds(clock),
    line,
  );
}

/** The secrets that the present key does not open. */
async function lost(parts: KeyChangeParts): Promise<string[]> {
  const text = readKeyFile(parts.places.keysFolder, KEY_FILES.secrets);
  const { closed } = await resealAll(parts, text ?? '', text ?? '');
  return closed.length === 0 ? [] : [`Does not open and has to be set again: ${closed.join(', ')}.`];
}

function remove({ keysFolder }: KeyPlaces, path: string): void {
  unlinkFileNow(path);
  syncFolderNow(keysFolder);
}

const time = (seconds: number): string => new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, 'Z');
