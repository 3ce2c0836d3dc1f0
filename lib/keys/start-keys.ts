/**
 * Decides whether a server may start with the key files that lie there: not when one cannot be used, and not when one
 * is another than the registry's. Runs before the registry is opened or created, changes nothing, and names every
 * problem at once. Where the registry knows a key by no fingerprint yet, what was made with it has to open.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, epochSeconds } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { messageOf, WinterdockError } from '../base/errors.ts';
import {
  KEY_FILES,
  KEY_NAMES,
  KeyFileError,
  type KeyName,
  newKeyFile,
  oldKeyFile,
  readKeyFile,
  requireKeysFolder,
} from '../base/key-files.ts';
import { openSecretSealer, type SecretSealer } from '../base/sealed-secrets.ts';
import { readHead } from '../ledger/head-file.ts';
import { isSigned } from '../ledger/sign.ts';
import type { RegistryDriver, SealedRows } from '../registry/driver.ts';
import type { FactStore } from '../registry/facts.ts';
import { type KeyEvidence, readKeyEvidence } from './key-evidence.ts';
import { fingerprintOf, KEYS_FACT, type KeyEntry, type KnownKeys, noKnownKeys, parseKnownKeys } from './known-keys.ts';
import { secretOpener } from './secret-opener.ts';

export interface KeyPlaces extends Pick<Config, 'adminKey' | 'dataFolder' | 'keysFolder'> {
  driver: RegistryDriver;
}

/** The keys that lie in files: with `WB_ADMIN_KEY` the admin key is a setting. */
export function keysInFiles({ adminKey }: Pick<Config, 'adminKey'>): KeyName[] {
  return KEY_NAMES.filter((name) => name !== 'admin' || adminKey === null);
}

/** One key file as it lies there. */
export interface FoundKey {
  /** Null when there is no file, or one that cannot be used. */
  text: string | null;
  fingerprint: string | null;
  /** Why it cannot be used. */
  problem: string | null;
}

/** Reads one key file and its fingerprint. */
export function findKey(name: KeyName, folder: string, salt: string, file = KEY_FILES[name]): FoundKey {
  try {
    const text = readKeyFile(folder, file);
    const path = join(folder, file);
    return { text, fingerprint: text === null ? null : fingerprintOf(name, text, { salt, path }), problem: null };
  } catch (error) {
    return { text: null, fingerprint: null, problem: messageOf(error) };
  }
}

/** Why the folder of keys cannot be used; null when it can. That the data folder is one is somebody else's check. */
export function unusableFolder({ keysFolder, dataFolder }: KeyPlaces): string | null {
  if (keysFolder === dataFolder) return null;
  try {
    requireKeysFolder(keysFolder);
    return null;
  } catch (error) {
    if (error instanceof KeyFileError) return error.message;
    throw error;
  }
}

/** Why the key files that lie there, or their folder, cannot be used: none when they can. Looks at nothing else. */
export function unusableKeys(places: KeyPlaces): string[] {
  const folder = unusableFolder(places);
  if (folder !== null) return [folder];
  return keysInFiles(places).flatMap((name) => findKey(name, places.keysFolder, '').problem ?? []);
}

/** Throws `conflict`, with every problem, when a key file or their folder cannot be used. */
export async function requireUsableKeys(places: KeyPlaces): Promise<void> {
  const problems = unusableKeys(places);
  if (problems.length > 0) throw refusal('its keys cannot be used', await allProblems(places, problems), places);
}

/** With those of files that can be used and are other keys, as far as the registry can be read. */
async function allProblems(places: KeyPlaces, unusable: string[]): Promise<string[]> {
  try {
    return await keyProblems(places);
  } catch {
    // Whoever mends the files is told of the registry by the next start.
    return unusable;
  }
}

/** Why a start is refused for its keys, a sentence for each: none when it is not. Throws the errors of its database. */
export async function keyProblems(places: KeyPlaces): Promise<string[]> {
  const folder = unusableFolder(places);
  if (folder !== null) return [folder];
  const evidence = await readKeyEvidence(places.driver);
  const row = evidence?.known ?? null;
  const { salt } = row ?? noKnownKeys();
  return keysInFiles(places).flatMap((name) => {
    const found = findKey(name, places.keysFolder, salt);
    const entry = row?.keys[name];
    if (found.problem !== null) return [found.problem];
    if (entry === undefined) return evidence === null ? [] : (whyNotItsKey(name, found, evidence, places.driver) ?? []);
    return mismatch(name, found, entry, places, salt) ?? oldMismatch(name, entry, places, salt) ?? [];
  });
}

export interface OwnKeys {
  /** Texts of the keys that are being replaced and are accepted still. */
  before: Partial<Record<KeyName, string>>;
  /** The sealer of secrets for a purpose, or for what has none. */
  sealer(purpose?: string): SecretSealer;
  /** Records what the registry does not know yet, once it is open and the missing keys are made. */
  record(facts: FactStore, clock: Clock): Promise<void>;
}

/** Throws `conflict`, with every problem, when the keys are not the registry's. */
export async function requireOwnKeys(places: KeyPlaces): Promise<OwnKeys> {
  const problems = await keyProblems(places);
  if (problems.length > 0) throw refusal('its keys are not those of the registry', problems, places);
  const row = (await readKeyEvidence(places.driver))?.known;
  const before: OwnKeys['before'] = {};
  for (const name of keysInFiles(places)) {
    if (row?.keys[name]?.accepts == null) continue;
    const text = readKeyFile(places.keysFolder, oldKeyFile(name));
    if (text !== null) before[name] = text;
  }
  return {
    before,
    sealer: (purpose) => openSecretSealer(places.keysFolder, purpose, before.secrets),
    record: (facts, clock) => recordKeys(facts, places, clock),
  };
}

