/**
 * One SQLite file of a sandbox, awake for the native profile: opened, committed, and put to rest. Owns the one
 * transaction that holds everything since the last commit, in the order in which it was done. Knows nothing of FUSE.
 */
import { type Clock, systemClock } from '../../base/clock.ts';
import { openLiveFile, restLiveFile } from '../../vfs/handles.ts';
import { ensureIdentity, identityOf } from '../../vfs/identity.ts';
import { translateSqliteError } from '../../vfs/sqlite-errors.ts';
import { Statements } from '../../vfs/statements.ts';
import { Attributes } from './attributes.ts';
import { Contents } from './contents.ts';
import { EIO, endWith, RequestRefused } from './errno.ts';
import { FileBytes } from './file-bytes.ts';
import { FileSystem } from './file-system.ts';
import { Fold } from './fold.ts';
import { Inodes } from './inodes.ts';
import { Links } from './links.ts';
import { Merge } from './merge.ts';
import { Removal } from './removal.ts';
import { Room } from './room.ts';
import { beginNativeTables, hasNativeTables, NATIVE_ONLY, VOLUME_INOS, WHOLE_BYTES } from './tables.ts';

interface State {
  session: number;
  awake: number;
  next_ino: number;
  next_link: number;
  used: number;
}

interface NativeFileOptions {
  /** What the file may hold at rest, in bytes. */
  maxBytes: number;
  mustExist?: boolean;
  /** Leaves `tmp` as it is: for who only puts a file to rest that a killed process left. */
  keepsTmp?: boolean;
  clock?: Clock;
}

/** SQLite's own page limit is not the quota here: what is awake has chunks beside rows. */
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

/**
 * Opens a file, also one that a killed process left awake: it has what was committed last. `tmp` is empty afterwards.
 * Throws `missing_file` (with `mustExist`), `corrupt`, `conflict`, `storage_unavailable`.
 */
export function openNativeFile(file: string, options: NativeFileOptions): NativeFile {
  const mustExist = options.mustExist ?? true;
  const { db } = openLiveFile(file, { maxBytes: NO_LIMIT, mustExist, joins: true, knowsNative: true });
  try {
    return new NativeFile(db, options);
  } catch (error) {
    db.close();
    throw translateSqliteError(error);
  }
}

export class NativeFile {
  /** What guests do with names, and with bytes. */
  readonly names: FileSystem;
  readonly bytes: FileBytes;
  readonly #db: ReturnType<typeof openLiveFile>['db'];
  readonly #statements: Statements;
  readonly #inodes: Inodes;
  readonly #links: Links;
  readonly #contents: Contents;
  readonly #room: Room;
  readonly #removal: Removal;
  readonly #fold: Fold;
  readonly #session: number;
  #isAwake: boolean;
  /** Why nothing more is done: what is in memory and in the file may differ. */
  #failure: unknown = null;

