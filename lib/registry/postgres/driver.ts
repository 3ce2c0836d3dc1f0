/**
 * The registry in a database of Postgres, while it is closed. It is a schema of its own: a draft is another schema,
 * which takes the name of the first in one transaction, and what is set aside keeps its rows under a third one. The
 * signed head lies on this machine's disk. Knows nothing of what the rows mean.
 */
import { join } from 'node:path';
import type { Sql } from 'postgres';
import { copyFile, makeFolder, unlinkFile } from '../../base/effects.ts';
import { messageOf, WinterdockError } from '../../base/errors.ts';
import type { RegistryAddress } from '../../base/registry-url.ts';
import type {
  RegistryDraft,
  RegistryDriver,
  RegistryMoment,
  RegistryOptions,
  RegistryPresence,
  RegistryUse,
} from '../driver.ts';
import type { LedgerView } from '../ledger.ts';
import type { Registry } from '../registry.ts';
import { knownMigrations } from '../sqlite/migrate.ts';
import { openSqliteRegistry } from '../sqlite/open.ts';
import { connect, connectorTo, SCHEMA } from './connect.ts';
import { PostgresDatabase } from './database.ts';
import { codeOf, isAway, isUnwritable } from './errors.ts';
import type { Listen } from './follower.ts';
import { openLiveReader } from './live-reader.ts';
import { migrate, requireKnown, stepsOf } from './migrate.ts';
import { openPostgresRegistry } from './open.ts';
import { ConnectionPool } from './pool.ts';
import { isLocked, isLockedNow, RegistryLock } from './registry-lock.ts';
import { openMoment } from './registry-moment.ts';
import { carryIn } from './whole-schema.ts';

/** Of the files that belong to it. */
const FILES = 'registry';

type Address = Extract<RegistryAddress, { driver: 'postgres' }>;

/** Of a registry that is made from a backup and is not in its place yet. */
const DRAFT = `${SCHEMA}_restoring`;
/** What is set aside has this name and the time. */
const ASIDE = `${SCHEMA}_replaced_`;
/** The oldest that knows every word that is used. */
const LEAST_VERSION = 15;
/** Of a reader: one for a moment that it holds, and one beside. */
const READERS = 2;
/** Of the session that hears what others commit. */
const LISTENER = 'winterdock listener';
/** Wrong user or password, and no such database. */
const NOT_LET_IN = /^(28|3D000)/;

/** The driver of a registry in a database of Postgres. */
export function postgresDriver(address: Address): RegistryDriver {
  return new PostgresDriver(address);
}

class PostgresDriver implements RegistryDriver {
  readonly name: string;
  readonly isKept = true;
  readonly headPath: string;
  readonly #address: Address;
  #lock: RegistryLock | null = null;

  constructor(address: Address) {
    this.#address = address;
    this.name = address.server.name;
    this.headPath = join(address.headFolder, `${FILES}.head`);
  }

  /** Of the SQLite file that a copy is. */
  knownMigrations(): number {
    return knownMigrations();
  }

