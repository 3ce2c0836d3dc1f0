/**
 * The keys of a registry that comes from a backup: what its secrets are opened by, and which keys belong to it from now
 * on. A person decided for the keys that lie there, so they are recorded whatever the registry knew before.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { newSecret } from '../auth/secrets.ts';
import { type Clock, epochSeconds } from '../base/clock.ts';
import { KEY_FILES, type KeyName, oldKeyFile } from '../base/key-files.ts';
import { newSecretsKey } from '../base/sealed-secrets.ts';
import { readOrMakeSecretFile } from '../base/secret-file.ts';
import { newSigningKey } from '../base/signing.ts';
import type { RegistryDriver } from '../registry/driver.ts';
import type { FactStore } from '../registry/facts.ts';
import { readKeyEvidence } from './key-evidence.ts';
import { KEYS_FACT, noKnownKeys, parseKnownKeys } from './known-keys.ts';
import { secretOpener } from './secret-opener.ts';
import { findKey, type KeyPlaces, keysInFiles } from './start-keys.ts';

/** How the text of each new key file is made. */
export const NEW_KEYS: Readonly<Record<KeyName, () => string>> = {
  auth: newSecret,
  secrets: newSecretsKey,
  signing: newSigningKey,
  admin: newSecret,
};

/**
 * The secrets in a registry that none of the texts of `secrets.key` opens, named for people. Changes
 * nothing.
 */
export async function closedSecrets(driver: RegistryDriver, texts: readonly string[]): Promise<string[]> {
  const evidence = await readKeyEvidence(driver);
  if (evidence === null) return [];
  const opener = secretOpener(texts);
  return [
    ...evidence.secrets
      .filter((row) => !opener.opensSecret(row))
      .map(({ name, instance, tenant }) => `${name} of ${instance || tenant}`),
    ...evidence.webhooks
      .filter((row) => !opener.opensWebhook(row))
      .map(({ name, id }) => `the webhook ${name} (${id})`),
  ];
}

/**
 * Makes the key files that are missing, and records all of them as the registry's. What a rotation had not finished is
 * still accepted where its old key is there too.
 */
export async function recordRestoredKeys(facts: FactStore, places: KeyPlaces, clock: Clock): Promise<void> {
  const row = parseKnownKeys(await facts.read(KEYS_FACT)) ?? noKnownKeys();
  const since = epochSeconds(clock);
  for (const name of keysInFiles(places)) {
    readOrMakeSecretFile(join(places.keysFolder, KEY_FILES[name]), NEW_KEYS[name]);
    const { fingerprint, problem } = findKey(name, places.keysFolder, row.salt);
    if (fingerprint === null) throw new Error(problem ?? `${KEY_FILES[name]} is missing.`);
    const known = row.keys[name];
    const old = known?.accepts ?? null;
    const hasOld =
      old !== null &&
      existsSync(join(places.keysFolder, oldKeyFile(name))) &&
      findKey(name, places.keysFolder, row.salt, oldKeyFile(name)).fingerprint === old;
    const isSame = known?.makes === fingerprint;
    row.keys[name] = {
      makes: fingerprint,
      accepts: isSame && hasOld ? old : null,
      since: isSame ? known.since : since,
    };
  }
  await facts.write(KEYS_FACT, row, since);
}