  constructor(db: ReturnType<typeof openLiveFile>['db'], options: NativeFileOptions) {
    const clock = options.clock ?? systemClock;
    this.#db = db;
    const statements = new Statements(db);
    this.#statements = statements;
    const state = this.#stateAtStart();
    this.#isAwake = state.awake !== 0;
    this.#session = this.#isAwake ? state.session : state.session + 1;
    const begin = () => this.#begin();
    const inodes = new Inodes(statements, { clock, session: this.#session, nextIno: state.next_ino });
    const links = new Links(statements, state.next_link);
    const contents = new Contents(statements);
    const room = new Room(options.maxBytes, this.#isAwake ? state.used : this.#bytesAtRest());
    const merge = new Merge({ statements, inodes, links, contents, begin });
    const removal = new Removal({ statements, inodes, links, contents, merge, room });
    const attributes = new Attributes(statements, room, begin);
    this.#inodes = inodes;
    this.#links = links;
    this.#contents = contents;
    this.#room = room;
    this.#removal = removal;
    this.#fold = new Fold({ statements, clock, inodes, links, contents, merge, begin, commit: () => this.commit() });
    this.names = new FileSystem({ inodes, links, attributes, merge, removal, room, begin });
    this.bytes = new FileBytes({ inodes, contents, room, begin, flush: () => this.#flush() });
    this.#settle(options.keepsTmp === true);
  }

  /** Whether there is something that a commit would make durable. */
  get hasChanges(): boolean {
    return this.#db.isTransaction || this.#inodes.hasChanges || this.#contents.hasChanges;
  }

  /**
   * Does what a guest asks. Throws `RequestRefused` where it cannot be done. After any other error nothing more is done
   * until the file is opened again, with what was committed last.
   */
  request<T>(work: () => T): T {
    if (this.#failure !== null) endWith(EIO);
    try {
      return work();
    } catch (error) {
      if (error instanceof RequestRefused) throw error;
      this.#failure = error;
      return endWith(EIO);
    }
  }

  /** What ended the work on the file; null while it goes on. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Makes everything so far durable, as one transaction. Throws what SQLite does; then nothing more is done. */
  commit(): void {
    if (this.#failure !== null) throw this.#failure;
    try {
      if (!this.hasChanges) {
        this.#contents.relax();
        return;
      }
      this.#flush();
      this.#statements.run(
        'UPDATE native_state SET session = ?, awake = 1, next_ino = ?, next_link = ?, used = ?',
        ...[this.#session, this.#inodes.nextIno, this.#links.nextId, this.#room.used],
      );
      this.#statements.run('COMMIT');
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /**
   * Folds what has changed into the seed's table and puts the file to rest. Returns its mark, by which it is known;
   * null for one without. Throws `conflict` while others have it open; the rest of the work can be repeated with a file
   * that is opened again.
   */
  close(): string | null {
    try {
      this.commit();
      if (this.#isAwake) {
        this.#begin();
        this.#removal.endNameless();
        this.#fold.run();
        this.#flush();
        const large = `SELECT 1 FROM native_inode WHERE size > ${WHOLE_BYTES} LIMIT 1`;
        if (this.#statements.get(large) === undefined) this.#db.exec(`DROP VIEW ${NATIVE_ONLY.name}`);
        this.#statements.run('UPDATE native_state SET awake = 0');
        this.#statements.run('COMMIT');
        this.#isAwake = false;
        ensureIdentity(this.#db);
      }
      this.#statements.clear();
      const identity = identityOf(this.#db, true);
      restLiveFile(this.#db);
      return identity;
    } catch (error) {
      this.abandon();
      throw translateSqliteError(error);
    }
  }

  /** Closes the file as a killed process would: with what was committed last, awake. */
  abandon(): void {
    if (this.#db.isOpen) this.#db.close();
  }

  /** The first change after a rest says that the file is awake. */
  #begin(): void {
    if (this.#db.isTransaction) return;
    this.#db.exec('BEGIN IMMEDIATE');
    if (this.#isAwake) return;
    const isDeclared = this.#statements.get('SELECT 1 FROM sqlite_schema WHERE name = ?', NATIVE_ONLY.name);
    if (isDeclared === undefined) this.#db.exec(NATIVE_ONLY.sql);
    this.#statements.run('UPDATE native_state SET awake = 1, session = ?', this.#session);
    this.#isAwake = true;
  }

  #flush(): void {
    this.#begin();
    this.#inodes.flush();
    this.#contents.flush();
  }

  #stateAtStart(): State {
    const db = this.#db;
    if (!hasNativeTables(db)) {
      db.exec('BEGIN IMMEDIATE');
      beginNativeTables(db);
      db.exec('COMMIT');
    }
    const sql = 'SELECT session, awake, next_ino, next_link, used FROM native_state';
    return db.prepare(sql).get() as unknown as State;
  }

  /** Ends what a killed process left open, and what a wake does not keep. */
  #settle(keepsTmp: boolean): void {
    const tmp = this.#inodes.get(VOLUME_INOS.tmp);
    const hasTmp =
      !keepsTmp &&
      (!this.#links.isEmpty(tmp.ino) ||
        this.#statements.get(
          "SELECT 1 WHERE EXISTS (SELECT 1 FROM vfs WHERE volume = 'tmp') OR EXISTS (SELECT 1 FROM vfs_node WHERE volume = 'tmp')",
        ) !== undefined);
    const wasAwake = this.#isAwake;
    if (!wasAwake && !hasTmp) return;
    if (wasAwake) this.#removal.endNameless();
    if (hasTmp) {
      this.#begin();
      this.#removal.clear(tmp);
    }
    this.commit();
    if (!wasAwake) this.#room.add(this.#bytesAtRest() - this.#room.used);
  }

  /** Bytes of the pages that the file uses. */
  #bytesAtRest(): number {
    const number = (name: string) => Number(Object.values(this.#db.prepare(`PRAGMA ${name}`).get() ?? {})[0]);
    return (number('page_count') - number('freelist_count')) * number('page_size');
  }
}