  presence(): Promise<RegistryPresence> {
    return this.#with(async (sql) =>
      (await stepsOf(sql)) === null ? { kind: 'missing' } : { kind: 'there', logBytes: 0 },
    );
  }

  async requireUsable(): Promise<void> {
    await this.#with(async (sql) => {
      const [[version, encoding, tables] = []] = await sql
        .unsafe(
          `select current_setting('server_version_num')::int, current_setting('server_encoding'),
            (select count(*) from pg_class where relnamespace = to_regnamespace('${SCHEMA}'))`,
        )
        .values();
      const found = Math.floor(Number(version) / 10_000);
      if (found < LEAST_VERSION) throw this.#unusable(`is in PostgreSQL ${found}; ${LEAST_VERSION} or later is needed`);
      if (encoding !== 'UTF8') throw this.#unusable(`is in a database with the encoding ${String(encoding)}, not UTF8`);
      const steps = await stepsOf(sql);
      if (steps === null && Number(tables) > 0)
        throw this.#unusable(`has tables of something else in its schema ${SCHEMA}`);
      requireKnown(steps);
    });
  }

  async requireUnlocked(use: RegistryUse = {}): Promise<void> {
    if (await this.#with((sql) => isLockedNow(sql, use))) throw isLocked(this.name, use.isShared);
  }

  async lock(
    _dataFolder: string,
    onLost: (why: Error) => void = () => undefined,
    { isShared = false }: RegistryUse = {},
  ): Promise<() => Promise<void>> {
    const options = { address: this.#address.server, name: this.name, isShared, onLost };
    const lock = await RegistryLock.take(options).catch((error) => {
      throw this.#explained(error);
    });
    this.#lock = lock;
    return async () => {
      if (this.#lock === lock) this.#lock = null;
      await lock.release();
    };
  }

  open(options: RegistryOptions): Promise<Registry> {
    return this.#openIn(SCHEMA, options, this.#lock);
  }

  async #openIn(schema: string, options: RegistryOptions, lock: RegistryLock | null): Promise<Registry> {
    await this.#with(async (sql) => {
      await migrate(sql, schema, undefined, lock === null ? undefined : (work) => lock.alone(work));
      await lock?.note(sql);
    }, schema);
    const { server, connections } = this.#address;
    const pool = await ConnectionPool.open(server, { most: connections, schema });
    if (lock !== null) lock.onSilent = () => pool.cut();
    const listener = await connectorTo(server);
    const listen: Listen = (events) => listener({ ...events, schema, name: LISTENER });
    const following = options.follow === true ? { listen } : {};
    try {
      const database = new PostgresDatabase(pool, lock);
      return await openPostgresRegistry(database, { ...options, name: this.name, ...following });
    } catch (error) {
      await pool.end();
      throw this.#explained(error);
    }
  }

  async inspect(): Promise<RegistryMoment> {
    return this.#reading((database) => openMoment(database, this.name));
  }

  async readLive() {
    return this.#reading(async (database) => openLiveReader(database));
  }

  async readLedger(): Promise<LedgerView> {
    const { chain, segments, close } = await this.inspect();
    return { lines: chain, segments: () => segments.list(), close };
  }

  /** Opens what is there, of this version, to be read. */
  async #reading<T>(open: (database: PostgresDatabase) => Promise<T>): Promise<T> {
    await this.#with(async (sql) => {
      const steps = await stepsOf(sql);
      if (steps === null) throw new WinterdockError('not_found', `There is no registry ${this.name}.`);
      requireKnown(steps);
    });
    const pool = await ConnectionPool.open(this.#address.server, { most: READERS });
    try {
      return await open(new PostgresDatabase(pool));
    } catch (error) {
      await pool.end();
      throw this.#explained(error);
    }
  }

  async draft(from: string, options: RegistryOptions): Promise<RegistryDraft> {
    const { server, headFolder } = this.#address;
    // The file stays as it is, and may be of an earlier version.
    const copy = join(headFolder, `${FILES}.restoring`);
    const removeCopy = async () => {
      for (const part of ['-wal', '-shm', '-journal', '']) await unlinkFile(copy + part);
    };
    await makeFolder(headFolder);
    await removeCopy();
    await copyFile(from, copy);
    try {
      await openSqliteRegistry({ path: copy, ...options, durable: false, keeper: null }).close();
      await this.#with((sql) => sql.unsafe(`drop schema if exists ${DRAFT} cascade`));
      await this.#with((sql) => migrate(sql, DRAFT), DRAFT);
      const pool = await ConnectionPool.open(server, { most: 1, schema: DRAFT });
      try {
        await carryIn(await pool.own(), copy);
      } catch (error) {
        throw this.#explained(error);
      } finally {
        await pool.end();
      }
    } finally {
      await removeCopy();
    }
    const registry = await this.#openIn(DRAFT, options, null);
    let isPlaced = false;
    return {
      registry,
      place: async () => {
        await registry.close();
        await this.#with((sql) =>
          sql.begin(async (transaction) => {
            await transaction.unsafe(`drop schema if exists ${SCHEMA} cascade`);
            await transaction.unsafe(`alter schema ${DRAFT} rename to ${SCHEMA}`);
            await this.#lock?.note(transaction as unknown as Sql);
          }),
        );
        isPlaced = true;
      },
      discard: async () => {
        await registry.close();
        if (!isPlaced) await this.#with((sql) => sql.unsafe(`drop schema if exists ${DRAFT} cascade`));
      },
    };
  }

  async setAside(): Promise<string | null> {
    return this.#with(async (sql) => {
      if ((await stepsOf(sql)) === null) return null;
      const kept = ASIDE + new Date().toISOString().replaceAll(/[-:.TZ]/g, '');
      await sql.unsafe(`alter schema ${SCHEMA} rename to ${kept}`);
      return `The registry ${this.name} of before is in the schema ${kept} of its database; drop schema ${kept} cascade removes it.`;
    });
  }

  async remove(): Promise<void> {
    await this.#with((sql) => sql.unsafe(`drop schema if exists ${SCHEMA} cascade`));
  }

  /** Runs `work` on a connection of its own. */
  async #with<T>(work: (sql: Sql) => Promise<T>, schema = SCHEMA): Promise<T> {
    let sql: Sql | null = null;
    try {
      sql = await connect(this.#address.server, { schema });
      return await work(sql);
    } catch (error) {
      throw this.#explained(error);
    } finally {
      await sql?.end({ timeout: 1 });
    }
  }

  #unusable(why: string, cause?: unknown): WinterdockError {
    return new WinterdockError('conflict', `The registry ${this.name} ${why}. Nothing was changed.`, {
      extra: { start_refused: 'unusable' },
      ...(cause === undefined ? {} : { cause }),
    });
  }

  /** What a person is told of an error of the connection: never the password, which no message of the client has. */
  #explained(error: unknown): unknown {
    if (error instanceof WinterdockError) return error;
    const code = codeOf(error) ?? '';
    if (NOT_LET_IN.test(code)) {
      const isAsked = code.startsWith('28') && this.#address.server.password === null && !process.env.PGPASSWORD;
      const how = isAsked ? '. No password was given: set one in WB_REGISTRY, or PGPASSWORD' : '';
      return this.#unusable(`cannot be opened: ${messageOf(error)}${how}`, error);
    }
    if (!isAway(error) && !isUnwritable(error)) return error;
    const { mode } = this.#address.server.tls;
    const isPlain = mode === 'disable' || mode === 'prefer' || !isAway(error);
    const tls = isPlain ? '' : ` The connection has to be encrypted (sslmode=${mode}).`;
    const what = isAway(error) ? 'cannot be reached' : 'cannot be used now';
    return new WinterdockError(
      'registry_unavailable',
      `The registry ${this.name} ${what}: ${messageOf(error) || code}.${tls} Nothing was changed.`,
      { retryAfterSeconds: 1, cause: error },
    );
  }
}
