/**
 * The file system of SQLite: the calls that it makes for files, on those of the workspace. Every other one is taken
 * out.
 */
import type { Sqlite3Static, WasmPointer } from '@sqlite.org/sqlite-wasm';
import { normalizePath } from '../shell/guest-paths.ts';
import type { OpenContent, WorkspaceFiles } from './workspace-files.ts';

export const FILE_SYSTEM = 'workspace';
export const SECTOR_BYTES = 4096;
const MAX_PATH = 1024;

interface CStructure {
  pointer: WasmPointer;
  dispose(): void;
  [member: `$${string}`]: unknown;
}

/** Gives SQLite its file system, and takes every other one away. */
export function installFiles(lib: Sqlite3Static, files: WorkspaceFiles, directory: () => string): void {
  const { capi, wasm, vfs } = lib;
  const handles = new Map<number, { file: OpenContent; path: string | null; deletes: boolean }>();
  // The members of C's structures have names with a dollar sign, which the package's types leave out.
  const methods = new capi.sqlite3_io_methods() as unknown as CStructure;
  methods.$iVersion = 1;
  const system = new capi.sqlite3_vfs() as unknown as CStructure;
  const given = new capi.sqlite3_vfs(capi.sqlite3_vfs_find(null as unknown as string)) as unknown as CStructure;
  const { structInfo } = capi.sqlite3_file as unknown as { structInfo: { sizeof: number } };
  Object.assign(system, {
    $iVersion: 2,
    $szOsFile: structInfo.sizeof,
    $mxPathname: MAX_PATH,
    $xRandomness: given.$xRandomness,
    $xSleep: given.$xSleep,
    $xCurrentTime: given.$xCurrentTime,
    $xCurrentTimeInt64: given.$xCurrentTimeInt64,
  });
  const fileOf = (pointer: WasmPointer) => handles.get(Number(pointer));
  const guarded = (code: number, work: () => number): number => {
    try {
      return work();
    } catch {
      // The worker refused: SQLite says that reading or writing failed.
      return code;
    }
  };
  const { SQLITE_OK: OK } = capi;
  const pathOf = (name: WasmPointer) => (name ? normalizePath(wasm.cstrToJs(name) ?? '', '/') : null);
  const io = {
    xClose(pointer: WasmPointer) {
      const handle = fileOf(pointer);
      handles.delete(Number(pointer));
      if (handle === undefined) return OK;
      handle.file.handles -= 1;
      handle.file.locks.delete(Number(pointer));
      if (handle.deletes && handle.path !== null) files.remove(handle.path);
      return OK;
    },
    xRead(pointer: WasmPointer, target: WasmPointer, count: number, offset: bigint) {
      const file = fileOf(pointer)?.file;
      if (file === undefined) return capi.SQLITE_IOERR_READ;
      const part = file.content.subarray(Number(offset), Number(offset) + count);
      wasm.heap8u().set(part, Number(target));
      if (part.byteLength === count) return OK;
      wasm.heap8u().fill(0, Number(target) + part.byteLength, Number(target) + count);
      return capi.SQLITE_IOERR_SHORT_READ;
    },
    xWrite(pointer: WasmPointer, source: WasmPointer, count: number, offset: bigint) {
      const file = fileOf(pointer)?.file;
      if (file === undefined) return capi.SQLITE_IOERR_WRITE;
      const content = wasm.heap8u().subarray(Number(source), Number(source) + count);
      return files.write(file, content, Number(offset)) ? OK : capi.SQLITE_FULL;
    },
    xTruncate(pointer: WasmPointer, size: bigint) {
      const file = fileOf(pointer)?.file;
      if (file !== undefined) files.truncate(file, Number(size));
      return OK;
    },
    xSync: () => OK,
    xFileSize(pointer: WasmPointer, place: WasmPointer) {
      wasm.poke64(place, BigInt(fileOf(pointer)?.file.size ?? 0));
      return OK;
    },
    xLock(pointer: WasmPointer, level: number) {
      const file = fileOf(pointer)?.file;
      return file === undefined || files.lock(file, Number(pointer), level) ? OK : capi.SQLITE_BUSY;
    },
    xUnlock(pointer: WasmPointer, level: number) {
      const file = fileOf(pointer)?.file;
      if (file !== undefined) files.unlock(file, Number(pointer), level);
      return OK;
    },
    xCheckReservedLock(pointer: WasmPointer, place: WasmPointer) {
      const file = fileOf(pointer)?.file;
      wasm.poke32(place, file !== undefined && files.isReserved(file) ? 1 : 0);
      return OK;
    },
    xFileControl: () => capi.SQLITE_NOTFOUND,
    xSectorSize: () => SECTOR_BYTES,
    xDeviceCharacteristics: () => 0,
  };
  const calls = {
    xOpen(_: WasmPointer, name: WasmPointer, pointer: WasmPointer, flags: number, place: WasmPointer) {
      return guarded(capi.SQLITE_CANTOPEN, () => {
        const path = pathOf(name);
        const creates = (flags & capi.SQLITE_OPEN_CREATE) !== 0;
        const file = files.open(path, { creates, stores: (flags & capi.SQLITE_OPEN_MAIN_DB) !== 0 });
        if (file === null) return capi.SQLITE_CANTOPEN;
        file.handles += 1;
        handles.set(Number(pointer), { file, path, deletes: (flags & capi.SQLITE_OPEN_DELETEONCLOSE) !== 0 });
        const opened = new capi.sqlite3_file(pointer) as unknown as CStructure;
        opened.$pMethods = methods.pointer;
        opened.dispose();
        if (place) wasm.poke32(place, flags);
        return OK;
      });
    },
    xDelete(_: WasmPointer, name: WasmPointer) {
      return guarded(capi.SQLITE_IOERR_DELETE, () => {
        const path = pathOf(name);
        if (path !== null) files.remove(path);
        return OK;
      });
    },
    xAccess(_: WasmPointer, name: WasmPointer, _flags: number, place: WasmPointer) {
      return guarded(capi.SQLITE_IOERR_ACCESS, () => {
        const path = pathOf(name);
        wasm.poke32(place, path !== null && files.exists(path) ? 1 : 0);
        return OK;
      });
    },
    xFullPathname(_: WasmPointer, name: WasmPointer, size: number, place: WasmPointer) {
      const path = Buffer.from(`${normalizePath(wasm.cstrToJs(name) ?? '', directory())}\0`);
      if (path.byteLength > size) return capi.SQLITE_CANTOPEN;
      wasm.heap8u().set(path, Number(place));
      return OK;
    },
    xGetLastError: () => OK,
  };
  vfs.installVfs({
    io: { struct: methods, methods: io },
    vfs: { struct: system, methods: calls, name: FILE_SYSTEM, asDefault: true },
  } as unknown as Parameters<typeof vfs.installVfs>[0]);
  for (const name of capi.sqlite3_js_vfs_list()) {
    if (name === FILE_SYSTEM || name === 'memdb') continue;
    const other = capi.sqlite3_vfs_find(name);
    if (other) capi.sqlite3_vfs_unregister(other);
  }
}
