/** A file of this profile in a folder of its own, used by paths instead of numbers. For tests. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, FakeClock } from '../../base/clock.ts';
import { type Inode, S_IFDIR, S_IFLNK, S_IFREG } from '../file/inode.ts';
import { type NativeFile, openNativeFile } from '../file/native-file.ts';
import { VOLUME_INOS } from '../file/tables.ts';

const MIB = 1024 * 1024;

export class OpenedFile {
  readonly folder = mkdtempSync(join(tmpdir(), 'winterdock-native-'));
  readonly file = join(this.folder, 'vfs.sqlite');
  readonly clock = new FakeClock();
  native!: NativeFile;

  open({ maxBytes = 512 * MIB, keepsTmp = false, clock = this.clock as Clock } = {}): this {
    this.native = openNativeFile(this.file, { maxBytes, mustExist: false, keepsTmp, clock });
    return this;
  }

  /** Puts the file to rest and opens it again. */
  rest(): this {
    this.native.close();
    this.clock.advance(10);
    return this.open();
  }

  /** As if the process had been killed, and another one had opened the file. */
  kill(): this {
    this.native.abandon();
    this.clock.advance(10);
    return this.open();
  }

  remove(): void {
    this.native?.abandon();
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** Reads and changes the file at rest, as another tool does. */
  with<T>(work: (db: DatabaseSync) => T): T {
    const db = new DatabaseSync(this.file);
    try {
      return work(db);
    } finally {
      db.close();
    }
  }

  find(path: string | Buffer): Inode | null {
    let inode: Inode | null = this.native.names.inode(this.#volumeOf(path));
    for (const name of namesOf(path)) {
      if (inode === null) return null;
      const { ino }: Inode = inode;
      inode = this.native.request((): Inode | null => this.native.names.lookup(ino, name));
    }
    return inode;
  }

  get(path: string | Buffer): Inode {
    const inode = this.find(path);
    if (inode === null) throw new Error(`There is no ${path}.`);
    return inode;
  }

  mkdir(path: string): Inode {
    return this.make(path, S_IFDIR, 0o755);
  }

  symlink(path: string, target: string): Inode {
    return this.make(path, S_IFLNK, 0o777, Buffer.from(target));
  }

  make(path: string | Buffer, kind: number, mode: number, target: Buffer | null = null): Inode {
    const [parent, name] = this.#notedPath(path);
    return this.native.request(() => this.native.names.create(parent, name, kind, mode, target));
  }

  write(path: string | Buffer, bytes: Buffer | string, offset = 0): Inode {
    const inode = this.find(path) ?? this.make(path, S_IFREG, 0o644);
    this.native.request(() => this.native.bytes.write(inode.ino, offset, Buffer.from(bytes), false));
    return inode;
  }

  truncate(path: string, size: number): void {
    this.native.request(() => this.native.bytes.setAttributes(this.get(path).ino, { size }));
  }

  read(path: string | Buffer): Buffer {
    const { ino, size } = this.get(path);
    const bytes = Buffer.alloc(size);
    this.native.request(() => this.native.bytes.read(ino, 0, size, bytes, 0));
    return bytes;
  }

  text(path: string | Buffer): string {
    return this.read(path).toString();
  }

  link(from: string, to: string): void {
    const { ino } = this.get(from);
    const [parent, name] = this.#notedPath(to);
    this.native.request(() => this.native.names.link(ino, parent, name));
  }

  rename(from: string, to: string): void {
    const places = [...this.#notedPath(from), ...this.#notedPath(to)] as const;
    this.native.request(() => this.native.names.rename(...places, 0));
  }

  unlink(path: string): void {
    const place = this.#notedPath(path);
    this.native.request(() => this.native.names.unlink(...place));
  }

  rmdir(path: string): void {
    const place = this.#notedPath(path);
    this.native.request(() => this.native.names.rmdir(...place));
  }

  names(path: string): string[] {
    const { ino } = this.get(path);
    const entries = this.native.request(() => this.native.names.entries(ino, 0, 100_000));
    return entries.map(({ name }) => name.toString('latin1')).toSorted();
  }

  #notedPath(path: string | Buffer): [number, Buffer] {
    const names = namesOf(path);
    const name = names.pop() ?? Buffer.alloc(0);
    const parent = Buffer.concat([volumeOf(path), ...names.flatMap((each) => [Buffer.from('/'), each])]);
    return [this.get(parent).ino, name];
  }

  #volumeOf(path: string | Buffer): number {
    return VOLUME_INOS[volumeOf(path).toString() as keyof typeof VOLUME_INOS];
  }
}

/** `workspace/a/b`, in bytes. */
function partsOf(path: string | Buffer): Buffer[] {
  const text = typeof path === 'string' ? Buffer.from(path).toString('latin1') : path.toString('latin1');
  return text.split('/').map((part) => Buffer.from(part, 'latin1'));
}

function volumeOf(path: string | Buffer): Buffer {
  return partsOf(path)[0] ?? Buffer.alloc(0);
}

function namesOf(path: string | Buffer): Buffer[] {
  return partsOf(path).slice(1);
}
