/**
 * The key files in the replica: encrypted with the passphrase of backups, or by their names alone without one. They are
 * put there again when they, the passphrase or the place changed.
 */
import { randomBytes, scrypt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import type { Clock } from '../base/clock.ts';
import type { Config } from '../base/config.ts';
import { makeFolder, renameFile, writeFile } from '../base/effects.ts';
import { messageOf } from '../base/errors.ts';
import type { Logger } from '../base/log.ts';
import { issuerOf } from '../base/signing.ts';
import type { ObjectStore } from '../storage/object-store/object-store.ts';
import { encryptKeys, keyFilesOf, readKeys } from './key-files.ts';
import { putKeys } from './replica-extras.ts';

/** How often the key files are looked at, in milliseconds: a rotation makes new ones. */
const LOOK_EVERY_MS = 60_000;
/** In the data folder: what was put there last, as a digest from which nothing can be had. */
const NOTE = 'replica/keys.json';
const DIGEST_BYTES = 32;
const noteSchema = z.object({ salt: z.base64(), digest: z.base64() });

export interface ShippedKeysParts {
  store: Pick<ObjectStore, 'put' | 'url'>;
  config: Pick<Config, 'dataFolder' | 'keysFolder'>;
  /** Null: only their names are put there. */
  passphrase: string | null;
  clock: Clock;
  log: Logger;
}

export class ShippedKeys {
  readonly #parts: ShippedKeysParts;
  /** What is in the replica; null: not known yet. */
  #there: string | null = null;
  #isLost = false;
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> = Promise.resolve();

  constructor(parts: ShippedKeysParts) {
    this.#parts = parts;
  }

  start(): void {
    this.#look();
    this.#timer ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
  }

  /** What was put there may be gone: it is put there once more. */
  putAgain(): void {
    this.#isLost = true;
    this.#there = null;
    this.#look();
  }

  async stop(): Promise<void> {
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#work;
  }

  #look(): void {
    this.#work = this.#work
      .then(() => this.#ship())
      .catch((error: unknown) => {
        this.#parts.log.warn({ error: messageOf(error) }, 'the key files are not in the replica yet');
      });
  }

  async #ship(): Promise<void> {
    const { store, config, passphrase, clock } = this.#parts;
    const files = keyFilesOf(config);
    const keys = readKeys(config, files);
    const now = JSON.stringify([store.url, keys, passphrase]);
    if (now === this.#there) return;
    if (this.#isLost || !(await this.#isNoted(now))) {
      const sealed = passphrase === null ? null : Buffer.from(await encryptKeys(keys, passphrase));
      await putKeys(store, { files, issuer: issuerOf(config.keysFolder) ?? '', sealed }, clock.now());
      await this.#note(now);
      this.#isLost = false;
    }
    this.#there = now;
  }

  #path(): string {
    return join(this.#parts.config.dataFolder, NOTE);
  }

  async #isNoted(text: string): Promise<boolean> {
    try {
      const { salt, digest } = noteSchema.parse(JSON.parse(readFileSync(this.#path(), 'utf8')));
      return (await digestOf(text, Buffer.from(salt, 'base64'))).toString('base64') === digest;
    } catch {
      // None, or half of one: they are put there once more.
      return false;
    }
  }

  async #note(text: string): Promise<void> {
    const salt = randomBytes(DIGEST_BYTES);
    const digest = await digestOf(text, salt);
    const path = this.#path();
    await makeFolder(dirname(path));
    await writeFile(
      `${path}.unfinished`,
      JSON.stringify({ salt: salt.toString('base64'), digest: digest.toString('base64') }),
    );
    await renameFile(`${path}.unfinished`, path);
  }
}

const derive = promisify(scrypt) as (text: string, salt: Buffer, bytes: number) => Promise<Buffer>;
const digestOf = (text: string, salt: Buffer) => derive(text, salt, DIGEST_BYTES);