/** Adds the fingerprints of keys that the registry does not know yet. */
async function recordKeys(facts: FactStore, places: KeyPlaces, clock: Clock): Promise<void> {
  if (!places.driver.isKept) return;
  const row: KnownKeys = parseKnownKeys(await facts.read(KEYS_FACT)) ?? noKnownKeys();
  const unknown = keysInFiles(places).filter((name) => row.keys[name] === undefined);
  const since = epochSeconds(clock);
  for (const name of unknown) {
    const { fingerprint, problem } = findKey(name, places.keysFolder, row.salt);
    if (fingerprint === null) throw new Error(problem ?? `${KEY_FILES[name]} is missing.`);
    row.keys[name] = { makes: fingerprint, accepts: null, since };
  }
  if (unknown.length > 0) await facts.write(KEYS_FACT, row, since);
}

/** Why the key in the file is not the one of the registry's row; null when it is. */
function mismatch(
  name: KeyName,
  { fingerprint }: FoundKey,
  entry: KeyEntry,
  places: KeyPlaces,
  salt: string,
): string | null {
  if (fingerprint === entry.makes) return null;
  const { keysFolder, dataFolder } = places;
  const path = join(keysFolder, KEY_FILES[name]);
  if (findKey(name, keysFolder, salt, newKeyFile(name)).fingerprint === entry.makes)
    return interrupted(name, keysFolder);
  if (fingerprint !== null) {
    return `${path} is another key: the registry knows ${entry.makes}, this one is ${fingerprint}.`;
  }
  const elsewhere = join(dataFolder, KEY_FILES[name]);
  const isThere = keysFolder !== dataFolder && existsSync(elsewhere);
  const hint = isThere ? ` There is ${elsewhere}: move it.` : '';
  return `${path} is missing: the registry knows ${entry.makes}.${hint}`;
}

/** Why a change of the key, or the key before it that the registry still accepts, is not whole; null when it is. */
function oldMismatch(
  name: KeyName,
  { makes, accepts }: KeyEntry,
  { keysFolder }: KeyPlaces,
  salt: string,
): string | null {
  if (findKey(name, keysFolder, salt, newKeyFile(name)).fingerprint === makes) return interrupted(name, keysFolder);
  if (accepts === null) return null;
  const { fingerprint, problem } = findKey(name, keysFolder, salt, oldKeyFile(name));
  if (fingerprint === accepts) return null;
  const path = join(keysFolder, oldKeyFile(name));
  const what = fingerprint === null ? 'is missing' : `is another key (${fingerprint})`;
  return problem ?? `${path} ${what}: ${KEY_FILES[name]} is being rotated, and the registry still accepts ${accepts}.`;
}

const interrupted = (name: KeyName, folder: string) =>
  `The change of ${join(folder, KEY_FILES[name])} was interrupted: npm run keys -- rotate ${name} goes on with it.`;

/** Why a key that the registry does not know by its fingerprint cannot be its own; null when it may be. */
function whyNotItsKey(
  name: KeyName,
  { text, fingerprint }: FoundKey,
  evidence: KeyEvidence,
  { headPath }: RegistryDriver,
): string | null {
  // No row is made with the other two alone: sessions and keys of programs are found by digests of themselves.
  if (name === 'secrets') return whyNotOpening(text, evidence);
  if (name !== 'signing') return null;
  const head = headPath === null ? null : headOrNull(headPath);
  const signer = head?.issuer ?? evidence.lastSealer;
  if (signer === null || (head !== null && fingerprint !== null && isSigned(head, [fingerprint]))) return null;
  if (head === null && signer === fingerprint) return null;
  const what = head === null ? 'the last sealed month of the ledger' : 'the signed head of the ledger';
  return fingerprint === null
    ? `${KEY_FILES.signing} is missing: ${what} is signed by ${signer}.`
    : `${KEY_FILES.signing} is another key: ${what} is signed by ${signer}, this one is ${fingerprint}.`;
}

/** One that opens proves the key. With none it is another one, or nothing at all can be opened. */
function whyNotOpening(text: string | null, { secrets, webhooks }: SealedRows): string | null {
  const all = secrets.length + webhooks.length;
  if (all === 0) return null;
  if (text === null) return `${KEY_FILES.secrets} is missing: ${all} sealed secrets are in the registry.`;
  const opener = secretOpener([text]);
  return secrets.some(opener.opensSecret) || webhooks.some(opener.opensWebhook)
    ? null
    : `${KEY_FILES.secrets} is another key: it opens none of the ${all} sealed secrets.`;
}

function headOrNull(path: string): ReturnType<typeof readHead> {
  try {
    return readHead(path);
  } catch {
    // One that cannot be read is told by those who need it, and proves no key.
    return null;
  }
}

function refusal(why: string, problems: readonly string[], { driver }: KeyPlaces): WinterdockError {
  return new WinterdockError(
    'conflict',
    `The server does not start: ${why}. Nothing was changed in ${driver.name} or beside it.
${problems.map((problem) => `  ${problem}`).join('\n')}
${WAYS_OUT}`,
    { extra: { start_refused: 'keys' } },
  );
}

const WAYS_OUT = `Ways out (docs/secrets.md, "Keys of the server"):
  put the right files back, or set WB_KEYS to the folder where they are
  npm run restore -- --from BACKUP --with-keys   brings back those of a backup
  npm run keys -- list                           says which key is which, changes nothing
  npm run keys -- accept NAME                    goes on with the key that lies there, or a new one; what the lost one opened is lost`;
